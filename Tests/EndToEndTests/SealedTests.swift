#if Server
    import Foundation
    import RepriseLoopbackOrigin
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// `reprise serve --key-file`, to its users and to whoever looks at its directory.
    @Suite struct SealedTests {
        private static let length: Int64 = 1_500_000

        @Test func `a sealed store plays without the origin, only with its key, and shows nothing to who looks`()
            async throws
        {
            let origin = ScriptedOrigin()
            let content = PositionCodedContent(length: Self.length)
            origin.put(.init(content), at: "/secret-film.mp3")
            let upstream = try await LoopbackOrigin.start(origin)
            let directory = try WorkDirectory()
            let store = directory.path + "/store"
            let key = directory.path + "/key"
            let other = directory.path + "/other"
            let outcome = await Outcome {
                for (file, digit) in [(key, "a1"), (other, "b2")] {
                    try Data(String(repeating: digit, count: 32).utf8).write(to: URL(fileURLWithPath: file))
                    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
                }
                let url = upstream.url("/secret-film.mp3")
                try await play(store, key, url, directory, content)
                await upstream.stop()
                try await play(store, key, url, directory, content)
                for arguments in [["--key-file", other], []] {
                    let refused = try Program.run(["ls", "--directory", store] + arguments)
                    #expect(refused.status == 74, "\(refused.errors)")
                    #expect(refused.errors.contains("key"))
                }
                let resealed = try Program.run(
                    ["reseal", "--directory", store, "--key-file", key, "--new-key-file", other])
                #expect(resealed.status == 0, "\(resealed.errors)")
                try await play(store, other, url, directory, content)
                try search(store, for: [Array("secret-film".utf8), content.bytes(in: .init(40_000, 40_064))])
            }
            await upstream.stop()
            try outcome.get()
        }

        private func play(
            _ store: String, _ key: String, _ url: String, _ directory: WorkDirectory, _ content: PositionCodedContent
        ) async throws {
            let server = try Program.Server(directory: store, arguments: ["--key-file", key])
            let outcome = await Outcome {
                let address = "http://127.0.0.1:\(server.port)/" + url.replacing("http://", with: "http/")
                let played = try await Command.run("curl", ["-sS", "-f", address], in: directory.path)
                #expect(played.status == 0, "\(played.errors)")
                #expect(Int64(played.output.count) == Self.length)
                #expect(content.firstMismatch(played.output, at: 0) == nil)
            }
            server.stop()
            try outcome.get()
        }

        /// No file and no file's name under `root` has any of these bytes.
        private func search(_ root: String, for secrets: [[UInt8]]) throws {
            let files = try #require(FileManager.default.enumerator(atPath: root))
            var bytes = 0
            for case let name as String in files {
                #expect(!name.contains("secret"))
                guard let data = FileManager.default.contents(atPath: root + "/" + name) else { continue }
                bytes += data.count
                for secret in secrets { #expect(data.range(of: Data(secret)) == nil, "\(name)") }
            }
            #expect(bytes > Int(Self.length))
        }
    }
#endif
