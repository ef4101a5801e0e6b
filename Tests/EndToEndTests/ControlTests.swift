#if Server
    import Foundation
    import RepriseCore
    import RepriseLoopbackOrigin
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// Commands that change the store, with and without a server that holds it.
    @Suite(.serialized) struct ControlTests {
        private static let length: Int64 = 400_003

        private struct Place {
            let origin: LoopbackOrigin
            let directory: String
            var song: String { origin.url("/song.mp3") }

            func run(_ arguments: String...) throws -> Program.Finished {
                try Program.run([arguments[0], "-d", directory] + arguments.dropFirst())
            }
        }

        private func withPlace(_ body: (Place) async throws -> Void) async throws {
            let origin = ScriptedOrigin()
            origin.put(.init(PositionCodedContent(length: ControlTests.length)), at: "/song.mp3")
            let server = try await LoopbackOrigin.start(origin)
            let directory =
                FileManager.default.temporaryDirectory.path + "/reprise-control-\(UInt64.random(in: 0 ... .max))"
            let result = await Outcome { try await body(Place(origin: server, directory: directory)) }
            await server.stop()
            try? FileManager.default.removeItem(atPath: directory)
            try result.get()
        }

        private func json(_ text: String) throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        }

        @Test(arguments: [false, true]) func `fetch stores the whole, rm removes it, pin keeps it, the server or not`(
            _ isServed: Bool
        ) async throws {
            try await withPlace { place in
                let server = isServed ? try Program.Server(directory: place.directory) : nil
                let fetch = try place.run("fetch", "--json", place.song)
                #expect(fetch.status == 0, "\(fetch.errors)")
                let report = try json(fetch.text)
                #expect(report["isComplete"] as? Bool == true)
                #expect(report["stored"] as? Int64 == ControlTests.length)
                #expect(place.origin.origin.bodyBytes == ControlTests.length)
                // It is not fetched twice, and nothing is said where nothing is wrong.
                let again = try place.run("fetch", "-q", place.song)
                #expect(again.status == 0 && again.errors.isEmpty && again.text.isEmpty)
                #expect(place.origin.origin.bodyBytes == ControlTests.length)
                #expect(try place.run("pin", place.song).status == 0)
                let shown = try place.run("show", "--json", place.song)
                #expect(try json(shown.text)["isPinned"] as? Bool == true)
                #expect(try place.run("unpin", place.song).status == 0)
                #expect(try place.run("rm", place.song).status == 0)
                #expect(try place.run("show", place.song).status == 69)
                let list = try place.run("ls").text
                #expect(list.contains("nothing is stored"))
                server?.stop()
            }
        }

        @Test func `fetch takes a list, tells each failure, and fails with 69 where one failed`() async throws {
            try await withPlace { place in
                let list = place.directory + "-list"
                try "# a comment\n\(place.song)\n\n\(place.origin.url("/missing"))\n".write(
                    toFile: list, atomically: true, encoding: .utf8)
                defer { try? FileManager.default.removeItem(atPath: list) }
                let fetch = try place.run("fetch", "-i", list)
                #expect(fetch.status == 69)
                #expect(fetch.errors.contains("/missing: "))
                #expect(fetch.errors.contains("\(place.song): 390.6 KiB stored"))
                #expect(try place.run("fetch").status == 64)
                #expect(try place.run("fetch", "-i", "/nonexistent").status == 64)
                #expect(try place.run("fetch", "-r", "5-2", place.song).status == 64)
            }
        }

        @Test func `fetch of a range fetches no more than its request`() async throws {
            try await withPlace { place in
                let fetch = try place.run("fetch", "-r", "0-99999", place.song)
                #expect(fetch.status == 0, "\(fetch.errors)")
                #expect(place.origin.origin.bodyBytes < ControlTests.length)
            }
        }

        @Test func `verify finds a flipped bit, changes nothing, and the next reader has it mended, inv05`()
            async throws
        {
            try await withPlace { place in
                #expect(try place.run("fetch", place.song).status == 0)
                let good = try place.run("verify")
                #expect(good.status == 0 && good.text.contains("good  \(place.song)"))
                let files = try #require(FileManager.default.enumerator(atPath: place.directory)).compactMap {
                    $0 as? String
                }
                let body = place.directory + "/" + (try #require(files.first { $0.contains("/body.") }))
                let opened = Foundation.FileHandle(forUpdatingAtPath: body)
                let handle = try #require(opened)
                try handle.seek(toOffset: 100_000)
                try handle.write(contentsOf: Data([0xFF, 0xFE]))
                try handle.close()
                for _ in 0..<2 {
                    let bad = try place.run("verify", "--json", place.song)
                    #expect(bad.status == 1)
                    #expect(try json(bad.text)["damagedBlocks"] as? Int == 1)
                }
                let got = try place.run("get", place.song)
                #expect(got.bytes == PositionCodedContent(length: ControlTests.length).bytes(in: .from(0)))
                #expect(try place.run("verify").status == 0)
            }
        }

        @Test func `verify tells of an index that is behind its entries, and repair corrects it`() async throws {
            try await withPlace { place in
                #expect(try place.run("fetch", place.song).status == 0)
                #expect(try place.run("verify").errors.isEmpty)
                let files = try #require(FileManager.default.enumerator(atPath: place.directory)).compactMap {
                    $0 as? String
                }
                let description = place.directory + "/" + (try #require(files.first { $0.hasSuffix("/info.json") }))
                // The folder of folders does not change by it: the index goes on saying what it said.
                try FileManager.default.removeItem(atPath: description)
                let wrong = try place.run("verify")
                #expect(wrong.status == 0)
                #expect(wrong.errors.contains("is wrong about 1 entry, which costs nothing"), "\(wrong.errors)")
                #expect(try place.run("ls").text.contains(place.song), "as the index has it")
                #expect(try place.run("repair").status == 0)
                #expect(try place.run("verify").errors.isEmpty)
                let list = try place.run("ls").text
                #expect(list.contains("nothing is stored"))
            }
        }

        @Test func `stats and top tell of a running server, and say so where there is none`() async throws {
            try await withPlace { place in
                #expect(try place.run("top").status == 69)
                #expect(try json(try place.run("stats", "--json").text)["entries"] as? Int == 0)
                let program = try Program.Server(directory: place.directory)
                #expect(try place.run("fetch", place.song).status == 0)
                let stats = try json(try place.run("stats", "--json").text)
                #expect(stats["entries"] as? Int == 1)
                let server = try #require(stats["server"] as? [String: Any])
                #expect(server["originBytes"] as? Int64 == ControlTests.length)
                let top = try place.run("top").text
                #expect(top.contains("readers"))
                let busy = try place.run("stats").text
                #expect(busy.contains("from origin 390.6 KiB"))
                program.stop()
                let idle = try place.run("stats").text
                #expect(idle.contains("not running"))
                // What was counted is in the store.
                let kept = try json(try place.run("stats", "--json").text)
                let total = try #require(kept["total"] as? [String: Any])
                #expect(total["originBytes"] as? Int64 == ControlTests.length && kept["server"] == nil)
                let file = place.directory + "-got"
                defer { try? FileManager.default.removeItem(atPath: file) }
                let got = try place.run("get", "-o", file, place.song)
                #expect(got.status == 0, "\(got.errors)")
                let later = try json(try place.run("stats", "--json").text)
                let sums = try #require(later["total"] as? [String: Any])
                #expect(sums["servedBytes"] as? Int64 == ControlTests.length && sums["hits"] as? Int64 == 1)
                #expect(sums["originBytes"] as? Int64 == ControlTests.length)
                let listed = try json(try place.run("ls", "--json").text)
                #expect(listed["servedBytes"] as? Int64 == ControlTests.length)
                #expect(listed["originBytes"] as? Int64 == ControlTests.length)
                #expect(!FileManager.default.fileExists(atPath: place.directory + "/control"))
            }
        }

        @Test func `play starts a player on the cache, with a server of its own or the one that runs`() async throws {
            try await withPlace { place in
                let file = place.directory + "-played"
                defer { try? FileManager.default.removeItem(atPath: file) }
                let content = PositionCodedContent(length: ControlTests.length)
                for isServed in [false, true] {
                    let server = isServed ? try Program.Server(directory: place.directory, token: true) : nil
                    let play = try place.run("play", "--player", "curl", place.song, "--", "-sf", "-o", file)
                    #expect(play.status == 0, "\(play.errors)")
                    #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: file))) == content.bytes(in: .from(0)))
                    server?.stop()
                }
                #expect(place.origin.origin.bodyBytes == ControlTests.length)
                #expect(try place.run("play", "--player", "no-such-player", place.song).status == 69)
                // The player's own status is passed on: 22 is curl's for an HTTP error.
                let missing = place.origin.url("/missing")
                #expect(try place.run("play", "--player", "curl", missing, "--", "-sf", "-o", file).status == 22)
            }
        }

        @Test func `metrics are Prometheus' text, for those who have the secret of an owner-only file`() async throws {
            try await withPlace { place in
                let server = try Program.Server(directory: place.directory, arguments: ["--admin-port", "0"])
                defer { server.stop() }
                let port = place.origin.port
                let media = "http://127.0.0.1:\(server.port)/http/127.0.0.1:\(port)/song.mp3"
                #expect(try Program.run("/usr/bin/curl", ["-sf", "-o", "/dev/null", media]).status == 0)
                let path = place.directory + "/control"
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(mode == 0o600)
                let control = try json(String(contentsOfFile: path, encoding: .utf8))
                let socket = try #require(control["socket"] as? String)
                let secret = try #require(control["secret"] as? String)
                func scrape(_ secret: String) throws -> String {
                    try Program.run(
                        "/usr/bin/curl",
                        ["-s", "--unix-socket", socket, "-H", "Authorization: Bearer \(secret)", "http://x/metrics"]
                    ).text
                }
                let text = try scrape(secret)
                #expect(text.contains("# TYPE reprise_origin_bytes_total counter\n"))
                #expect(text.contains("\nreprise_origin_bytes_total \(ControlTests.length)\n"))
                #expect(text.contains("reprise_events_total{event=\"miss\"} 1\n"))
                #expect(text.contains("# TYPE reprise_connections gauge\n"))
                #expect(text.contains("reprise_limits_met_total{limit=\"idle-timeout\"} 0\n"))
                #expect(try scrape("wrong") == "the secret is missing\n")
            }
        }

        @Test func `a server that was killed leaves nothing in the way of the next, inv04`() async throws {
            try await withPlace { place in
                let killed = try Program.Server(directory: place.directory)
                kill(killed.processIdentifier, SIGKILL)
                killed.waitUntilExit()
                #expect(FileManager.default.fileExists(atPath: place.directory + "/control"))
                #expect(try place.run("fetch", place.song).status == 0)
                #expect(try place.run("top").status == 69)
                let next = try Program.Server(directory: place.directory)
                #expect(try json(try place.run("stats", "--json").text)["server"] != nil)
                next.stop()
            }
        }
    }
#endif
