import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseCore

/// A store that stays within its limits while it is used.
@Suite struct EvictionTests {
    static let mega: Int64 = 1 << 20

    private func makeWorld(_ limits: StoreLimits, _ change: (inout MediaCache.Configuration) -> Void = { _ in }) throws
        -> World
    {
        try World(configure: { configuration in
            configuration.limits = limits
            change(&configuration)
        })
    }

    /// Plays something to its end and lets its entry be closed.
    private func play(_ world: World, _ path: String, length: Int64) {
        if world.origin.resource(at: path) == nil { world.put(path, length: length) }
        world.play(path).expectWhole(length)
        world.queues.advance(40 * second)
    }

    private func film(_ world: World) -> MediaResource {
        let player = world.player("/film.mp3")
        defer { player.leave() }
        return player.resource
    }

    private func entries(_ world: World) -> Int {
        world.memory.paths.count { $0.hasSuffix("/info.json") }
    }

    private func isStored(_ world: World, _ path: String, length: Int64) -> Bool {
        let before = world.origin.requestCount
        world.play(path).expectWhole(length)
        world.queues.advance(40 * second)
        return world.origin.requestCount == before
    }

    @Test func `what was not used for longest goes when the quota is reached, inv21 bug15`() throws {
        let world = try makeWorld(.init(bytes: 10 * Self.mega))
        for number in 0..<12 { play(world, "/\(number).mp3", length: Self.mega) }
        #expect(world.memory.allocatedBytes <= 10 * Self.mega)
        #expect(entries(world) >= 7, "it goes down to low water, not to nothing")
        #expect(isStored(world, "/11.mp3", length: Self.mega))
        #expect(!isStored(world, "/0.mp3", length: Self.mega))
    }

    @Test func `a clock that jumps far ahead does not make what is stored too old, inv18`() async throws {
        let world = try makeWorld(.init(age: .days(90)))
        play(world, "/a.mp3", length: 100_000)
        world.queues.jumpWallClock(by: 400 * 86_400)
        let (cache, queues) = (world.cache, world.queues)
        let sweep = Task(executorPreference: queues) { await cache.collectGarbage() }
        queues.advance(second)
        await sweep.value
        #expect(isStored(world, "/a.mp3", length: 100_000))
    }

    @Test func `an entry that was used just now is not too old, whatever its files say yet, inv21`() async throws {
        let world = try makeWorld(.init(age: .days(90)))
        play(world, "/a.mp3", length: 100_000)
        world.queues.jumpWallClock(by: 400 * 86_400)
        try world.restart()
        let requests = world.origin.requestCount
        world.play("/a.mp3").expectWhole(100_000)
        let (cache, queues) = (world.cache, world.queues)
        let sweep = Task(executorPreference: queues) { await cache.collectGarbage() }
        queues.advance(second)
        await sweep.value
        world.play("/a.mp3").expectWhole(100_000)
        #expect(world.origin.requestCount == requests)
    }

    @Test(arguments: [FaultyVolume.Operation.list, .open, .rename])
    func `an entry whose files are just being made is not taken for one that was left over, inv10 inv21`(
        moment: FaultyVolume.Operation
    ) throws {
        let world = try makeWorld(.init(age: .days(90)))
        let folder = Store.entryName(key: "http://origin.test/a.mp3")
        let isSwept = Lock(false)
        world.files.setRule { operation, path, _ in
            let isMoment = operation == moment && path.contains(folder)
            guard isMoment,
                isSwept.withLock({ wasSwept in
                    defer { wasSwept = true }
                    return !wasSwept
                })
            else { return nil }
            world.cache.housekeeper.sweep {}
            world.queues.settle()
            return nil
        }
        play(world, "/a.mp3", length: Self.mega)
        #expect(isSwept.withLock { $0 })
        #expect(isStored(world, "/a.mp3", length: Self.mega))
    }

