#if Server
    import Foundation
    import RepriseLoopbackOrigin
    import RepriseTesting
    import Testing

    /// `reprise serve` where its store can be read and not written.
    @Suite(.serialized) struct ReadOnlyTests {
        private static let content = PositionCodedContent(length: 1_000_000)

        private func fetched(_ address: String, _ directory: WorkDirectory) async throws -> Data {
            let played = try await Command.run("curl", ["-sS", "-f", address], in: directory.path)
            #expect(played.status == 0, "\(played.errors)")
            return played.output
        }

        private func remount(_ volume: String, _ how: String) throws {
            let mounted = try Program.run("/bin/mount", ["-o", "remount,\(how)", volume])
            #expect(mounted.status == 0, "\(mounted.errors)")
        }

        @Test func `on a read-only volume everything plays, nothing is kept, and it is said once, inv22`() async throws
        {
            try await Volume.use("size=16m,mode=700") { volume, directory in
                let origin = ScriptedOrigin()
                origin.put(.init(Self.content), at: "/a.mp3")
                let upstream = try await LoopbackOrigin.start(origin)
                let url = upstream.url("/a.mp3").replacing("http://", with: "http/")
                let outcome = await Outcome {
                    let store = volume + "/store"
                    let first = try Program.Server(directory: store)
                    #expect(try await fetched("http://127.0.0.1:\(first.port)/\(url)", directory).count == 1_000_000)
                    first.stop()
                    let names = try FileManager.default.subpathsOfDirectory(atPath: volume).sorted()
                    let before = origin.bodyBytes
                    try remount(volume, "ro")

                    let errors = directory.path + "/errors"
                    let server = try Program.Server(directory: store, errors: errors)
                    let address = "http://127.0.0.1:\(server.port)"
                    for _ in 0..<2 {
                        let bytes = try await fetched("\(address)/\(url)", directory)
                        #expect(Int64(bytes.count) == Self.content.length)
                        #expect(Self.content.firstMismatch(bytes, at: 0) == nil)
                    }
                    #expect(origin.bodyBytes - before == 2 * Self.content.length, "all of it from the origin")
                    #expect(try await fetched(address + "/.reprise/health", directory) == Data("ok\n".utf8))
                    let stats = try Program.run(["stats", "--directory", store])
                    #expect(stats.status == 0 && stats.text.contains("not writable"), "\(stats.text)")
                    #expect(stats.text.contains("entries     1, 1 complete"), "\(stats.text)")
                    #expect(server.stop() == 0)
                    let said = try String(contentsOfFile: errors, encoding: .utf8)
                    #expect(said.components(separatedBy: "nothing is stored").count == 2, "\(said)")
                    #expect(said.contains(store) && said.contains("Read-only file system"), "\(said)")
                    #expect(try FileManager.default.subpathsOfDirectory(atPath: volume).sorted() == names)

                    try remount(volume, "rw")
                    let again = try Program.Server(directory: store)
                    let requests = origin.bodyBytes
                    #expect(try await fetched("http://127.0.0.1:\(again.port)/\(url)", directory).count == 1_000_000)
                    #expect(origin.bodyBytes == requests, "what was stored is found again")
                    again.stop()
                }
                await upstream.stop()
                try outcome.get()
            }
        }

        @Test func `what is wrong with a store is an error on a read-only volume, too`() async throws {
            try await Volume.use("size=16m,mode=700") { volume, directory in
                for (name, format) in [("newer", "reprise 99\n"), ("damaged", "nothing\n")] {
                    try FileManager.default.createDirectory(
                        atPath: "\(volume)/\(name)/entries", withIntermediateDirectories: true)
                    try format.write(toFile: "\(volume)/\(name)/format", atomically: false, encoding: .utf8)
                }
                let key = String(repeating: "7a", count: 32)
                let sealed = try Program.Server(directory: volume + "/sealed", environment: ["REPRISE_KEY": key])
                sealed.stop()
                try remount(volume, "ro")
                for name in ["newer", "damaged", "sealed", "nowhere"] {
                    let refused = try Program.run(["serve", "--port", "0", "--directory", "\(volume)/\(name)"])
                    #expect(refused.status == 74, "\(name): \(refused.errors)")
                }
            }
        }

        @Test func `a store that another server holds is still in use`() async throws {
            let directory = try WorkDirectory()
            let server = try Program.Server(directory: directory.path + "/store")
            let refused = try Program.run(["serve", "--port", "0", "--directory", directory.path + "/store"])
            #expect(refused.status == 75, "\(refused.errors)")
            server.stop()
        }
    }
#endif
