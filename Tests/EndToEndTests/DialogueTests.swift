#if Server
    import Foundation
    import RepriseLoopbackOrigin
    import RepriseProxy
    import RepriseTesting
    import Testing

    /// Dialogues byte for byte, held by another HTTP implementation's test client: `Dialogues/*.vtc`.
    @Suite struct DialogueTests {
        @Test(arguments: ["conditions", "framing", "odd", "parts", "ranges"])
        func `a dialogue goes as written, cold and warm`(name: String) async throws {
            let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("Dialogues/\(name).vtc").path
            let origin = ScriptedOrigin()
            var behaviour = OriginBehaviour()
            behaviour.contentType = "audio/mpeg"
            let bytes = (0..<256).flatMap { _ in Array("0123456789abcdef".utf8) }
            origin.put(.init(literal: bytes, behaviour), at: "/a.mp3")
            let server = try await LoopbackOrigin.start(origin)
            let result: Result<Void, any Error>
            do {
                let directory = try WorkDirectory()
                try await PlayStack.run(proxy: { $0.token = nil }) { stack in
                    let address = try #require(URLComponents(string: try stack.address(server.url("/a.mp3"))))
                    for _ in 0..<2 {
                        let played = try await Command.run(
                            "varnishtest",
                            [
                                "-t", "30", "-D", "port=\(stack.proxy.port)", "-D", "target=\(address.path)", file,
                            ], in: directory.path)
                        #expect(played.status == 0, "\(String(decoding: played.output, as: UTF8.self))")
                    }
                }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await server.stop()
            try result.get()
        }
    }
#endif
