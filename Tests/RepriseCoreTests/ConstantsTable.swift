import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// What the constants of reading and filling cost, for the request patterns of real players (recorded from ffmpeg,
/// mpv and others) at three rates and two delays. The table in docs/constants.md is this test's output.
@Suite struct ConstantsTable {
    /// One connection of a player: where it begins, and how much it takes before it is dropped.
    struct Visit {
        var start: Int64
        var bytes: Int64 = .max
    }

    struct Pattern: Sendable {
        var name: String
        var length: Int64
        var visits: [Visit]
        /// A reader that takes so many bytes a second beside it, from 0.
        var slowReader: Int64?
        /// Most origin bytes a unique byte may cost.
        var limit: Double
    }

    static let patterns: [Pattern] = [
        Pattern(
            name: "mp3: head, last 128, on", length: 4_000_000,
            visits: [
                Visit(start: 0, bytes: 65_536), Visit(start: 3_999_872), Visit(start: 20),
            ], limit: 1.0),
        Pattern(
            name: "mp4, moov last", length: 4_000_000,
            visits: [
                Visit(start: 0, bytes: 65_536), Visit(start: 3_995_590), Visit(start: 48),
            ], limit: 1.0),
        Pattern(
            name: "mp4, fragmented", length: 8_000_000,
            visits: (0..<29).map {
                Visit(start: Int64($0) * 275_000, bytes: 2_000)
            } + [Visit(start: 0)], limit: 1.08),
        Pattern(
            name: "ogg: 4 openings", length: 4_000_000,
            visits: [
                Visit(start: 0, bytes: 65_536), Visit(start: 3_934_464), Visit(start: 13_169, bytes: 65_536),
                Visit(start: 3_945),
            ], limit: 1.0),
        Pattern(
            name: "seek storm, 20 x 64 KiB", length: 50_000_000,
            visits: (0..<20).map {
                Visit(start: Int64($0 * 7 % 20) * 2_400_000 + 12_345, bytes: 65_536)
            }, limit: 8.0),
        Pattern(
            name: "seek storm, then straight on", length: 12_000_000,
            visits: (0..<20).map {
                Visit(start: Int64($0 * 7 % 20) * 590_000 + 12_345, bytes: 65_536)
            } + [Visit(start: 0)], limit: 1.0),
        Pattern(name: "read ahead of all (mpv)", length: 4_000_000, visits: [Visit(start: 0)], limit: 1.0),
        Pattern(
            name: "a slow reader beside it", length: 3_000_000, visits: [Visit(start: 0)], slowReader: 50_000,
            limit: 1.0),
    ]

    struct Result {
        var originBytes: Int64
        var requests: Int
        var unique: Int64
        var firstByte: Int64
        var worst: Int64
    }

    static func run(_ pattern: Pattern, rate: Int64, delay: Int64) throws -> Result {
        let world = try World()
        var behaviour = OriginBehaviour()
        behaviour.bytesPerSecond = rate
        behaviour.firstByteDelay = delay
        world.origin.put(.init(literal: [UInt8](repeating: 7, count: Int(pattern.length)), behaviour), at: "/a.mp3")
        let resource = world.cache.resource(for: OriginURL("http://origin.test/a.mp3")!)
        let slow = pattern.slowReader.map { _ in resource.makeHandle(in: .from(0)) }
        var slowTaken: Int64 = 0
        var unique = ByteRangeSet()
        var firsts: [Int64] = []
        for visit in pattern.visits {
            let opened = world.queues.time
            let end = min(pattern.length, visit.bytes == .max ? .max : visit.start + visit.bytes)
            let handle = resource.makeHandle(in: .from(visit.start))
            var position = visit.start
            while position < end {
                if let slow, let pace = pattern.slowReader,
                    slowTaken < (world.queues.time - opened) / 1_000_000 * pace / 1000
                {
                    slowTaken += count(slow.step(limit: 16_384) {})
                }
                let taken = count(handle.step(limit: Int(min(end - position, 65_536))) {})
                if taken > 0, position == visit.start { firsts.append(world.queues.time - opened) }
                position += taken
                if taken == 0 { world.queues.advance(millisecond) }
            }
            unique.insert(ByteRange(visit.start, end))
            handle.leave()
        }
        slow?.leave()
        world.queues.advance(5 * second)
        return Result(
            originBytes: world.origin.bodyBytes, requests: world.origin.requestCount, unique: unique.count,
            firstByte: firsts[0], worst: firsts.max() ?? 0)
    }

    private static func count(_ step: ReaderHandle.Step) -> Int64 {
        switch step {
        case .memory(let bytes, _): Int64(bytes.count)
        case .lease(let lease): lease.range.count
        case .pending, .end, .failed: 0
        }
    }

    @Test func `the constants cost what the documentation says, inv10`() throws {
        var lines = [
            "| pattern | rate | delay | origin ÷ unique | requests | first byte | worst first byte |",
            "|---|---|---|---|---|---|---|",
        ]
        for pattern in ConstantsTable.patterns {
            for (rate, name) in [(Int64(200_000), "200 kB/s"), (2_000_000, "2 MB/s"), (20_000_000, "20 MB/s")] {
                for delay in [Int64(5), 80] {
                    let result = try ConstantsTable.run(pattern, rate: rate, delay: delay * millisecond)
                    let ratio = Double(result.originBytes) / Double(result.unique)
                    #expect(ratio <= pattern.limit + 0.0005, "\(pattern.name) at \(name), \(delay) ms")
                    lines.append(
                        "| \(pattern.name) | \(name) | \(delay) ms | \(String(format: "%.2f", ratio)) | \(result.requests) "
                            + "| \(result.firstByte / millisecond) ms | \(result.worst / millisecond) ms |")
                }
            }
        }
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/constants.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let missing = lines.filter { !text.contains($0) }
        let table = lines.joined(separator: "\n")
        if SystemCalls.environment("REPRISE_PRINT_TABLE") != nil { print(table) }
        #expect(
            missing.count == 0, "docs/constants.md lacks \(missing.count) lines; REPRISE_PRINT_TABLE=1 prints the table"
        )
    }
}