    @Test func `a burst of things played once does not flush what is played daily, bug15`() throws {
        let world = try makeWorld(.init(bytes: 20 * Self.mega))
        for _ in 0..<3 {
            for number in 0..<5 { play(world, "/daily\(number).mp3", length: Self.mega) }
            world.queues.advance(86_400 * second)
        }
        for number in 0..<40 { play(world, "/burst\(number).mp3", length: Self.mega) }
        #expect(world.memory.allocatedBytes <= 20 * Self.mega)
        for number in 0..<5 { #expect(isStored(world, "/daily\(number).mp3", length: Self.mega)) }
    }

    @Test func `pinned entries stay, and where they fill the quota the rest plays and is not kept, inv21 inv22`() throws
    {
        let world = try makeWorld(.init(bytes: 4 * Self.mega))
        let recorder = Recorder<CacheEvent>()
        let subscription = world.cache.onEvent { recorder.add($0) }
        defer { withExtendedLifetime(subscription) {} }
        for number in 0..<3 {
            world.put("/pinned\(number).mp3", length: Self.mega)
            let player = world.player("/pinned\(number).mp3")
            player.play()
            world.queues.settle()
            for session in world.cache.openEntries { #expect(try session.setPinned(true)) }
            player.handle.leave()
            world.queues.advance(40 * second)
        }
        for number in 0..<4 { play(world, "/other\(number).mp3", length: 2 * Self.mega) }
        #expect(world.takenByEntries <= 4 * Self.mega)
        for number in 0..<3 { #expect(isStored(world, "/pinned\(number).mp3", length: Self.mega)) }
        #expect(
            recorder.all.contains { if case .degraded(_, let reason) = $0 { reason.contains("unpin") } else { false } })
    }

    @Test func `what is too old goes though there is room, bug15`() throws {
        let world = try makeWorld(.init(age: .days(10)))
        play(world, "/old.mp3", length: Self.mega)
        world.queues.advance(11 * 86_400 * second)
        play(world, "/new.mp3", length: Self.mega)
        world.queues.advance(3600 * second)
        #expect(entries(world) == 1)
        #expect(isStored(world, "/new.mp3", length: Self.mega))
        #expect(!isStored(world, "/old.mp3", length: Self.mega))
    }

    @Test func `a film larger than the quota plays to its end, can be sought back, and the quota holds, inv21 bug15`()
        throws
    {
        let quota = 16 * Self.mega
        let length = 48 * Self.mega + 7
        let world = try makeWorld(.init(bytes: quota))
        world.put("/film.mp4", length: length)
        let player = world.player("/film.mp4")
        var most: Int64 = 0
        for part in 1...48 {
            player.play(to: Int64(part) * Self.mega)
            most = max(most, world.memory.allocatedBytes)
        }
        player.play()
        #expect(player.isAtEnd && player.violation == nil && player.failure == nil)
        #expect(most <= quota, "\(most)")
        #expect(world.origin.bodyBytes == length, "nothing was paid for twice")
        player.seek(to: 3 * Self.mega)
        player.play(to: 20 * Self.mega)
        #expect(player.violation == nil && player.failure == nil && player.position == 20 * Self.mega)
        #expect(world.memory.allocatedBytes <= quota)
        // What was played last is still there.
        let bytes = world.origin.bodyBytes
        player.seek(to: 19 * Self.mega)
        player.play(to: 20 * Self.mega)
        #expect(world.origin.bodyBytes == bytes)
        player.handle.leave()
        #expect(world.cache.statistics.damagedBlocks == 0)
    }

    @Test func `a slow and a fast player of a film larger than the quota, inv21 inv27`() throws {
        let quota = 16 * Self.mega
        let length = 40 * Self.mega
        let world = try makeWorld(.init(bytes: quota))
        world.put("/film.mp4", length: length)
        let fast = world.player("/film.mp4")
        let slow = world.player("/film.mp4")
        var most: Int64 = 0
        for part in 1...40 {
            fast.play(to: Int64(part) * Self.mega)
            slow.play(to: Int64(part) * Self.mega / 4)
            most = max(most, world.memory.allocatedBytes)
        }
        slow.play()
        fast.play()
        #expect(fast.isAtEnd && slow.isAtEnd && fast.violation == nil && slow.violation == nil)
        #expect(most <= quota, "\(most)")
        fast.handle.leave()
        slow.handle.leave()
    }

    @Test func `leased bytes are not punched, however short room is, inv27`() throws {
        let world = try makeWorld(.init(bytes: 100 * Self.mega))
        world.put("/film.mp4", length: 40 * Self.mega)
        world.play("/film.mp4").expectWhole(40 * Self.mega)
        let slow = world.player("/film.mp4")
        slow.play(to: 64 * 1024)
        var leases: [ReaderLease] = []
        let content = PositionCodedContent(length: 40 * Self.mega)
        for _ in 0..<4 {
            if case .lease(let lease) = slow.handle.step(limit: 1 << 20, wake: {}) { leases.append(lease) }
        }
        #expect(!leases.isEmpty)
        // Somebody jumps far ahead: what the leases cover is far behind it, and room is needed.
        slow.handle.seek(to: 39 * Self.mega)
        try world.cache.setLimits(.init(bytes: 8 * Self.mega))
        world.queues.settle()
        for lease in leases {
            let bytes = try lease.read()
            #expect(content.firstMismatch(bytes, at: lease.range.lowerBound) == nil)
        }
        let before = world.memory.allocatedBytes
        leases = []
        world.queues.advance(10 * second)
        slow.handle.leave()
        world.queues.advance(40 * second)
        #expect(world.memory.allocatedBytes < before, "what waited for the leases went after them")
    }

    @Test func `limits can be changed while it runs, and 0 is refused`() throws {
        let world = try makeWorld(.none)
        for number in 0..<8 { play(world, "/\(number).mp3", length: Self.mega) }
        #expect(entries(world) == 8)
        #expect(throws: CacheError.self) { try world.cache.setLimits(.init(bytes: 0)) }
        try world.cache.setLimits(.init(bytes: 4 * Self.mega))
        world.queues.settle()
        #expect(world.memory.allocatedBytes <= 4 * Self.mega)
        #expect(world.cache.limits.bytes == 4 * Self.mega)
    }

    @Test func `the volume's free space is kept though others fill it, inv21`() throws {
        let world = try makeWorld(.init(freeSpace: 4 * Self.mega))
        world.memory.setCapacity(64 * Self.mega)
        for number in 0..<20 { play(world, "/\(number).mp3", length: 4 * Self.mega) }
        #expect(world.memory.allocatedBytes <= 60 * Self.mega)
        #expect(entries(world) > 5)
        // Somebody else takes what is left.
        world.memory.setCapacity(world.memory.allocatedBytes + 100_000)
        play(world, "/more.mp3", length: 4 * Self.mega)
        play(world, "/again.mp3", length: 4 * Self.mega)
        #expect(try world.memory.space("/").free >= 4 * Self.mega)
        #expect(isStored(world, "/again.mp3", length: 4 * Self.mega))
    }

    @Test func `a volume that is out of files is given some back`() throws {
        let world = try makeWorld(.init(freeFiles: 20))
        for number in 0..<10 { play(world, "/\(number).mp3", length: 10_000) }
        #expect(entries(world) == 10)
        world.memory.setNodeLimit(60)
        try world.cache.setLimits(.init(freeFiles: 20))
        world.queues.settle()
        #expect(entries(world) < 10)
        #expect(try world.memory.space("/").freeFiles ?? 0 >= 20)
    }

    @Test func `a disk that was full stores again while the same player plays on, inv22`() throws {
        let world = try makeWorld(.none)
        let recorder = Recorder<CacheEvent>()
        let subscription = world.cache.onEvent { recorder.add($0) }
        defer { withExtendedLifetime(subscription) {} }
        let length: Int64 = 40_000_000
        world.put("/a", length: length) { $0.bytesPerSecond = 1_000_000 }
        let player = world.player("/a")
        player.play(to: 2_000_000)
        world.memory.setCapacity(world.memory.allocatedBytes + 100_000)
        player.play(to: 12_000_000)
        #expect(world.memory.allocatedBytes < 3_000_000)
        world.memory.setCapacity(1 << 40)
        player.finish()
        player.expectWhole(length)
        #expect(world.origin.bodyBytes <= length + 1 << 20, "at most a window is fetched again")
        #expect(recorder.all.count { if case .degraded = $0 { true } else { false } } == 1, "it is said once")
        world.queues.advance(60 * second)
        let before = world.origin.bodyBytes
        world.play("/a").expectWhole(length)
        #expect(world.origin.bodyBytes - before < 20_000_000, "what came after there was room was kept")
    }

    @Test func `a disk that was full from the first byte stores once there is room, inv22`() throws {
        let world = try makeWorld(.none)
        let length: Int64 = 20_000_000
        world.put("/a", length: length) { $0.bytesPerSecond = 1_000_000 }
        world.memory.setCapacity(world.memory.allocatedBytes)
        let player = world.player("/a")
        player.play(to: 4_000_000)
        world.memory.setCapacity(1 << 40)
        player.finish()
        player.expectWhole(length)
        world.queues.advance(60 * second)
        #expect(entries(world) == 1)
        let before = world.origin.bodyBytes
        world.play("/a").expectWhole(length)
        #expect(world.origin.bodyBytes - before < 12_000_000)
    }

    @Test func `a request may ask that nothing is stored for it; what is stored is used`() throws {
        let world = try makeWorld(.none)
        world.put("/a", length: Self.mega)
        let url = try #require(OriginURL("http://origin.test/a"))
        let resource = world.cache.resource(for: url, storing: .doNotStore)
        let first = Player(world, "/a", .from(0), resource: resource)
        first.finish()
        first.expectWhole(Self.mega)
        world.queues.advance(40 * second)
        #expect(entries(world) == 0)
        // Somebody who keeps comes while it plays: from there on it is kept.
        world.play("/a", ByteRange(0, 300_000)).handle.leave()
        world.queues.advance(40 * second)
        #expect(entries(world) == 1)
        let before = world.origin.bodyBytes
        let second = Player(world, "/a", .from(0), resource: resource)
        second.finish()
        second.expectWhole(Self.mega)
        #expect(world.origin.bodyBytes - before < Self.mega - 200_000)
        let stored = world.memory.allocatedBytes
        #expect(stored < 700_000)
    }

    @Test func `what is fetched to be kept is not given back for its own end, and other things go for it, inv02 inv21`()
        async throws
    {
        let world = try makeWorld(.init(bytes: 20 * Self.mega))
        for number in 0..<19 { play(world, "/\(number).mp3", length: Self.mega) }
        let length = 14 * Self.mega
        world.put("/film.mp3", length: length)
        let paid = world.origin.bodyBytes
        let fetch = film(world).prefetch(.whole)
        for _ in 0..<600 where !fetch.hasEnded { world.queues.advance(second) }
        #expect(fetch.progress.failure == nil && fetch.progress.isComplete)
        #expect(world.origin.bodyBytes - paid <= length + Self.mega)
        #expect(world.memory.allocatedBytes <= 20 * Self.mega)
        #expect(isStored(world, "/film.mp3", length: length))
    }

    @Test func `what is larger than the whole store is not fetched to be kept, and nothing goes for it, inv21`() throws
    {
        let world = try makeWorld(.init(bytes: 10 * Self.mega))
        for number in 0..<6 { play(world, "/\(number).mp3", length: Self.mega) }
        world.put("/film.mp3", length: 30 * Self.mega)
        let paid = world.origin.bodyBytes
        let fetch = film(world).prefetch(.whole)
        for _ in 0..<600 where !fetch.hasEnded { world.queues.advance(second) }
        #expect(fetch.progress.failure?.code == .store)
        #expect(world.origin.bodyBytes - paid <= 2 * Self.mega)
        for number in 0..<6 { #expect(isStored(world, "/\(number).mp3", length: Self.mega)) }
    }
}
