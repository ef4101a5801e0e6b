#if Server
    import Foundation
    import RepriseLoopbackOrigin
    import ReprisePlatform
    import RepriseTesting
    import Testing

    /// `reprise serve` within limits, and on volumes that end.
    @Suite(.serialized) struct QuotaTests {
        private struct Row: Decodable {
            var allocated: Int64
            var key: String
        }

        /// What `reprise du` counts.
        private func used(_ store: String) throws -> (bytes: Int64, entries: Int) {
            let found = try Program.run(["du", "--json", "--directory", store])
            #expect(found.status == 0, "\(found.errors)")
            let rows = try found.text.split(separator: "\n").map {
                try JSONDecoder().decode(Row.self, from: Data($0.utf8))
            }
            return (rows.reduce(0) { $0 + $1.allocated }, rows.count)
        }

        private func play(_ address: String, _ directory: WorkDirectory, _ more: [String] = []) async throws -> Data {
            let played = try await Command.run("curl", ["-sS", "-f"] + more + [address], in: directory.path)
            #expect(played.status == 0, "\(played.errors)")
            return played.output
        }

        private func waitForQuiet(_ store: String, atMost limit: Int64) async throws -> Int64 {
            var bytes: Int64 = .max
            for _ in 0..<300 where bytes > limit {
                bytes = try used(store).bytes
                if bytes > limit { _ = await eventually(within: .milliseconds(100)) { false } }
            }
            return bytes
        }

        @Test func `the store of a server stays within its limit, and gc and du tell of it, inv21 bug15`() async throws
        {
            let origin = ScriptedOrigin()
            for number in 0..<12 {
                origin.put(.init(PositionCodedContent(length: 1_000_000)), at: "/\(number).mp3")
            }
            let upstream = try await LoopbackOrigin.start(origin)
            let directory = try WorkDirectory()
            let store = directory.path + "/store"
            let server = try Program.Server(directory: store, arguments: ["--limit", "5MB"])
            let outcome = await Outcome {
                for number in 0..<12 {
                    let url = upstream.url("/\(number).mp3").replacing("http://", with: "http/")
                    let bytes = try await play("http://127.0.0.1:\(server.port)/\(url)", directory)
                    #expect(PositionCodedContent(length: 1_000_000).firstMismatch(bytes, at: 0) == nil)
                }
                let swept = try Program.run(["gc", "--json", "--directory", store])
                #expect(swept.status == 0, "\(swept.errors)")
                #expect(swept.text.contains("\"limit\":5000000"))
                let used = try used(store)
                #expect(used.bytes <= 5_000_000)
                #expect(used.entries >= 2)
            }
            server.stop()
            await upstream.stop()
            try outcome.get()
        }

        @Test(arguments: [
            ["--limit", "0"], ["--limit", "much"], ["--max-age", "90"], ["--min-free", "0MB"],
        ])
        func `a limit of nothing is refused with what is expected`(arguments: [String]) throws {
            let refused = try Program.run(["serve", "--show-settings"] + arguments)
            #expect(refused.status == 64)
            #expect(refused.errors.contains(arguments[0]) && refused.errors.contains("expected"))
        }

        /// So many MiB of sound that real decoders take, or the 2 GiB the project promises.
        private static let filmSize = (SystemCalls.environment("REPRISE_FILM_MIB").flatMap { Int64($0) } ?? 160) << 20

        /// Raw sound: stereo, 16 bits, 48 kHz, position-coded.
        private static let film = PositionCodedContent(length: filmSize, signature: [])

        @Test
        func
            `a film ten times the quota, to a slow and a fast client at once, decodes as from the origin, inv21 inv27`()
            async throws
        {
            let origin = ScriptedOrigin()
            var behaviour = OriginBehaviour()
            behaviour.contentType = "audio/L16"
            origin.put(.init(Self.film, behaviour), at: "/film.pcm")
            let upstream = try await LoopbackOrigin.start(origin)
            let directory = try WorkDirectory()
            let store = directory.path + "/store"
            let limit = Self.filmSize / 10
            let server = try Program.Server(directory: store, arguments: ["--limit", "\(limit)"])
            let outcome = await Outcome {
                let direct = upstream.url("/film.pcm")
                let address = "http://127.0.0.1:\(server.port)/" + direct.replacing("http://", with: "http/")
                func decode(_ url: String, _ seek: [String] = []) async throws -> String {
                    let decoded = try await Command.run(
                        "ffmpeg",
                        ["-v", "error", "-nostdin"] + ["-f", "s16le", "-ar", "48000", "-ac", "2"] + seek + [
                            "-i", url, "-f", "md5", "-",
                        ],
                        in: directory.path)
                    #expect(decoded.status == 0 && decoded.errors.isEmpty, "\(decoded.errors)")
                    return String(decoding: decoded.output, as: UTF8.self)
                }
                async let slow = Command.run(
                    "curl", ["-sS", "-f", "--limit-rate", "\(Self.filmSize / 12)", address], in: directory.path)
                let fast = try await decode(address)
                #expect(try await waitForQuiet(store, atMost: limit) <= limit)
                let seek = ["-ss", "\(Self.filmSize / 192_000 / 4)", "-t", "20"]
                let sought = try await decode(address, seek)
                let whole = try await slow
                #expect(whole.status == 0, "\(whole.errors)")
                #expect(Int64(whole.output.count) == Self.film.length)
                #expect(Self.film.firstMismatch(whole.output, at: 0) == nil)
                #expect(try await decode(direct) == fast)
                #expect(try await decode(direct, seek) == sought)
                #expect(try used(store).bytes <= limit)
            }
            server.stop()
            await upstream.stop()
            try outcome.get()
        }

        @Test
        func `a volume of 4 MiB fills up and gets room again: playback never stops and storing goes on, inv22 bug17`()
            async throws
        {
            try await Volume.use("size=4m,mode=700") { volume, directory in
                let length: Int64 = 16_000_000
                let origin = ScriptedOrigin()
                var behaviour = OriginBehaviour()
                // No more comes until there is room, however late that is.
                behaviour.body = .stall(at: 10_000_000)
                origin.put(.init(PositionCodedContent(length: length), behaviour), at: "/a.mp3")
                let upstream = try await LoopbackOrigin.start(origin)
                let server = try Program.Server(directory: volume, arguments: ["--min-free", "none"])
                let outcome = await Outcome {
                    let url = upstream.url("/a.mp3").replacing("http://", with: "http/")
                    let address = "http://127.0.0.1:\(server.port)/\(url)"
                    async let played = play(address, directory)
                    #expect(await eventually { origin.bodyBytes > length / 2 }, "nobody plays on")
                    let grown = try Program.run("/bin/mount", ["-o", "remount,size=64m", volume])
                    #expect(grown.status == 0, "\(grown.errors)")
                    // Slower than the pause after which storing is tried again.
                    origin.change("/a.mp3") { ($0.behaviour.body, $0.behaviour.bytesPerSecond) = (.none, 2_000_000) }
                    upstream.disconnect()
                    let bytes = try await played
                    #expect(Int64(bytes.count) == length)
                    #expect(PositionCodedContent(length: length).firstMismatch(bytes, at: 0) == nil)
                    origin.change("/a.mp3") { $0.behaviour.bytesPerSecond = 0 }
                    let requests = origin.bodyBytes
                    let again = try await play(address, directory)
                    #expect(again == bytes)
                    #expect(origin.bodyBytes - requests < length - 4_000_000, "what came after there was room was kept")
                    await upstream.stop()
                    let offline = try await play(address, directory)
                    #expect(offline == bytes)
                }
                server.stop()
                await upstream.stop()
                try outcome.get()
            }
        }
    }
#endif
