#if Server
    import Foundation
    import RepriseLoopbackOrigin
    import RepriseProxy
    import RepriseTesting
    import Testing

    /// What Debian's `slowhttptest` does to a server, against more connections than there are places, on loopback.
    @Suite(.serialized) struct SlowClientAttackTests {
        struct Attack: Sendable, CustomTestStringConvertible {
            var testDescription: String
            var arguments: [String]
            var places: Int
            /// Connections it holds open at least.
            var held = 90
        }

        static let attacks = [
            Attack(testDescription: "slow heads", arguments: ["-H"], places: 100),
            Attack(testDescription: "slow bodies", arguments: ["-B", "-s", "8192"], places: 100),
            Attack(testDescription: "slow bodies of GET", arguments: ["-B", "-t", "GET", "-s", "8192"], places: 100),
            // A client that reads slowly is only let go for another after ten seconds.
            Attack(
                testDescription: "slow reading", arguments: ["-X", "-w", "1", "-y", "64", "-n", "1", "-z", "8"],
                places: 300),
            // Its requests are answered at once, and their connections end.
            Attack(
                testDescription: "many ranges", arguments: ["-R", "-a", "1", "-b", "3000"], places: 300, held: 0),
        ]

        @Test(arguments: attacks)
        func `a normal client is served all the while`(attack: Attack) async throws {
            let length: Int64 = 4 << 20
            let origin = ScriptedOrigin()
            let content = PositionCodedContent(length: length)
            origin.put(.init(content, OriginBehaviour()), at: "/a.mp3")
            let server = try await LoopbackOrigin.start(origin)
            let result: Result<Void, any Error>
            do {
                try await PlayStack.run(proxy: { $0.connectionLimit = attack.places }) { stack in
                    try await play(attack, stack, stack.address(server.url("/a.mp3")), content)
                }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await server.stop()
            try result.get()
        }

        private func play(
            _ attack: Attack, _ stack: PlayStack, _ url: String, _ content: PositionCodedContent
        ) async throws {
            let directory = try WorkDirectory()
            // It goes on until it is interrupted, and its own probe waits long: neither is a bound on a busy machine.
            let attacker = try Command(
                "slowhttptest",
                attack.arguments + ["-c", "200", "-r", "200", "-i", "1", "-l", "250", "-p", "60", "-x", "16"]
                    + ["-g", "-o", directory.path + "/attack", "-u", url], in: directory.path, seconds: 300)
            defer { attacker.interrupt() }
            let proxy = stack.proxy
            #expect(await eventually { proxy.connectionCount >= attack.held }, "the attack did not begin")
            var random = SeededGenerator(seed: 7)
            for _ in 0..<20 {
                let start = Int64.random(in: 0..<(content.length - 70_000), using: &random)
                let answer = try await Command.run(
                    "curl", ["-sS", "-f", "-m", "30", "-r", "\(start)-\(start + 69_999)", url], in: directory.path)
                #expect(answer.status == 0, "\(answer.errors)")
                #expect(answer.output.count == 70_000)
                #expect(content.firstMismatch(answer.output, at: start) == nil)
            }
            attacker.interrupt()
            let report = try await attacker.result()
            #expect(report.status == 0, "\(String(decoding: report.output, as: UTF8.self))")
            try expectAvailable(directory.path + "/attack.csv")
        }

        /// The attacker's own probe asks all the while; its table has a line a second.
        private func expectAvailable(_ table: String) throws {
            let lines = try String(contentsOfFile: table, encoding: .utf8).split(separator: "\n")
            #expect(lines.first == "Seconds,Closed,Pending,Connected,Service Available")
            let rows = lines.dropFirst().map { $0.split(separator: ",").compactMap { Int($0) } }
            #expect(!rows.isEmpty)
            // The last line of an attack that has nobody left says 0 whatever the service does.
            for row in rows where row.count == 5 && row[2] + row[3] > 0 { #expect(row[4] > 0, "\(lines)") }
        }
    }
#endif
