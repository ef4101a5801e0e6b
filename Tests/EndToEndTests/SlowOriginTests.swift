#if Server
    import RepriseLoopbackOrigin
    import RepriseRanges
    import RepriseTesting
    import Testing

    extension PlayerTests {
        /// A slow line: what players jump to must not wait for what they jumped over.
        ///
        /// Inside the other suite, so that the two do not play from the shared origin at the same time.
        @Suite(.serialized) struct SlowOriginTests {
            private static let rate: Int64 = 200_000

            @Test(arguments: [MediaSample.wav, .mp4IndexFirst])
            func `a seek into the tail starts before the head has come, inv12`(sample: MediaSample) async throws {
                let library = try await MediaLibrary.shared()
                let start = MediaLibrary.seconds - 2
                let direct = try await MediaPlayer.ffmpeg.play(library.server.url(sample.path), from: start)
                try await withSlowCopy(of: sample) { origin, url, length in
                    try await PlayStack.run { stack in
                        let played = try await MediaPlayer.ffmpeg.play(try stack.address(url), from: start)
                        #expect(played == direct)
                        // Judged by what was asked and sent, not by the clock.
                        let ranges = origin.log.compactMap(\.range)
                        #expect(ranges.contains { $0.lowerBound > length / 2 }, "asked for \(ranges)")
                        #expect(origin.bodyBytes < length * 2 / 3, "\(origin.bodyBytes) of \(length) bytes were sent")
                    }
                }
            }

            @Test func `an index at the end is asked for while the head is still coming, inv12`() async throws {
                try await withSlowCopy(of: .mp4IndexLast) { origin, url, length in
                    let directory = try WorkDirectory()
                    try await PlayStack.run { stack in
                        _ = try await Command.run(
                            "ffprobe", ["-v", "error", "-show_entries", "format=duration", try stack.address(url)],
                            in: directory.path)
                        let ranges = origin.log.compactMap(\.range)
                        #expect(
                            ranges.contains { $0.upperBound == length && $0.lowerBound > length / 2 },
                            "asked for \(ranges)")
                        #expect(origin.bodyBytes < length * 2 / 3, "\(origin.bodyBytes) of \(length) bytes were sent")
                    }
                }
            }

            private func withSlowCopy(
                of sample: MediaSample, _ body: (ScriptedOrigin, String, Int64) async throws -> Void
            ) async throws {
                let bytes = try await MediaLibrary.shared().bytes(of: sample)
                let origin = ScriptedOrigin()
                var behaviour = OriginBehaviour()
                behaviour.contentType = sample.contentType
                behaviour.bytesPerSecond = SlowOriginTests.rate
                origin.put(.init(literal: bytes, behaviour), at: sample.path)
                let server = try await LoopbackOrigin.start(origin)
                let result: Result<Void, any Error>
                do {
                    try await body(origin, server.url(sample.path), Int64(bytes.count))
                    result = .success(())
                } catch {
                    result = .failure(error)
                }
                await server.stop()
                try result.get()
            }
        }
    }
#endif
