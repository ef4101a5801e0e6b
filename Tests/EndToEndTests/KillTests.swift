#if Server
    import Foundation
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import ReprisePlatform
    import RepriseRanges
    import RepriseStorage
    import RepriseTesting
    import Testing

    /// `kill -9` of the real program in the middle of a play, again and again, on one store.
    @Suite(.serialized) struct KillTests {
        /// `REPRISE_KILLS=n` kills n times.
        private let kills = SystemCalls.environment("REPRISE_KILLS").flatMap(Int.init) ?? 50
        private static let length: Int64 = 6_000_000

        @Test
        func `after kill -9 every stored byte is right and nothing whose slot was written is fetched again, inv04`()
            async throws
        {
            let seed = SystemCalls.environment("REPRISE_SEED").flatMap(UInt64.init) ?? UInt64.random(in: 1...1_000_000)
            var random = SeededGenerator(seed: seed)
            let directory = try TemporaryPlace()
            let origin = ScriptedOrigin()
            var behaviour = OriginBehaviour()
            behaviour.bytesPerSecond = 8_000_000
            let server = try await LoopbackOrigin.start(origin)
            var number = 0
            var path = ""
            for kill in 1...kills {
                if number == 0 || Int.random(in: 0..<6, using: &random) == 0 {
                    number += 1
                    path = "/song-\(number).mp3"
                    origin.put(.init(PositionCodedContent(length: KillTests.length), behaviour), at: path)
                }
                let stored = try directory.storedRanges(of: server.url(path))
                origin.resetLog()
                let start = Int64.random(in: 0..<KillTests.length, using: &random)
                let bytes = Int.random(in: 1...1_500_000, using: &random)
                try directory.playAndKill(server.url(path), from: start, bytes: bytes)
                let again = try refetched(origin.log, stored)
                #expect(again.isEmpty, "kill \(kill), seed \(seed): fetched again \(again)")
                let wrong = try directory.check(url: server.url(path))
                #expect(wrong == nil, "kill \(kill), seed \(seed): \(wrong ?? "")")
            }
            await server.stop()
            print("kill -9: \(kills) times, seed \(seed)")
        }

        /// Stored bytes that a request asked for again. A fill begins at a block's first missing byte and ends where the
        /// next stored block begins.
        private func refetched(_ log: [ScriptedOrigin.Logged], _ stored: ByteRangeSet) throws -> ByteRangeSet {
            var again = ByteRangeSet()
            for request in log {
                guard let range = request.range else { continue }
                again.formUnion(stored.intersection(range))
            }
            return again
        }
    }

    /// A store's directory, the program that serves it, and the trace of its slot writes.
    private final class TemporaryPlace {
        private let root: String
        private var trace: String { root + "/slots.trace" }
        private var store: String { root + "/store" }

        init() throws {
            root = FileManager.default.temporaryDirectory.path + "/reprise-kill-\(UInt64.random(in: 0 ... .max))"
            try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: root) }

        /// Serves, reads `bytes` from `start` on through the proxy, and kills the server while it goes on sending.
        func playAndKill(_ url: String, from start: Int64, bytes: Int) throws {
            let serve = try Program.Server(directory: store, environment: ["REPRISE_TRACE_SLOTS": trace])
            let client = Process()
            client.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
            let target = url.replacingOccurrences(of: "http://", with: "http/")
            client.arguments = ["-s", "-N", "-r", "\(start)-", "http://127.0.0.1:\(serve.port)/\(target)"]
            let body = Pipe()
            client.standardOutput = body
            try client.run()
            var received = 0
            while received < bytes {
                let data = body.fileHandleForReading.availableData
                if data.isEmpty { break }
                received += data.count
            }
            kill(serve.processIdentifier, SIGKILL)
            // SIGTERM would wait: processes started from a pool thread inherit its blocked signals.
            kill(client.processIdentifier, SIGKILL)
            serve.waitUntilExit()
            client.waitUntilExit()
        }

        /// What is stored of `url` now, verified.
        func storedRanges(of url: String) throws -> ByteRangeSet {
            guard FileManager.default.fileExists(atPath: store + "/format") else { return ByteRangeSet() }
            guard let entry = try open(url) else { return ByteRangeSet() }
            try entry.generation.load(.from(0))
            return entry.generation.claimed
        }

        private func open(_ url: String) throws -> StoredEntry? {
            let opened = try Store(root: store, volume: DiskVolume(), access: .readOnly)
            return try opened.open(key: url)
        }

        /// Whether every stored byte is right and every slot that was written is there; what is wrong, if not.
        func check(url: String) throws -> String? {
            guard let entry = try open(url) else {
                return tracedRanges(of: url).isEmpty ? nil : "the entry is gone though slots were written"
            }
            let generation = entry.generation
            try generation.load(.from(0))
            let claimed = generation.claimed
            try generation.verify(ByteRange(0, claimed.upperBound))
            if generation.damagedBlocks > 0 { return "\(generation.damagedBlocks) blocks failed their checksum" }
            for range in tracedRanges(of: url).ranges where !generation.claimed.contains(range) {
                return "a slot was written for \(range) and is not there"
            }
            let content = PositionCodedContent(length: entry.info.length ?? 0)
            for range in claimed.ranges {
                guard let lease = generation.lease(range), lease.range == range else {
                    return "\(range) is not verified"
                }
                if let wrong = content.firstMismatch(try lease.read(), at: range.lowerBound) {
                    return "wrong byte at \(wrong)"
                }
            }
            return nil
        }

        private func tracedRanges(of url: String) -> ByteRangeSet {
            let name = Store.entryName(key: url)
            guard let text = try? String(contentsOfFile: trace, encoding: .utf8) else { return ByteRangeSet() }
            var ranges = ByteRangeSet()
            for line in text.split(separator: "\n") {
                let fields = line.split(separator: " ")
                guard fields.count == 3, fields[0] == name, let lower = Int64(fields[1]), let upper = Int64(fields[2])
                else {
                    continue
                }
                ranges.insert(ByteRange(lower, upper))
            }
            return ranges
        }
    }
#endif
