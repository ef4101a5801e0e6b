import Foundation
import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseCore

/// What is watched for hours (`REPRISE_STREAM_HOURS`; `make streams`: a day): it comes as fast as its origin sends it, and nothing
/// grows. In a process of its own each, whose memory is theirs alone.
@Suite struct LongStreamTests {
    /// What a stream holds at a time.
    struct Held: CustomStringConvertible {
        var entries: Int
        /// Bytes that wait for a reader or for the disk.
        var inMemory: Int64
        var files: Int
        /// Work that waits for its time.
        var waiting: Int
        /// What the process has in memory of its own, in bytes; 0 where that is not told.
        var own: Int

        init(_ world: World) {
            let open = world.cache.openEntries
            entries = open.count
            inMemory = open.reduce(0) { sum, entry in sum + entry.look { $0.bytesInMemory } }
            files = world.memory.paths.count
            waiting = world.queues.waitingCount
            own = ProcessUsage.ownMemory ?? 0
        }

        var description: String {
            "\(entries) entries, \(inMemory) bytes in memory, \(files) files, \(waiting) in line, \(own) own"
        }
    }

    private static let hours = Int64(ProcessInfo.processInfo.environment["REPRISE_STREAM_HOURS"] ?? "") ?? 2
    /// So often it is looked at what is held.
    private static let looks = 24
    /// Seconds between two looks.
    private static let period = hours * 3600 / Int64(looks)

    /// Ends the process where the last quarter of the time holds more than an early one.
    private static func expectSteady(_ looks: [Held]) {
        let (early, late) = (looks[2..<8], looks[(Self.looks - 6)...])
        func most(_ value: (Held) -> Int, _ looks: ArraySlice<Held>) -> Int { looks.map(value).max() ?? 0 }
        let told = looks.enumerated().map { "\($0): \($1)" }.joined(separator: "\n")
        precondition(most(\.entries, late) <= most(\.entries, early), told)
        precondition(most(\.files, late) <= most(\.files, early) + 8, told)
        precondition(most(\.waiting, late) <= most(\.waiting, early) + 8, told)
        precondition(most({ Int($0.inMemory) }, late) <= 1 << 20, told)
        precondition(most(\.own, late) <= most(\.own, early) + 1 << 20, told)
    }

    /// A piece of 60 bytes a second.
    private static func watchEvents(_ freshness: FreshnessPolicy) throws {
        let rate = 60
        let world = try World(pieceSize: rate) { $0.freshness = freshness }
        world.put("/events", length: Int64(rate) * 3600 * (hours + 1)) { behaviour in
            (behaviour.contentType, behaviour.framing, behaviour.ranges) = ("text/event-stream", .chunked, .ignored)
            (behaviour.bytesPerSecond, behaviour.tellsRanges) = (Int64(rate), false)
            behaviour.extraFields["Cache-Control"] = "no-cache"
            behaviour.dropValidators()
        }
        let client = AnswerClient(world, "/events", isTransparent: freshness == .http)
        var (came, held): (Int, [Held]) = (0, [])
        for look in 1...Int64(looks) {
            while world.queues.time < look * period * second {
                world.queues.advance(second)
                came += client.drain()
                // As it comes: a piece may be on its way.
                let sent = Int(world.queues.time / second) * rate
                precondition(came >= sent - 3 * rate && !client.hasEnded, "\(came) of \(sent) bytes")
            }
            held.append(Held(world))
        }
        precondition(world.origin.requestCount == 1)
        client.leave()
        expectSteady(held)
    }

    /// A playlist that slides on every ten seconds, and its segments.
    private static func watchPlaylist(_ freshness: FreshnessPolicy) throws {
        let (length, window): (Int64, Int) = (6000, 5)
        let world = try World {
            ($0.freshness, $0.limits) = (freshness, StoreLimits(bytes: 256 << 10))
        }
        var held: [Held] = []
        for number in 0..<Int(hours) * 360 {
            world.put("/live/\(number).ts", length: length, generation: number % 1000 + 1) { behaviour in
                (behaviour.contentType, behaviour.extraFields["Cache-Control"]) = ("video/mp2t", "max-age=60")
            }
            let first = max(0, number - window + 1)
            let text =
                "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
                + (first...number).map { "#EXTINF:10,\n\($0).ts\n" }.joined()
            var playlist = OriginBehaviour()
            playlist.contentType = "application/vnd.apple.mpegurl"
            playlist.tagMark = "-\(number)"
            playlist.extraFields["Cache-Control"] = "max-age=2"
            world.origin.put(.init(literal: Array(text.utf8), playlist), at: "/live/list.m3u8")
            let list = AnswerClient(world, "/live/list.m3u8", isTransparent: freshness == .http)
            list.finish()
            precondition(list.body == Array(text.utf8), "an older playlist at \(number)")
            let segment = AnswerClient(world, "/live/\(number).ts", isTransparent: freshness == .http)
            segment.finish()
            precondition(segment.body.count == length)
            world.origin.remove("/live/\(number - window).ts")
            world.queues.advance(10 * second)
            if Int64(number + 1) * 10 / period > Int64(held.count) {
                world.origin.resetLog()
                held.append(Held(world))
            }
        }
        expectSteady(held)
    }

    @Test func `events for hours come as they are sent through a shared cache, and nothing grows, inv23`() async {
        await #expect(processExitsWith: .success) { try Self.watchEvents(.http) }
    }

    @Test func `events for hours come as they are sent through a cache of media, and nothing grows, inv23`() async {
        await #expect(processExitsWith: .success) { try Self.watchEvents(.immutable) }
    }

    @Test func `a live stream is watched for hours through a shared cache, and nothing grows, inv23`() async {
        await #expect(processExitsWith: .success) { try Self.watchPlaylist(.http) }
    }

    @Test func `a live stream is watched for hours through a cache of media, and nothing grows, inv23`() async {
        await #expect(processExitsWith: .success) { try Self.watchPlaylist(.immutable) }
    }
}
