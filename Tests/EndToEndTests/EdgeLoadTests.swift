#if Server
    import Foundation
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseTesting
    import Testing

    /// Many clients of a shared cache that want different things.
    @Suite(.serialized) struct EdgeLoadTests {
        @Test func `twenty films that are played as they come do not wait for each other`() async throws {
            let origin = ScriptedOrigin()
            let paths = (1...20).map { "/film-\($0).mp4" }
            var behaviour = OriginBehaviour()
            behaviour.body = .stall(at: 70_000)
            for path in paths { origin.put(.init(PositionCodedContent(length: 10_000_000), behaviour), at: path) }
            let upstream = try await LoopbackOrigin.start(origin)
            let directory = try WorkDirectory()
            let server = try Program.Server(
                directory: directory.path + "/store", arguments: ["--origin", upstream.url(""), "--threads", "1"])
            let outcome = await Outcome {
                try await withThrowingTaskGroup(of: Void.self) { players in
                    for path in paths {
                        let address = "http://127.0.0.1:\(server.port)\(path)"
                        players.addTask {
                            // It is left alone in the middle; what it got does not matter.
                            _ = try await Command.run(
                                "curl", ["-s", "-m", "30", "-o", "/dev/null", address], in: directory.path)
                        }
                    }
                    _ = await eventually { origin.requestCount >= paths.count }
                    let asked = origin.log.prefix(paths.count).map(\.path)
                    #expect(Set(asked) == Set(paths), "some were asked for twice before others once")
                    server.stop()
                    try await players.waitForAll()
                }
            }
            server.stop()
            await upstream.stop()
            try outcome.get()
        }
    }
#endif
