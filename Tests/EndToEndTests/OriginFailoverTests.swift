#if Server
    import Foundation
    import RepriseLoopbackOrigin
    import RepriseTesting
    import Testing

    /// `reprise serve` with several origins.
    @Suite(.serialized) struct OriginFailoverTests {
        private static let length: Int64 = 3_000_000

        private func makeOrigin(body: OriginBehaviour.BodyFault = .none) async throws -> LoopbackOrigin {
            let origin = ScriptedOrigin()
            var behaviour = OriginBehaviour()
            behaviour.extraFields["Cache-Control"] = "public, max-age=3600"
            behaviour.body = body
            origin.put(.init(PositionCodedContent(length: Self.length), behaviour), at: "/film.mp4")
            return try await LoopbackOrigin.start(origin)
        }

        @Test func `a play outlives the origin it began with, and metrics name the one that failed, inv18`()
            async throws
        {
            // It says no more at half: however slow this test is, the play is not over before the origin is gone.
            let first = try await makeOrigin(body: .stall(at: Self.length / 2))
            let second = try await makeOrigin()
            let directory = try WorkDirectory()
            let store = directory.path + "/store"
            let server = try Program.Server(
                directory: store, arguments: ["--origin", first.url(""), "--origin", second.url(""), "--threads", "1"])
            let outcome = await Outcome {
                let address = "http://127.0.0.1:\(server.port)/film.mp4"
                async let played = Command.run("curl", ["-sS", "-f", address], in: directory.path)
                let origin = first.origin
                #expect(await eventually { origin.bodyBytes > Self.length / 3 }, "nobody plays")
                await first.stop()
                let film = try await played
                #expect(film.status == 0, "\(film.errors)")
                #expect(Int64(film.output.count) == Self.length)
                let content = PositionCodedContent(length: Self.length)
                #expect(content.firstMismatch(film.output, at: 0) == nil)
                #expect(second.origin.bodyBytes < Self.length, "it went on where the first had stopped")
                // Both gone: what was played is there.
                await second.stop()
                let again = try await Command.run("curl", ["-sS", "-f", address], in: directory.path)
                #expect(again.output == film.output)
                let metrics = try await scrape(store, directory)
                #expect(metrics.contains("reprise_origin_failures_total{origin=\"http://127.0.0.1:\(first.port)\"}"))
                #expect(!metrics.contains("reprise_origin_failures_total{origin=\"http://127.0.0.1:\(second.port)\"}"))
            }
            server.stop()
            await first.stop()
            await second.stop()
            try outcome.get()
        }

        private func scrape(_ store: String, _ directory: WorkDirectory) async throws -> String {
            let control = try Data(contentsOf: URL(fileURLWithPath: store + "/control"))
            let fields = try #require(try JSONSerialization.jsonObject(with: control) as? [String: Any])
            let socket = try #require(fields["socket"] as? String)
            let secret = try #require(fields["secret"] as? String)
            let answer = try await Command.run(
                "curl", ["-s", "--unix-socket", socket, "-H", "Authorization: Bearer \(secret)", "http://x/metrics"],
                in: directory.path)
            return String(decoding: answer.output, as: UTF8.self)
        }
    }
#endif
