import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

@testable import RepriseCore

/// A disk that answers no call: whoever reads goes on with the origin's bytes, and with what is stored once the disk is back.
@Suite struct HungDiskTests {
    private func hang(_ world: World) { world.queues.setDiskDelay(read: 3600 * second, write: 3600 * second) }

    private func recover(_ world: World) {
        world.queues.setDiskDelay(read: 0, write: 0)
        world.queues.advance(3700 * second)
    }

    @Test func `what was never opened plays from the origin, inv22`() throws {
        let world = try World()
        world.put("/a", length: 1_000_000)
        hang(world)
        let begun = world.queues.time
        world.play("/a").expectWhole(1_000_000)
        #expect(world.queues.time - begun < 6 * second)
        recover(world)
        try world.expectBoughtAnew("/a", 1_000_000)
    }

    @Test func `files that are never made hold up nobody, and are made when the disk is back, inv22`() throws {
        let world = try World()
        // More than may be in memory.
        let length: Int64 = 6_000_000
        world.put("/a", length: length) { $0.firstByteDelay = 100 * millisecond }
        let player = world.player("/a")
        // The answer to the request for the entry comes; that to the one for its files does not.
        world.queues.settle()
        hang(world)
        let begun = world.queues.time
        player.finish()
        player.expectWhole(length)
        #expect(world.queues.time - begun < 8 * second)
        #expect(world.cache.statistics.stored == 0)
        recover(world)
        try world.expectBoughtAnew("/a", length)
    }

    @Test(arguments: [false, true])
    func `what is stored comes from the origin while it cannot be read, and from the disk after, inv22`(
        usesReadPool: Bool
    ) throws {
        let world = try World()
        let length: Int64 = 3_000_000
        world.put("/a", length: length)
        world.play("/a").expectWhole(length)
        // Open and verified, or only open.
        if !usesReadPool { try world.restart() }
        let first = world.player("/a", ByteRange(0, 10))
        first.finish()
        #expect(world.origin.bodyBytes == length)
        hang(world)
        let begun = world.queues.time
        let player = world.player("/a")
        player.usesReadPool = usesReadPool
        player.finish()
        player.expectWhole(length)
        #expect(world.queues.time - begun < 8 * second)
        #expect(world.origin.bodyBytes > length)
        recover(world)
        let requests = world.origin.requestCount
        world.play("/a").expectWhole(length)
        #expect(world.origin.requestCount == requests, "what was complete is complete")
    }

    @Test func `bytes that cannot be compared with what is stored are not mixed with it, inv01`() throws {
        let world = try World { $0.tuning.readAhead = 64 * 1024 }
        world.put("/a", length: 1_000_000) {
            $0.tag = .none
            $0.hasLastModified = false
        }
        let early = world.player("/a", ByteRange(0, 200_000))
        early.finish()
        world.queues.advance(second)
        try world.restart()
        world.put("/a", length: 1_000_000, generation: 2) {
            $0.tag = .none
            $0.hasLastModified = false
        }
        let player = world.player("/a")
        player.play(to: 50_000)
        #expect(player.generation == 1)
        hang(world)
        player.finish()
        #expect(player.violation == nil)
        recover(world)
        let late = world.player("/a")
        late.finish()
        #expect(late.violation == nil)
    }

    @Test func `a store that opens late is played from while the origin is gone`() throws {
        let world = try World()
        world.put("/a", length: 1_000_000)
        world.play("/a").expectWhole(1_000_000)
        try world.restart()
        world.origin.setDown(true)
        // It sleeps for longer than a call may take, and less than the origin is waited for.
        world.queues.setDiskDelay(read: 6 * second, write: 0)
        let player = world.player("/a")
        world.queues.advance(500 * millisecond)
        world.queues.setDiskDelay(read: 0, write: 0)
        player.finish()
        player.expectWhole(1_000_000)
    }

    @Test func `what cannot be shown to be the same is not what is stored, and takes nothing from it, inv28`() throws {
        let world = try World()
        world.put("/a", length: 3_000_000) {
            $0.tag = .none
            $0.hasLastModified = false
        }
        world.play("/a").expectWhole(3_000_000)
        try world.restart()
        let first = world.player("/a", ByteRange(0, 10))
        first.finish()
        hang(world)
        let player = world.player("/a")
        player.finish()
        #expect(player.violation == nil)
        let beside = world.player("/a", ByteRange(2_000_000, 2_500_000))
        beside.finish()
        #expect(beside.violation == nil && beside.failure == nil)
        recover(world)
        let requests = world.origin.requestCount
        world.play("/a").expectWhole(3_000_000)
        #expect(world.origin.requestCount == requests, "what was complete is complete")
    }

    @Test func `a disk that answers again is used by the entry that is open, inv22`() throws {
        let world = try World()
        world.put("/a", length: 3_000_000)
        world.play("/a").expectWhole(3_000_000)
        try world.restart()
        // It keeps the entry open.
        let standing = world.player("/a", ByteRange(0, 100_000))
        standing.play(to: 10)
        world.queues.setDiskDelay(read: 20 * second, write: 20 * second)
        let during = world.player("/a", ByteRange(2_000_000, 3_000_000))
        during.finish()
        during.expectWhole(3_000_000, from: 2_000_000)
        #expect(world.origin.bodyBytes > 3_000_000)
        world.queues.setDiskDelay(read: 0, write: 0)
        world.queues.advance(25 * second)
        let requests = world.origin.requestCount
        world.play("/a").expectWhole(3_000_000)
        #expect(world.origin.requestCount == requests)
        standing.leave()
    }

