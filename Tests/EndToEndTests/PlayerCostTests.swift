#if Server
    import RepriseLoopbackOrigin
    import ReprisePlatform
    import RepriseTesting
    import Testing

    extension PlayerTests {
        /// What real players cost the origin with and without the cache. `REPRISE_PLAYER_TABLE=1` measures all rates and
        /// delays and prints the table of docs/constants.md; otherwise one rate is enough to hold the limit.
        @Suite(.serialized) struct PlayerCostTests {
            private struct Line {
                var rate: Int64
                var delay: Int64
                var name: String { rate >= 1_000_000 ? "\(rate / 1_000_000) MB/s" : "\(rate / 1000) kB/s" }
            }

            @Test func `a player costs the origin little more than the file, and nothing the second time, inv10`()
                async throws
            {
                let isTable = SystemCalls.environment("REPRISE_PLAYER_TABLE") != nil
                let rates: [Int64] = isTable ? [200_000, 2_000_000, 20_000_000] : [20_000_000]
                let delays: [Int64] = isTable ? [5, 80] : [5]
                if isTable {
                    print(
                        "| player | file | rate | delay | direct ÷ file | cached ÷ file | requests direct | requests cached |"
                    )
                    print("|---|---|---|---|---|---|---|---|")
                }
                for sample in [MediaSample.mp3, .ogg, .mp4IndexLast, .mp4Fragmented] {
                    for player in [MediaPlayer.ffmpeg, .mpv] {
                        for rate in rates {
                            for delay in delays {
                                try await measure(player, sample, Line(rate: rate, delay: delay), prints: isTable)
                            }
                        }
                    }
                }
            }

            private func measure(_ player: MediaPlayer, _ sample: MediaSample, _ line: Line, prints: Bool) async throws
            {
                let bytes = try await MediaLibrary.shared().bytes(of: sample)
                let origin = ScriptedOrigin()
                var behaviour = OriginBehaviour()
                behaviour.contentType = sample.contentType
                behaviour.bytesPerSecond = line.rate
                behaviour.firstByteDelay = line.delay * 1_000_000
                origin.put(.init(literal: bytes, behaviour), at: sample.path)
                let server = try await LoopbackOrigin.start(origin)
                let url = server.url(sample.path)
                _ = try await player.play(url)
                let direct = (bytes: origin.bodyBytes, requests: origin.requestCount)
                origin.resetLog()
                try await PlayStack.run { stack in
                    _ = try await player.play(try stack.address(url))
                    await stack.waitUntilQuiet()
                }
                let ratio = Double(origin.bodyBytes) / Double(bytes.count)
                #expect(ratio <= 1.1, "\(player) \(sample) at \(line.name), \(line.delay) ms")
                if prints {
                    print(
                        "| \(player) | \(sample.rawValue) | \(line.name) | \(line.delay) ms | "
                            + "\(hundredths(Double(direct.bytes) / Double(bytes.count))) | \(hundredths(ratio)) | "
                            + "\(direct.requests) | \(origin.requestCount) |")
                }
                await server.stop()
            }

            private func hundredths(_ value: Double) -> String {
                let number = Int((value * 100).rounded())
                return "\(number / 100)." + "\(100 + number % 100)".dropFirst()
            }
        }
    }
#endif
