#if Server
    import Foundation
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseTesting
    import Testing

    /// Real players through the proxy make of a file what they make of it without, and a second play is free.
    ///
    /// Serialised: each test counts the requests at an origin it shares with the others.
    @Suite(.serialized) struct PlayerTests {
        @Test(arguments: MediaPlayer.allCases, MediaSample.allCases)
        func `a player decodes the same direct, cold and warm, and warm costs the origin nothing, inv06 inv13`(
            player: MediaPlayer, sample: MediaSample
        ) async throws {
            let library = try await MediaLibrary.shared()
            let url = library.server.url(sample.path)
            let direct = try await player.play(url)
            try await PlayStack.run { stack in
                let cold = try await player.play(try stack.address(url))
                #expect(cold == direct)
                await stack.waitUntilQuiet()
                let (requests, bytes) = (library.origin.requestCount, library.origin.bodyBytes)
                let warm = try await player.play(try stack.address(url))
                #expect(warm == direct)
                await stack.waitUntilQuiet()
                let further = library.origin.log.dropFirst(requests).map { $0.fields["Range"] ?? "all" }
                // How far ffprobe has read when it leaves depends on the moment; what it took before costs nothing.
                let slack: Int64 = player == .ffprobe ? 65_536 : 0
                #expect(library.origin.bodyBytes - bytes <= slack, "the warm play asked for \(further)")
                #expect(slack > 0 || further.isEmpty, "the warm play asked for \(further)")
            }
        }

        @Test(arguments: MediaSample.allCases)
        func `a seek near the end decodes the same on an empty and on a filled cache, inv06`(sample: MediaSample)
            async throws
        {
            let library = try await MediaLibrary.shared()
            let url = library.server.url(sample.path)
            let start = MediaLibrary.seconds - 3
            let direct = try await MediaPlayer.ffmpeg.play(url, from: start)
            try await PlayStack.run { stack in
                let address = try stack.address(url)
                #expect(try await MediaPlayer.ffmpeg.play(address, from: start) == direct)
                #expect(try await MediaPlayer.ffmpeg.play(address, from: start) == direct)
                let whole = try await MediaPlayer.curl.play(address)
                #expect(whole == Playback(Data(library.bytes(of: sample))))
                #expect(try await MediaPlayer.ffmpeg.play(address, from: start) == direct)
            }
        }

        @Test(arguments: ["0-0", "1-70000", "100000-", "-1", "-70000", "65535-65536"])
        func `curl gets the bytes of a range, cold and warm, inv09 bug29`(range: String) async throws {
            let library = try await MediaLibrary.shared()
            let url = library.server.url(MediaSample.mp3.path)
            try await PlayStack.run { stack in
                let directory = try WorkDirectory()
                let expected = try await curl(["-r", range, url], directory)
                #expect(!expected.isEmpty)
                for _ in 0..<2 {
                    #expect(try await curl(["-r", range, try stack.address(url)], directory) == expected)
                }
            }
        }

        @Test func `curl goes on where a download was cut off`() async throws {
            let library = try await MediaLibrary.shared()
            let sample = MediaSample.flac
            let url = library.server.url(sample.path)
            let bytes = Data(library.bytes(of: sample))
            try await PlayStack.run { stack in
                let directory = try WorkDirectory()
                for cut in [1, 32_768, bytes.count / 2, bytes.count - 1] {
                    let file = directory.path + "/part-\(cut)"
                    try bytes.prefix(cut).write(to: URL(fileURLWithPath: file))
                    let arguments = ["-C", "-", "-o", file, try stack.address(url)]
                    _ = try await curl(arguments, directory)
                    #expect(FileManager.default.contents(atPath: file) == bytes)
                }
            }
        }

        private func curl(_ arguments: [String], _ directory: WorkDirectory) async throws -> Data {
            let result = try await Command.run("curl", ["-sS", "--fail"] + arguments, in: directory.path)
            #expect(result.status == 0, "\(result.errors)")
            return result.output
        }
    }
#endif