    @Test func `a part that the origin's bytes cannot be compared with stays stored, inv16 inv22`() throws {
        let world = try World { $0.tuning.readAhead = 64 * 1024 }
        let part = ByteRange(0, 1_000_000)
        world.put("/a", length: 3_000_000) {
            $0.tag = .none
            $0.hasLastModified = false
        }
        world.play("/a", part).expectWhole(part.upperBound)
        world.queues.advance(10 * second)
        let stored = world.player("/a").resource.storedRanges().ranges[0]
        try world.restart()
        let player = world.player("/a", ByteRange(stored.upperBound - 100_000, 2_000_000))
        player.play(to: stored.upperBound - 90_000)
        // The slots are read; the bytes that the next answer is to be compared with are not.
        world.queues.setDiskDelay(read: 20 * second, write: 20 * second)
        player.finish()
        #expect(player.violation == nil)
        #expect(player.failure?.code == .store, "the origin was not asked whether the resource has changed")
        world.queues.setDiskDelay(read: 0, write: 0)
        world.queues.advance(60 * second)
        world.origin.setDown(true)
        world.play("/a", stored).expectWhole(stored.upperBound)
    }

    /// The first write hangs, and stays in flight although it was given up.
    @Test(arguments: [0, 500_000] as [Int64], [true, false])
    func `who comes while a write hangs is given the origin's bytes, inv22 inv26`(start: Int64, isWeak: Bool) throws {
        let world = try World()
        world.put("/a", length: 1_000_000) {
            $0.dropValidators()
            if isWeak { $0.tag = .weak }
            $0.firstByteDelay = 20 * millisecond
        }
        let first = world.player("/a")
        first.play(to: 1000)
        world.queues.setDiskDelay(read: 0, write: 3600 * second)
        first.play(to: 400_000)
        world.queues.advance(7 * second)
        first.leave()
        world.queues.advance(2 * second)
        let begun = world.queues.time
        world.play("/a", .from(start)).expectWhole(1_000_000, from: start)
        #expect(world.queues.time - begun < 15 * second)
    }

    @Test func `closing does not wait for the disk, and the root is let go when it answers`() throws {
        let world = try World()
        world.put("/a", length: 1_000_000)
        hang(world)
        let player = world.player("/a")
        player.play(to: 1000)
        // A call that has begun.
        let access = world.cache.environment.access
        #expect(access.enter())
        let hasClosed = Shared(false)
        Task(executorPreference: world.queues) {
            await world.cache.close()
            hasClosed.set(true)
        }
        world.queues.advance(11 * second)
        #expect(hasClosed.value)
        #expect(throws: (any Error).self) { try world.openElsewhere() }
        access.leave()
        _ = try world.openElsewhere()
    }

    @Test func `closing does not wait for a store that is never taken back, inv26`() throws {
        let world = try World()
        world.put("/a", length: 1000)
        world.play("/a").expectWhole(1000)
        let cache = world.cache
        Task(executorPreference: world.queues) { await cache.suspend() }
        world.queues.advance(5 * second)
        #expect(cache.status == .suspended)
        hang(world)
        let ended = Recorder<String>()
        Task(executorPreference: world.queues) {
            await cache.resume()
            ended.add("taken back")
        }
        world.queues.advance(second)
        Task(executorPreference: world.queues) {
            await cache.close()
            ended.add("closed")
        }
        world.queues.advance(11 * second)
        #expect(ended.all == ["closed"])
        #expect(cache.status == .closed)
        recover(world)
        #expect(ended.all == ["closed", "taken back"] && cache.status == .closed)
        _ = try world.openElsewhere()
    }

    @Test func `a disk that is known to hang is waited for less long`() throws {
        let world = try World()
        for name in 0..<20 { world.put("/\(name)", length: 1000) }
        hang(world)
        let begun = world.queues.time
        for name in 0..<20 { world.play("/\(name)").expectWhole(1000) }
        #expect(world.queues.time - begun < 30 * second)
    }
}

extension World {
    /// What was not stored is bought once more, and then never again.
    fileprivate func expectBoughtAnew(_ path: String, _ length: Int64) throws {
        play(path).expectWhole(length)
        queues.advance(60 * second)
        let requests = origin.requestCount
        play(path).expectWhole(length)
        #expect(origin.requestCount == requests)
    }

    @Test func `whoever waits for a file is told that there will be none while the disk still hangs, inv22 inv26`()
        throws
    {
        let world = try World()
        world.put("/a", length: 2_000_000)
        let resource = world.cache.resource(for: OriginURL("http://origin.test/a")!)
        let failure = Shared<CacheError?>(nil)
        world.player("/a", ByteRange(0, 1000)).finish()
        world.queues.advance(second)
        world.queues.setDiskDelay(read: 0, write: 1000 * second)
        Task(executorPreference: world.queues) {
            do { _ = try await resource.fileURL() } catch { failure.set(error as? CacheError) }
        }
        world.queues.advance(30 * second)
        #expect(failure.value?.code == .store)
    }
}
