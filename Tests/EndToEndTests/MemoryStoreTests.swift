#if Server
    import Foundation
    import RepriseLoopbackOrigin
    import RepriseTesting
    import Testing

    /// `reprise serve --memory`.
    @Suite(.serialized) struct MemoryStoreTests {
        private static let length: Int64 = 1_000_000

        private struct Place {
            let upstream: LoopbackOrigin
            let directory: WorkDirectory
            var store: String { directory.path + "/store" }

            func serve(_ memory: String, _ more: [String] = []) throws -> Program.Server {
                try Program.Server(directory: store, arguments: ["--memory", memory] + more)
            }

            func play(_ name: String, by server: Program.Server, _ more: [String] = []) async throws {
                let url = upstream.url(name).replacing("http://", with: "http/")
                let played = try await Command.run(
                    "curl", ["-sS", "-f"] + more + ["http://127.0.0.1:\(server.port)/\(url)"], in: directory.path)
                #expect(played.status == 0, "\(played.errors)")
                #expect(Int64(played.output.count) == MemoryStoreTests.length)
                #expect(PositionCodedContent(length: length).firstMismatch(played.output, at: 0) == nil)
            }

            func run(_ arguments: String...) throws -> Program.Finished {
                try Program.run([arguments[0], "-d", store] + arguments.dropFirst())
            }

            /// Names of all that is in the directory.
            var files: [String] {
                FileManager.default.enumerator(atPath: store)?.compactMap { $0 as? String } ?? []
            }
        }

        private func withPlace(_ body: (Place) async throws -> Void) async throws {
            let origin = ScriptedOrigin()
            for number in 0..<40 { origin.put(.init(PositionCodedContent(length: Self.length)), at: "/\(number).mp3") }
            let upstream = try await LoopbackOrigin.start(origin)
            let place = Place(upstream: upstream, directory: try WorkDirectory())
            let outcome = await Outcome { try await body(place) }
            await upstream.stop()
            try outcome.get()
        }

        @Test func `media is fetched once, on no disk, and gone with the server`() async throws {
            try await withPlace { place in
                var server = try place.serve("64MB")
                for _ in 0..<3 { try await place.play("/0.mp3", by: server) }
                #expect(place.upstream.origin.bodyBytes == Self.length)
                let files = place.files
                #expect(Set(files) == ["lock", "control", "control.socket"], "\(files)")
                #expect(server.stop() == 0)
                server = try place.serve("64MB")
                #expect(try place.run("ls").text == "nothing is stored in the server's memory\n")
                try await place.play("/0.mp3", by: server)
                #expect(place.upstream.origin.bodyBytes == 2 * Self.length)
                #expect(server.stop() == 0)
            }
        }

        @Test func `the commands ask the server, and those that read files say that they cannot`() async throws {
            try await withPlace { place in
                let server = try place.serve("64MB")
                try await place.play("/0.mp3", by: server)
                let url = place.upstream.url("/0.mp3")
                #expect(try place.run("ls").text.contains(url))
                #expect(try place.run("ls", "--json").text.contains("\"isComplete\":true"))
                let stats = try place.run("stats")
                #expect(stats.text.contains("entries     1, 1 complete, 0 pinned"), "\(stats.text)")
                #expect(try place.run("pin", url).status == 0)
                #expect(try place.run("stats").text.contains("1 complete, 1 pinned"))
                #expect(try place.run("fetch", "-q", place.upstream.url("/1.mp3")).status == 0)
                #expect(try place.run("repair").status == 0)
                #expect(try place.run("rm", url).status == 0)
                #expect(try !place.run("ls").text.contains(url))
                for command in [["du"], ["show", url], ["verify"], ["export", url, place.directory.path + "/copy"]] {
                    let refused = try Program.run([command[0], "-d", place.store] + command.dropFirst())
                    #expect(refused.status == 75)
                    #expect(refused.errors.contains("has its store in memory, which this command cannot read"))
                }
                #expect(server.stop() == 0)
                // Without a server the directory's own store counts again.
                let list = try place.run("ls")
                #expect(list.status == 74 && list.errors == "reprise: there is no store in \(place.store)\n")
            }
        }

        @Test func `what was used longest ago goes, and the server's memory stays within what was said`() async throws {
            try await withPlace { place in
                let server = try place.serve("8MB")
                for number in 0..<10 { try await place.play("/\(number).mp3", by: server) }
                let before = ProcessUsage.ownMemory(of: "\(server.processIdentifier)")
                for number in 10..<40 { try await place.play("/\(number).mp3", by: server) }
                if let before, let after = ProcessUsage.ownMemory(of: "\(server.processIdentifier)") {
                    #expect(after - before < 16 << 20, "thirty megabytes passed")
                }
                #expect(try place.run("gc").status == 0)
                let list = try place.run("ls").text
                #expect(list.contains("/39.mp3") && !list.contains("/0.mp3"), "\(list)")
                #expect((2...7).contains(list.split(separator: "\n").count), "\(list)")
                #expect(place.upstream.origin.bodyBytes == 40 * Self.length)
                #expect(server.stop() == 0)
            }
        }

        @Test func `a setting keeps other commands from the disk, too`() async throws {
            try await withPlace { place in
                let url = place.upstream.url("/0.mp3")
                let environment = ["REPRISE_MEMORY": "64MB"]
                func run(_ arguments: [String]) throws -> Program.Finished {
                    try Program.run(
                        [arguments[0], "-d", place.store] + arguments.dropFirst(), environment: environment)
                }
                let got = try run(["get", url])
                #expect(got.status == 0 && Int64(got.bytes.count) == Self.length, "\(got.errors)")
                #expect(place.files.isEmpty)
                for command in [["fetch", url], ["pin", url], ["import", "/etc/hostname", url]] {
                    let refused = try run(command)
                    #expect(refused.status == 69)
                    #expect(refused.errors.contains("no server runs in whose memory it is"), "\(refused.errors)")
                }
                #expect(place.files == ["lock"])
                let server = try Program.Server(directory: place.store, environment: environment)
                #expect(try run(["fetch", "-q", url]).status == 0)
                #expect(try place.run("ls").text.contains(url))
                #expect(server.stop() == 0)
            }
        }

        @Test func `a killed server's control file misleads no command, and a sealed directory serves as well`()
            async throws
        {
            try await withPlace { place in
                let key = ["REPRISE_KEY": String(repeating: "ab", count: 32)]
                let url = place.upstream.url("/0.mp3")
                #expect(try Program.run(["fetch", "-q", "-d", place.store, url], environment: key).status == 0)
                let server = try place.serve("8MB")
                try await place.play("/1.mp3", by: server)
                kill(server.processIdentifier, SIGKILL)
                server.waitUntilExit()
                let list = try Program.run(["ls", "-d", place.store], environment: key)
                #expect(list.text.contains("/0.mp3") && !list.text.contains("/1.mp3"), "\(list.text) \(list.errors)")
            }
        }

        @Test func `a size that is none, and a key, are refused with what is expected`() async throws {
            for size in ["0", "much", "none", "100KB"] {
                let refused = try Program.run(["serve", "--show-settings", "--memory", size])
                #expect(refused.status == 64)
                #expect(
                    refused.errors.contains("--memory") && refused.errors.contains("expected a size of at least 1MiB"))
            }
            let refused = try Program.run(
                ["serve", "--port", "0", "--memory", "8MB"],
                environment: ["REPRISE_KEY": String(repeating: "ab", count: 32)])
            #expect(refused.status == 64)
            #expect(refused.errors.contains("--memory cannot be combined with a key"))
        }
    }
#endif
