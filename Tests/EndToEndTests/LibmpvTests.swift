#if Server
    import Foundation
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseTesting
    import Testing

    /// `Examples/mpv`: libmpv on a `CacheReader`, through stream callbacks and without HTTP between.
    @Suite(.serialized, .timeLimit(.minutes(1))) struct LibmpvTests {
        @Test(arguments: [MediaSample.mp3, .mp4IndexLast])
        func `libmpv decodes from the cache what mpv does from the origin, and a second play asks for nothing, inv13`(
            sample: MediaSample
        ) async throws {
            let bytes = try await MediaLibrary.shared().bytes(of: sample)
            try await withOrigin(sample, bytes) { origin, url in
                let direct = try await MediaPlayer.mpv.play(url)
                origin.resetLog()
                let directory = try WorkDirectory()
                let cold = try await LibmpvExample.play(url, in: directory)
                #expect(cold.sound == direct)
                #expect(cold.printed.hasPrefix("position 0 of \(MediaLibrary.seconds) s"))
                #expect(cold.printed.contains("; stored: ") && !cold.printed.contains("; stored: 0 bytes"))
                #expect(Double(origin.bodyBytes) <= 1.1 * Double(bytes.count))
                let requests = origin.requestCount
                #expect(requests > 0)
                let warm = try await LibmpvExample.play(url, in: directory)
                #expect(warm.sound == direct)
                #expect(warm.printed.contains("from the origin: 0 bytes in 0 requests"), "\(warm.printed)")
                #expect(origin.requestCount == requests)
            }
        }

        @Test func `a seek plays the tail, and what was jumped over is not fetched, inv12`() async throws {
            let sample = MediaSample.wav
            let bytes = try await MediaLibrary.shared().bytes(of: sample)
            try await withOrigin(sample, bytes, { $0.bytesPerSecond = 200_000 }) { origin, url in
                let directory = try WorkDirectory()
                let start = ["--set", "start=\(MediaLibrary.seconds - 2)"]
                let played = try await LibmpvExample.play(url, start, in: directory)
                #expect(played.sound.size < 3 * bytes.count / MediaLibrary.seconds)
                // Two seconds of twelve, and what mpv looks at before it seeks.
                #expect(origin.bodyBytes < Int64(bytes.count * 2 / 3), "\(origin.bodyBytes) of \(bytes.count)")
                let again = try await LibmpvExample.play(url, start, in: directory)
                #expect(again.sound == played.sound)
            }
        }

        @Test func `who stops while the origin says nothing more does not wait for it, inv26`() async throws {
            let sample = MediaSample.wav
            let bytes = try await MediaLibrary.shared().bytes(of: sample)
            let stall = bytes.count / 2
            try await withOrigin(sample, bytes, { $0.body = .stall(at: Int64(stall)) }) { origin, url in
                let directory = try WorkDirectory()
                let running = try LibmpvExample.start(url, in: directory)
                // It has played part of what came, and so comes to the place where nothing does.
                let heard = running.heard
                #expect(await eventually { heard.size > stall / 2 && origin.bodyBytes >= Int64(stall) })
                running.interrupt()
                // The engine itself gives the origin up after 20 seconds, and would be told of as an error.
                #expect(await running.status() == 130, "\(running.errors.text)")
                #expect(running.errors.text.isEmpty, "\(running.errors.text)")
            }
        }

        @Test func `an origin that does not tell the length plays, with no size`() async throws {
            let bytes = try await MediaLibrary.shared().bytes(of: .mp3)
            try await withOrigin(
                .mp3, bytes,
                {
                    $0.framing = .chunked
                    $0.ranges = .ignored
                }
            ) { _, url in
                let played = try await LibmpvExample.play(url, in: try WorkDirectory())
                #expect(played.sound.size > 1_000_000)
            }
        }

        @Test func `what the origin does not have is an error, told by the status`() async throws {
            try await withOrigin(.mp3, []) { _, url in
                let running = try LibmpvExample.start(url + ".not-there", in: try WorkDirectory())
                #expect(await running.status() == 1)
                #expect(running.errors.text.contains("mpv-player: "))
            }
        }

        private func withOrigin(
            _ sample: MediaSample, _ bytes: [UInt8], _ change: (inout OriginBehaviour) -> Void = { _ in },
            _ body: (ScriptedOrigin, String) async throws -> Void
        ) async throws {
            let origin = ScriptedOrigin()
            var behaviour = OriginBehaviour()
            behaviour.contentType = sample.contentType
            change(&behaviour)
            origin.put(.init(literal: bytes, behaviour), at: sample.path)
            let server = try await LoopbackOrigin.start(origin)
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(origin, server.url(sample.path)))
            } catch {
                result = .failure(error)
            }
            await server.stop()
            try result.get()
        }
    }
#endif
