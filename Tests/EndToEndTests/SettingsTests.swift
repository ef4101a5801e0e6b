#if Server
    import Foundation
    import ReprisePlatform
    import RepriseTesting
    import Testing

    /// Settings by flag, environment, file and default, as the program tells of them.
    @Suite struct SettingsTests {
        private struct Report: Decodable {
            struct Row: Decodable {
                var setting: String
                var value: String?
                var source: String
            }

            var file: String?
            var settings: [Row]

            subscript(name: String) -> String {
                settings.first { $0.setting == name }.map { "\($0.value ?? "-") from \($0.source)" } ?? "unknown"
            }
        }

        private func withFile(_ json: String?, _ body: (_ file: String, _ folder: String) throws -> Void) throws {
            let folder =
                FileManager.default.temporaryDirectory.path + "/reprise-settings-\(UInt64.random(in: 0 ... .max))"
            try FileManager.default.createDirectory(atPath: folder + "/reprise", withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let file = folder + "/reprise/config.json"
            if let json { try Data(json.utf8).write(to: URL(fileURLWithPath: file)) }
            try body(file, folder)
        }

        private func show(_ arguments: [String], _ environment: [String: String]) throws -> Report {
            let shown = try Program.run(["serve", "--show-settings", "--json"] + arguments, environment: environment)
            #expect(shown.status == 0, "\(shown.errors)")
            return try JSONDecoder().decode(Report.self, from: Data(shown.bytes))
        }

        @Test func `a flag goes before the environment, that before the file, that before the default`() throws {
            let json =
                #"{"port": 1, "host": "::1", "node": "file", "directory": "media", "deny": ["10.0.0.0/8", "*.x"]}"#
            try withFile(json) { file, folder in
                let environment = [
                    "XDG_CONFIG_HOME": folder, "REPRISE_DIRECTORY": "", "REPRISE_HOST": "127.0.0.2",
                    "REPRISE_NODE": "variable",
                    "REPRISE_NO_TOKEN": "yes", "REPRISE_ALLOW": "a.test,b.test", "REPRISE_SEEDS": "7",
                ]
                let report = try show(["--node", "flag"], environment)
                #expect(report.file == file)
                #expect(report["node"] == "flag from --node")
                #expect(report["host"] == "127.0.0.2 from REPRISE_HOST")
                #expect(report["no-token"] == "true from REPRISE_NO_TOKEN")
                #expect(report["allow"] == "a.test,b.test from REPRISE_ALLOW")
                #expect(report["port"] == "1 from \(file)")
                #expect(report["deny"] == "10.0.0.0/8,*.x from \(file)")
                #expect(report["directory"] == "\(folder)/reprise/media from \(file)")
                #expect(report["log-level"] == "notice from default")
                #expect(report["threads"] == "- from not set")
                #expect(report.settings.count == 28)
                // A list is one thing: the nearer one takes the other's place.
                #expect(try show(["--deny", "c.test"], environment)["deny"] == "c.test from --deny")
            }
        }

        @Test func `a file that is to name authorities and names none is told at once, with exit code 78`() throws {
            try withFile("{}") { file, folder in
                let got = try Program.run(
                    ["get", "https://127.0.0.1:1/a.mp3", "--directory", folder + "/store"],
                    environment: ["SSL_CERT_FILE": file])
                #expect(got.status == 78)
                #expect(
                    got.errors.hasPrefix(
                        "reprise: SSL_CERT_FILE in the environment: \(file) holds no certificates that can be read; "),
                    "\(got.errors)")
            }
        }

        @Test func `the file is the named one, else the variable's, else the standard one, else none`() throws {
            try withFile(#"{"port": 2}"#) { file, folder in
                let elsewhere = ["XDG_CONFIG_HOME": folder + "/none", "HOME": folder + "/none"]
                #expect(try show([], elsewhere)["port"] == "8787 from default")
                #expect(try show(["--config", file], elsewhere)["port"] == "2 from \(file)")
                #expect(try show([], elsewhere.merging(["REPRISE_CONFIG": file]) { $1 })["port"] == "2 from \(file)")
                let missing = try Program.run(
                    ["serve", "--show-settings", "--config", folder + "/x"], environment: elsewhere)
                #expect(missing.status == 78 && missing.errors.contains(folder + "/x cannot be read"))
            }
        }

        @Test(arguments: [
            (#"{"prot": 1}"#, #"unknown setting "prot"; did you mean "port"?"#),
            (#"{"prefetch": 1}"#, #"unknown setting "prefetch"; `reprise serve --show-settings`"#),
            (#"{"port": "1"}"#, "port: expected an integer"),
            (#"{"port": true}"#, "port: expected an integer"),
            (#"{"port": 70000}"#, "port: expected an integer"),
            (#"{"no-token": 1}"#, "no-token: expected true or false"),
            (#"{"deny": "x"}"#, "deny: expected a list"), (#"{"deny": ["10.0.0.0/33"]}"#, "deny: expected a list"),
            (#"{"node": "a b"}"#, "node: expected a name"),
            (#"{"host": null}"#, "host: expected an address"), (#"{"port": 1"#, "is not a JSON object"),
            ("[]", "is not a JSON object"),
            (String(repeating: "[", count: 100_000), "is not a JSON object"),
            (#"{"log-level": "loud"}"#, "log-level: expected trace"),
            (#"{"origin": ["ftp://x"]}"#, "origin: expected a list"),
            (#"{"threads": 0}"#, "threads: expected a positive integer"),
            (#"{"same": ["a"]}"#, "same: expected a list of groups"),
            (#"{"key-strip": "x"}"#, "key-strip: expected a list of names"),
            (#"{"connections": 0}"#, "connections: expected a positive integer"),
            (#"{"forwarded": 0}"#, "forwarded: expected a positive integer"),
            (#"{"idle-timeout": 75}"#, "idle-timeout: expected a time"),
            (#"{"request-timeout": "0s"}"#, "request-timeout: expected a time"),
            (#"{"client-timeout": "2d"}"#, "client-timeout: expected a time"),
            (#"{"origin-timeout": "5"}"#, "origin-timeout: expected a time"),
            (#"{"head-limit": "1B"}"#, "head-limit: expected a size"),
            (#"{"allow-origin": ["https://a.example/page"]}"#, "allow-origin: expected a list of origins of web pages"),
        ])
        func `what is wrong in a file is told with file and key`(json: String, words: String) throws {
            try withFile(json) { file, folder in
                let run = try Program.run(["serve", "--show-settings", "--config", file])
                #expect(run.status == 78)
                #expect(run.errors.contains(file) && run.errors.contains(words), "\(run.errors)")
            }
        }

        @Test(arguments: [
            (#"{"\u001b[2J": 1}"#, #"unknown setting "\u001b[2J""#), (#"{"a\nb": 1}"#, #"unknown setting "a\u000ab""#),
            (#"{"\u0000": 1}"#, #"unknown setting "\u0000""#), (#"{"\u009b2J": 1}"#, #"unknown setting "\u009b2J""#),
        ])
        func `what is wrong is told in one line that steers no terminal`(json: String, words: String) throws {
            try withFile(json) { file, folder in
                let run = try Program.run(["serve", "--show-settings", "--config", file])
                #expect(run.status == 78 && run.errors.hasSuffix("\n") && run.errors.contains(words), "\(run.errors)")
                #expect(run.errors.unicodeScalars.dropLast().allSatisfy { $0.properties.generalCategory != .control })
            }
        }

        @Test func `any file is used, or refused in one sentence with its name`() throws {
            let json = Array(
                #"""
                {"port": 1, "host": "::1", "node": "a", "directory": "m\u0000", "deny": ["10.0.0.0/8", "*.x"], "no-token": true,
                 "same": ["a b"], "limit": "99GB", "idle-timeout": "75s", "origin": ["https://u:s@[::1]:80/a"], "threads": 2}
                """#.utf8)
            // `REPRISE_FIRST=n` begins with that seed again.
            let first = SystemCalls.environment("REPRISE_FIRST").flatMap(UInt64.init) ?? .random(in: 0 ... .max / 2)
            try withFile(nil) { file, folder in
                for seed in first..<first + 60 {
                    var random = SeededGenerator(seed: seed)
                    var bytes = json
                    for _ in 0..<Int.random(in: 1...4, using: &random) { random.mutate(&bytes, seeds: [json]) }
                    try Data(bytes).write(to: URL(fileURLWithPath: file))
                    let run = try Program.run(["serve", "--show-settings", "--config", file])
                    let isOneSentence = run.errors.contains(file) && run.errors.utf8.count { $0 == 10 } == 1
                    #expect(
                        run.status == 0 ? run.errors.isEmpty : run.status == 78 && isOneSentence,
                        "REPRISE_FIRST=\(seed): \(run.status) \(run.errors) for \(Data(bytes).base64EncodedString())"
                    )
                }
            }
        }

        @Test func `what is wrong in a variable or a flag is told with its name`() throws {
            let variable = try Program.run(["serve", "--show-settings"], environment: ["REPRISE_PORT": "many"])
            #expect(variable.status == 78)
            #expect(variable.errors.contains("REPRISE_PORT: port: expected an integer"), "\(variable.errors)")
            let flag = try Program.run(["serve", "--show-settings", "--threads", "0"])
            #expect(
                flag.status == 64 && flag.errors.contains("--threads: expected a positive integer"), "\(flag.errors)")
            #expect(try Program.run(["serve", "--show-settings", "--port", "x"]).status == 64)
        }

        @Test func `secrets are masked, and the other commands use the same settings`() throws {
            try withFile(#"{"origin": ["https://user:secret@cdn.test/a"], "directory": "store"}"#) { file, folder in
                let shown = try Program.run(["serve", "--show-settings", "--config", file])
                #expect(shown.status == 0 && shown.text.contains("https://***@cdn.test/a"))
                #expect(!shown.text.contains("secret"))
                let address = try Program.run(
                    ["url", "http://x/y", "--config", file],
                    environment: ["REPRISE_PORT": "99", "REPRISE_NO_TOKEN": "1"])
                #expect(address.text == "http://127.0.0.1:99/http/x/y\n")
                let list = try Program.run(["stats", "--config", file], environment: ["REPRISE_DIRECTORY": ""])
                #expect(list.text.contains(folder + "/reprise/store"), "\(list.text)\(list.errors)")
            }
        }
    }
#endif
