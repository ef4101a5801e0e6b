#if Server
    import Foundation
    import RepriseHTTP
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseProxy
    import RepriseRanges
    import RepriseTesting
    import Testing

    extension PlayerTests {
        /// What was fetched ahead is enough for a player to begin, and little more than it would have taken.
        ///
        /// The samples last a minute, so that the first seconds are not all there is.
        @Suite(.serialized) struct HeadTests {
            private static let samples: [MediaSample] = [.mp4IndexLast, .mp4IndexFirst, .mp3, .flac, .webm, .ogg]
            private static let made = Task { try await MediaLibrary.make(seconds: 60, samples) }

            /// Opens `url` with both programs, the second of which plays five seconds.
            private func open(_ url: String) async throws {
                let directory = try WorkDirectory()
                for (program, arguments) in [
                    ("ffprobe", ["-v", "error", "-show_format", "-show_streams", url]),
                    ("ffmpeg", ["-nostdin", "-v", "error", "-i", url, "-t", "5", "-f", "null", "-"]),
                ] {
                    let result = try await Command.run(program, arguments, in: directory.path)
                    #expect(result.status == 0 && result.errors.isEmpty, "\(program): \(result.errors)")
                }
            }

            @Test(arguments: samples)
            func `a file whose head was fetched ahead opens and plays its first seconds without the origin, inv13`(
                sample: MediaSample
            ) async throws {
                let library = try await Self.made.value
                let url = library.server.url(sample.path)
                let trace = try await trace(of: url)
                library.origin.resetLog()
                try await PlayStack.run { stack in
                    let prefetch = try stack.cache.prefetch(URL(string: url)!, .head)
                    try await prefetch.value
                    await stack.waitUntilQuiet()
                    #expect(prefetch.progress.isComplete)
                    let fetched = library.origin.bodyBytes
                    // Besides what the player reads: what its socket takes meanwhile, and what ours holds for it.
                    let allowed = trace + 256 * 1024 + Int64(ProxyConfiguration().unsentLimit)
                    #expect(fetched <= allowed, "\(fetched) bytes fetched ahead where a player reads \(trace)")
                    // Requests are not counted: what a socket takes past the player's five seconds may be asked for,
                    // and how much that is depends on the machine. Nothing can be asked of an origin that is gone.
                    library.origin.setDown(true)
                    let outcome = await Outcome { try await open(try stack.address(url)) }
                    library.origin.setDown(false)
                    try outcome.get()
                    await stack.waitUntilQuiet()
                }
            }

            /// Bytes the player reads by its own account, which is more than ffprobe does.
            private func trace(of url: String) async throws -> Int64 {
                let directory = try WorkDirectory()
                let result = try await Command.run(
                    "ffmpeg", ["-nostdin", "-v", "verbose", "-i", url, "-t", "5", "-f", "null", "-"],
                    in: directory.path)
                let words = result.errors.split(whereSeparator: \.isWhitespace)
                let place = try #require(words.lastIndex(of: "Statistics:"))
                return try #require(Int64(words[place + 1]))
            }
        }
    }
#endif
