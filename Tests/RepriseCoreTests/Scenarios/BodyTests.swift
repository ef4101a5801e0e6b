import RepriseCore
import RepriseRanges
import RepriseTesting
import Testing

/// Bodies that are too short, too long, slow or cut off.
@Suite struct BodyTests {
    static let length: Int64 = 1_000_001

    @Test(arguments: [1, 5, 70_000, 300_000] as [Int64])
    func `a short body stores only what arrived and is fetched on from there, inv19 bug09`(missing: Int64) throws {
        let world = try World()
        world.put("/a", length: Self.length) {
            $0.body = .short(by: missing)
            $0.faultyRequests = 3
        }
        world.play("/a").expectWhole(Self.length)
        // What arrived before each break is not fetched again, but for the block it broke in.
        #expect(world.origin.bodyBytes <= Self.length + 3 * world.blockSize)
        world.origin.setDown(true)
        world.play("/a").expectWhole(Self.length)
    }

    @Test(arguments: [1, 1000, 100_000] as [Int64])
    func `what comes after the announced end belongs to nothing, inv19 bug06`(extra: Int64) throws {
        for ranges in [OriginBehaviour.Ranges.served, .ignored] {
            let world = try World()
            world.put("/a", length: Self.length) {
                $0.body = .long(by: extra)
                $0.ranges = ranges
            }
            world.play("/a").expectWhole(Self.length)
            try world.restart()
            world.origin.setDown(true)
            world.play("/a").expectWhole(Self.length)
        }
    }

    @Test(arguments: [0, 1, 32_767, 32_768, 500_000, 1_000_000] as [Int64])
    func `a reset is followed by a request from the first missing byte, nothing twice, bug09`(offset: Int64) throws {
        let world = try World()
        world.put("/a", length: Self.length) {
            $0.body = .reset(at: offset)
            $0.faultyRequests = offset < 262_144 ? 1 : 3
        }
        let player = world.play("/a")
        player.expectWhole(Self.length)
        #expect(world.origin.bodyBytes <= Self.length + 2 * world.blockSize)
    }

    @Test func `an origin that always breaks off at the same byte is asked ever more slowly, then given up, inv26`()
        throws
    {
        let world = try World()
        world.put("/a", length: Self.length) { $0.body = .reset(at: 40_000) }
        let before = world.queues.time
        let player = world.play("/a")
        #expect(player.violation == nil)
        #expect(player.position == 40_000)
        #expect(player.failure?.code == .originUnreachable)
        #expect(world.queues.time - before <= 30 * second)
        #expect(world.origin.requestCount < 20)
    }

    @Test func `an origin that breaks off and is busy by turns is given up, inv26`() throws {
        let world = try World()
        world.put("/a", length: Self.length) {
            $0.ranges = .ignored
            $0.body = .reset(at: 345)
        }
        let player = world.player("/a", .from(1472))
        let end = world.queues.time + 60 * second
        while player.failure == nil, world.queues.runOne(until: end) {
            let isBusy = !world.origin.requestCount.isMultiple(of: 2)
            world.origin.change("/a") { $0.behaviour.status = isBusy ? 503 : nil }
            player.take()
        }
        #expect(player.failure != nil)
        #expect(world.origin.requestCount < 20)
    }

    @Test func `one bad place does not make an origin be asked at every piece of a good one`() throws {
        let world = try World()
        world.put("/a", length: 20_000_000) {
            $0.body = .reset(at: 15_000_000)
            $0.bytesPerSecond = 2_000_000
        }
        let good = world.player("/a", ByteRange(0, 10_000_000))
        let bad = world.player("/a", ByteRange(14_990_000, 16_000_000))
        for _ in 0..<5000 {
            good.take()
            bad.take()
            world.queues.advance(millisecond)
        }
        #expect(good.position > 5_000_000)
        #expect(bad.position == 15_000_000)
        #expect(world.origin.requestCount < 40)
    }

    @Test func `a stalled body is given up after ten seconds and gone on with, inv26`() throws {
        let world = try World()
        world.put("/a", length: Self.length) {
            $0.body = .stall(at: 100_000)
            $0.faultyRequests = 1
        }
        let before = world.queues.time
        world.play("/a").expectWhole(Self.length)
        #expect(world.queues.time - before < 12 * second)
    }

