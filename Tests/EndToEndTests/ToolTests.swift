#if Server
    import Foundation
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// The program as a person runs it: output, files, exit codes.
    @Suite(.serialized) struct ToolTests {
        private static let length: Int64 = 400_003

        private func withOrigin(_ body: (LoopbackOrigin, String) async throws -> Void) async throws {
            let origin = ScriptedOrigin()
            origin.put(.init(PositionCodedContent(length: ToolTests.length)), at: "/song.mp3")
            let server = try await LoopbackOrigin.start(origin)
            let directory =
                FileManager.default.temporaryDirectory.path + "/reprise-tool-\(UInt64.random(in: 0 ... .max))"
            let result = await Outcome { try await body(server, directory) }
            await server.stop()
            try? FileManager.default.removeItem(atPath: directory)
            try result.get()
        }

        @Test func `get writes the whole, a range and a suffix, and asks the origin once`() async throws {
            try await withOrigin { server, directory in
                let url = server.url("/song.mp3")
                let content = PositionCodedContent(length: ToolTests.length)
                let file = directory + "-song"
                defer { try? FileManager.default.removeItem(atPath: file) }
                #expect(try Program.run(["get", url, "-d", directory, "-o", file]).status == 0)
                #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: file))) == content.bytes(in: .from(0)))
                #expect(!FileManager.default.fileExists(atPath: file + ".part"))
                let bytes = server.origin.bodyBytes
                #expect(bytes == ToolTests.length)
                let range = try Program.run(["get", url, "-d", directory, "--range", "100-299"])
                #expect(range.bytes == content.bytes(in: ByteRange(100, 300)))
                let tail = try Program.run(["get", url, "-d", directory, "--range=-50"])
                #expect(tail.bytes == content.bytes(in: ByteRange(ToolTests.length - 50, ToolTests.length)))
                #expect(server.origin.bodyBytes == bytes)
            }
        }

        @Test func `what an origin's URL holds steers no terminal and no log, and its query stays out of both`()
            async throws
        {
            try await withOrigin { server, directory in
                // An accent behind the question mark makes one character of both.
                let name = "/song.mp3\u{9B}31m\u{202E}", query = "?\u{301}signature=secret"
                // The client library escapes it, whatever stands in the URL.
                server.origin.put(.init(PositionCodedContent(length: 1000)), at: "/song.mp3%C2%9B31m%E2%80%AE")
                let errors = directory + "-log"
                defer { try? FileManager.default.removeItem(atPath: errors) }
                let serve = try Program.Server(
                    directory: directory, arguments: ["--log-level", "trace"], errors: errors)
                defer { serve.stop() }
                let url = "http://127.0.0.1:\(server.port)\(name)\(query)"
                let fetched = try Program.run(["fetch", url, "-d", directory])
                #expect(fetched.status == 0, "\(fetched.errors)")
                let list = try Program.run(["ls", "-d", directory])
                #expect(list.text.contains("\\u009b31m\\u202e"), "\(list.text.debugDescription)")
                #expect(!list.text.unicodeScalars.contains { ["\u{9B}", "\u{202E}"].contains($0) })
                let hasTold = await eventually {
                    (try? String(contentsOfFile: errors, encoding: .utf8))?.contains("\\u009b31m") == true
                }
                #expect(hasTold)
                let log = try String(contentsOfFile: errors, encoding: .utf8)
                #expect(!log.unicodeScalars.contains { ["\u{9B}", "\u{202E}"].contains($0) })
                #expect(!log.contains("secret"), "\(log)")
            }
        }

        @Test func `show draws what is stored and ls lists it, also while a server holds the store`() async throws {
            try await withOrigin { server, directory in
                let url = server.url("/song.mp3")
                #expect(try Program.run(["get", url, "-d", directory, "--range", "0-199999"]).status == 0)
                let serve = try Program.Server(directory: directory)
                let show = try Program.run(["show", url, "-d", directory])
                #expect(show.status == 0)
                #expect(show.text.contains("length      390.6 KiB (400003 bytes)"))
                #expect(show.text.contains("[####"))
                #expect(show.text.contains("....]"))
                let list = try Program.run(["ls", "-d", directory])
                #expect(list.status == 0)
                #expect(list.text.contains(url))
                serve.stop()
            }
        }

        @Test func `keys are as they are set, for every command, and a head is fetched ahead, bug21`() async throws {
            try await withOrigin { server, directory in
                let keys = ["-d", directory, "--key-strip", "session", "--same", "127.0.0.1:\(server.port),cdn.test"]
                func url(_ query: String) -> String { server.url("/song.mp3?" + query) }
                #expect(try Program.run(["fetch", "-q", "--seconds", "0", url("session=1&id=1")] + keys).status == 0)
                #expect(server.origin.bodyBytes > 0)
                #expect(try Program.run(["fetch", "-q", url("session=2&id=1")] + keys).status == 0)
                #expect(server.origin.bodyBytes == ToolTests.length)
                let got = try Program.run(["get", url("id=1&session=3")] + keys)
                #expect(Int64(got.bytes.count) == ToolTests.length)
                #expect(try Program.run(["show", "http://cdn.test/song.mp3?id=1&session=4"] + keys).status == 0)
                #expect(server.origin.bodyBytes == ToolTests.length)
                #expect(try Program.run(["show", url("id=2&session=4")] + keys).status == 69)
                #expect(try Program.run(["show", url("id=1&session=4"), "-d", directory]).status == 69)
                #expect(try Program.run(["fetch", "--head", "--seconds", "9", url("id=1")] + keys).status == 64)
                #expect(try Program.run(["fetch", url("id=1"), "-d", directory, "--same", "a"]).status == 64)
            }
        }

        @Test func `each kind of failure has its exit code and says what to do`() async throws {
            try await withOrigin { server, directory in
                let url = server.url("/song.mp3")
                #expect(try Program.run(["get", "ftp://x/y", "-d", directory]).status == 64)
                #expect(try Program.run(["get", url, "-d", directory, "--range", "5-2"]).status == 64)
                #expect(try Program.run(["get", "http://127.0.0.1:1/x", "-d", directory]).status == 69)
                #expect(try Program.run(["get", server.url("/missing"), "-d", directory]).status == 69)
                #expect(try Program.run(["show", "http://127.0.0.1:1/x", "-d", directory]).status == 69)
                let file = directory + "-file"
                _ = FileManager.default.createFile(atPath: file, contents: Data())
                defer { try? FileManager.default.removeItem(atPath: file) }
                #expect(try Program.run(["get", url, "-d", file + "/store"]).status == 74)
                let serve = try Program.Server(directory: directory)
                let inUse = try Program.run(["get", url, "-d", directory])
                #expect(inUse.status == 75)
                #expect(inUse.errors.contains("is used by process \(serve.processIdentifier)"))
                serve.stop()
                #expect(try Program.run(["nonsense"]).status == 64)
            }
        }

        @Test func `a server's URLs stay good over a restart and it stops on a signal with success, bug20`()
            async throws
        {
            try await withOrigin { server, directory in
                let first = try Program.Server(directory: directory, token: true)
                let port = first.port
                let address = try Program.run(["url", server.url("/song.mp3"), "-d", directory, "--port", "\(port)"])
                    .text
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                let played = try Program.run("/usr/bin/curl", ["-sf", address])
                #expect(Int64(played.bytes.count) == ToolTests.length)
                #expect(first.stop() == 0)
                let requests = server.origin.requestCount
                let second = try Program.Server(directory: directory, token: true, port: port)
                let again = try Program.run("/usr/bin/curl", ["-sf", address])
                #expect(again.bytes == played.bytes)
                #expect(server.origin.requestCount == requests)
                let without = address.split(separator: "/", omittingEmptySubsequences: false).enumerated()
                    .filter { $0.offset != 3 }.map { String($0.element) }.joined(separator: "/")
                #expect(
                    try Program.run("/usr/bin/curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", without]).text
                        == "403")
                #expect(second.stop() == 0)
            }
        }

        @Test func `serve with an origin is a shared cache in front of it, after a restart, too`() async throws {
            try await withOrigin { server, directory in
                let arguments = ["--origin", server.url(""), "--node", "edge-1"]
                let content = PositionCodedContent(length: ToolTests.length).bytes(in: .from(0))
                var heads: [String] = []
                for _ in 0..<2 {
                    let edge = try Program.Server(directory: directory, token: true, arguments: arguments)
                    let url = "http://127.0.0.1:\(edge.port)/song.mp3"
                    #expect(
                        try Program.run("/usr/bin/curl", ["-sf", "-H", "Host: media.example", url]).bytes == content)
                    heads.append(try Program.run("/usr/bin/curl", ["-sI", url]).text)
                    #expect(edge.stop() == 0)
                }
                for head in heads {
                    #expect(head.contains("Cache-Status: edge-1; hit") && head.contains("Via: 1.1 edge-1"))
                }
                #expect(server.origin.bodyBytes == ToolTests.length)
                #expect(try Program.run(["serve", "-d", directory, "--origin", "ftp://x"]).status == 64)
                #expect(try Program.run(["serve", "-d", directory] + arguments + ["--sample"]).status == 64)
                #expect(
                    try Program.run(["serve", "-d", directory, "--origin", "http://x", "--node", "a b"]).status == 64)
            }
        }

        @Test func `who may not be asked is not, and the message says which rule it was and how to lift it`()
            async throws
        {
            try await withOrigin { server, directory in
                let metadata = try Program.run(["get", "http://0xa9fea9fe/latest", "-d", directory])
                #expect(metadata.status == 69)
                #expect(metadata.errors.contains("refused by the rule metadata of cloud machines (169.254.169.254)"))
                #expect(metadata.errors.contains("--allow 169.254.169.254"))
                let url = "http://localhost:\(server.port)/song.mp3"
                let denied = [
                    "get", url, "-d", directory, "-o", directory + "-song", "--deny", "127.0.0.0/8", "--deny", "::1",
                ]
                let refused = try Program.run(denied)
                #expect(refused.status == 69 && refused.errors.contains("refused by the rule --deny 127.0.0.0/8"))
                #expect(server.origin.requestCount == 0)
                #expect(try Program.run(denied + ["--allow", "localhost"]).status == 0)
                try? FileManager.default.removeItem(atPath: directory + "-song")
                #expect(try Program.run(["get", url, "-d", directory, "--deny", "10.0.0.0/33"]).status == 64)
                let serve = try Program.Server(
                    directory: directory, arguments: ["--deny", "*.test", "--deny", "192.0.2.0/24"])
                for host in ["a.test", "192.0.2.1"] {
                    let answer = try Program.run(
                        "/usr/bin/curl",
                        ["-s", "-w", "%{http_code}", "http://127.0.0.1:\(serve.port)/http/\(host)/x"])
                    #expect(answer.text.contains("may not be asked") && answer.text.hasSuffix("403"), "\(answer.text)")
                }
                serve.stop()
            }
        }

        @Test func `the environment's proxy is asked, with its credentials, and they are never shown`() async throws {
            try await withOrigin { server, directory in
                // An origin that knows whole targets is what a proxy looks like.
                let content = PositionCodedContent(length: 1000)
                server.origin.put(.init(content), at: "http://media.test/song.mp3")
                let environment = ["http_proxy": "http://user:secret@127.0.0.1:\(server.port)"]
                let got = try Program.run(
                    ["get", "http://media.test/song.mp3", "-d", directory], environment: environment)
                #expect(got.status == 0 && got.bytes == content.bytes(in: .from(0)), "\(got.errors)")
                #expect(server.origin.log.last?.fields["Proxy-Authorization"] == "Basic dXNlcjpzZWNyZXQ=")
                let dead = try Program.run(
                    ["get", "http://other.test/", "-d", directory],
                    environment: ["http_proxy": "http://user:secret@127.0.0.1:1"])
                #expect(dead.status == 69 && dead.errors.contains("the proxy http://127.0.0.1:1 cannot be reached"))
                let wrong = try Program.run(
                    ["get", "http://other.test/", "-d", directory], environment: ["all_proxy": "ftp://user:secret@x"])
                #expect(wrong.status == 78 && wrong.errors.contains("all_proxy"))
                for run in [got, dead, wrong] { #expect(!run.errors.contains("secret")) }
                // What is on this machine is asked directly.
                let near = try Program.run(
                    ["get", server.url("/song.mp3"), "-d", directory], environment: ["http_proxy": "http://127.0.0.1:1"]
                )
                #expect(Int64(near.bytes.count) == ToolTests.length)
            }
        }

        @Test func `demo meets its goals`() throws {
            let demo = try Program.run(["demo"])
            #expect(demo.status == 0, "\(demo.text)\(demo.errors)")
            #expect(!demo.text.contains("MISSED"))
        }

        @Test func `the man page and the completions know every command`() throws {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let page = try Program.run(
                root.appendingPathComponent("scripts/man").path, [Program.reprise.path])
            #expect(page.status == 0, "\(page.errors)")
            let completions = try ["bash", "zsh", "fish"].map {
                try Program.run(["--generate-completion-script", $0]).text
            }
            let help = try Program.run(["--help"]).text
            let commands = help.matches(of: /\n  ([a-z]+)  +[A-Z]/).map { String($0.output.1) }
            #expect(commands.count >= 14)
            for command in commands {
                #expect(page.text.contains("\\fBreprise \(command)\\fR"), "\(command)")
                for text in completions { #expect(text.contains(command), "\(command)") }
            }
        }

        @Test func `what the README names is there, bug34`() throws {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
            let makefile = try String(contentsOf: root.appendingPathComponent("Makefile"), encoding: .utf8)
            let help = try Program.run(["--help"]).text
            for match in readme.matches(of: /make ([a-z]+)/) {
                let target = String(match.output.1)
                if ["run", "test", "demo", "simulate", "kill", "check", "format", "build"].contains(target) {
                    #expect(makefile.contains("\n\(target):"), "make \(target)")
                }
            }
            for match in readme.matches(of: /\nreprise ([a-z]+)/) { #expect(help.contains("  \(match.output.1)")) }
            for match in readme.matches(of: /`(docs\/[a-z-]+\.md)`/) {
                #expect(
                    FileManager.default.fileExists(atPath: root.appendingPathComponent(String(match.output.1)).path))
            }
            #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count < 160)
        }
    }
#endif