    @Test(arguments: [0, 100_000] as [Int64], [true, false])
    func `an origin that is silent in the middle of every body is an error, inv26`(offset: Int64, tells: Bool) throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.body = .stall(at: offset) }
        let player = world.player("/a")
        if tells { player.take() }
        let begun = world.queues.time
        player.play(patience: 100 * second)
        #expect(player.failure?.code == .originTimedOut && player.position == offset && player.violation == nil)
        #expect(world.queues.time - begun < 40 * second)
        #expect(world.origin.requestCount < 8)
    }

    @Test func `a reader that comes to a stalled transfer takes over within two seconds and a bit`() throws {
        let world = try World()
        world.put("/a", length: Self.length) {
            $0.body = .stall(at: 100_000)
            $0.faultyRequests = 1
        }
        let first = world.player("/a")
        first.play(to: 100_000)
        let before = world.queues.time
        let second = world.player("/a", .from(100_000))
        second.play(to: 120_000)
        #expect(second.position >= 120_000)
        #expect(world.queues.time - before < 3 * millisecond * 1000)
    }

    @Test func `a drip of a few bytes a second is passed on as it comes`() throws {
        let world = try World(pieceSize: 10)
        world.put("/a", length: 400) { $0.bytesPerSecond = 20 }
        let player = world.player("/a")
        player.play(to: 10)
        #expect(world.queues.time <= 3 * second)
        player.finish()
        player.expectWhole(400)
    }

    @Test func `a reader that was delivered bytes never gets them again after a retry, bug09`() throws {
        let world = try World(blockSize: 7, pieceSize: 3)
        world.put("/a", length: 500) {
            $0.body = .short(by: 1)
            $0.faultyRequests = 400
        }
        let player = world.player("/a")
        player.finish()
        #expect(player.violation == nil)
        #expect(player.received == player.position)
    }

    @Test func `readers of a body of unknown length wait for its end together, bug07`() throws {
        let world = try World()
        world.put("/a", length: Self.length) {
            $0.framing = .chunked
            $0.ranges = .ignored
            $0.bytesPerSecond = 1_000_000
        }
        let head = world.player("/a")
        head.play(to: 10_000)
        let tail = world.player("/a", .from(900_000))
        tail.finish()
        tail.expectWhole(Self.length, from: 900_000)
        head.finish()
        head.expectWhole(Self.length)
        #expect(world.origin.requestCount == 1)
    }

    @Test(arguments: [OriginBehaviour.Framing.chunked, .close])
    func `a body without a length that ends before a known end is not the whole, inv13`(
        framing: OriginBehaviour.Framing
    ) throws {
        for hasValidators in [true, false] {
            let world = try World()
            var behaviour = OriginBehaviour()
            behaviour.tag = .none
            behaviour.hasLastModified = false
            if hasValidators { behaviour.extraFields = ["ETag": "\"the same\""] }
            let whole = PositionCodedContent(length: Self.length)
            world.origin.put(.init(whole, behaviour), at: "/a")
            let head = world.player("/a")
            head.play(to: 10_000)
            behaviour.ranges = .ignored
            behaviour.framing = framing
            world.origin.put(.init(PositionCodedContent(length: Self.length - 5), behaviour), at: "/a")
            head.finish()
            #expect(head.violation == nil)
            #expect(head.failure != nil)
            if !hasValidators, framing == .chunked {
                // Nothing says that it is the same: it is another, that long.
                world.play("/a").expectWhole(Self.length - 5)
            } else {
                world.origin.put(.init(whole, behaviour), at: "/a")
                world.play("/a").expectWhole(Self.length)
            }
        }
    }

    @Test func `memory stays bounded while the disk is slow and the origin fast, inv23 bug14`() throws {
        let world = try World()
        world.put("/a", length: 40_000_000)
        world.queues.setDiskDelay(read: 0, write: 200 * millisecond)
        let player = world.player("/a")
        var most: Int64 = 0
        while !player.isAtEnd, player.failure == nil {
            player.play(to: player.position + 100_000)
            most = max(most, world.cache.openEntries.map(\.bytesInMemory).reduce(0, +))
        }
        player.expectWhole(40_000_000)
        #expect(most <= (1 << 20) + 64 * 1024)
    }

    @Test func `a player that stands still stops the origin's bytes at the read-ahead, inv23`() throws {
        let world = try World()
        world.put("/a", length: 40_000_000)
        let player = world.player("/a")
        player.play(to: 1000)
        let before = world.origin.bodyBytes
        world.queues.advance(60 * second)
        #expect(world.origin.bodyBytes <= before + 512 * 1024)
        #expect(
            world.cache.environment.hosts.active("http://origin.test") == 0,
            "no connection is held for ever: \(world.cache.openEntries.map(\.explanation))")
        player.finish()
        player.expectWhole(40_000_000)
    }
}
