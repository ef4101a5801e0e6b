import RepriseHTTP
import ReprisePlatform
import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseCore

/// What a store holds is known at a start, without a look at its entries where they have not changed.
@Suite struct CensusTests {
    private static let length: Int64 = 300_000

    private func world(_ configure: (inout MediaCache.Configuration) -> Void = { _ in }) throws -> World {
        let world = try World(configure: configure)
        for number in 0..<4 { play(world, number) }
        return world
    }

    private func play(_ world: World, _ number: Int) {
        world.put("/\(number).mp3", length: Self.length)
        world.play("/\(number).mp3").expectWhole(Self.length)
    }

    /// Files of entries that were opened since the counts were reset.
    private func noteOpened(_ world: World) -> Recorder<String> {
        let opened = Recorder<String>()
        world.files.setRule { operation, path, _ in
            if operation == .open, path.contains("/info.json") || path.contains("/blocks.") { opened.add(path) }
            return nil
        }
        return opened
    }

    private func expectCounted(_ world: World, _ entries: Int, location: SourceLocation = #_sourceLocation) {
        world.queues.advance(10 * second)
        let usage = world.cache.usageAtOpening
        #expect(usage?.entries == entries, sourceLocation: location)
        #expect(usage?.stored == Int64(entries) * Self.length, sourceLocation: location)
        #expect(usage?.allocated == world.cache.environment.quota.known, sourceLocation: location)
    }

    @Test func `after a close no entry is opened to count it, inv21`() throws {
        let world = try world()
        let opened = noteOpened(world)
        try world.restart()
        let whileEnding = opened.all.count
        expectCounted(world, 4)
        #expect(opened.all.count == whileEnding)
        // What is stored since counts, too.
        play(world, 4)
        try world.restart()
        expectCounted(world, 5)
    }

    @Test func `how full a closed store is is known at once, and it is gone through a second later, inv21`() throws {
        let world = try world()
        try world.restart()
        world.queues.settle()
        #expect(world.cache.environment.quota.known ?? 0 >= 4 * Self.length)
        #expect(world.cache.usageAtOpening == nil, "who uses it for a moment goes through nothing")
        world.queues.advance(2 * second)
        #expect(world.cache.usageAtOpening?.entries == 4)
    }

    @Test func `after a kill each entry is counted, and after the next close none, inv04`() throws {
        let world = try world()
        world.queues.advance(60 * second)
        try world.kill()
        let opened = noteOpened(world)
        expectCounted(world, 4)
        #expect(Set(opened.all.filter { $0.contains("info.json") }).count == 4)
        try world.restart()
        let whileEnding = opened.all.count
        expectCounted(world, 4)
        #expect(opened.all.count == whileEnding)
    }

    @Test func `a sweep opens none but those it removes and those that are read, inv21`() throws {
        let world = try world { $0.limits.bytes = 4 << 20 }
        try world.restart()
        expectCounted(world, 4)
        let player = world.player("/3.mp3")
        player.play(to: 1)
        let opened = noteOpened(world)
        world.cache.housekeeper.sweep {}
        world.queues.settle()
        #expect(Set(opened.all.map { $0.prefix { $0 != "." } }).count <= 2)
        player.finish()
    }

    @Test
    func `a disk that does not take the index is tried at times, told of once, and has it when it takes it, inv22`()
        throws
    {
        let world = try world()
        try world.restart()
        let told = Recorder<CacheEvent>()
        let subscription = world.cache.onEvent { told.add($0) }
        let tried = Lock(0)
        world.files.setRule { operation, path, _ in
            guard operation == .write, path.hasSuffix("/index") else { return nil }
            tried.withLock { $0 += 1 }
            return .error(FileError.noSpace)
        }
        for number in 4..<10 {
            play(world, number)
            world.queues.advance(10 * second)
        }
        #expect((3...8).contains(tried.withLock(\.self)))
        #expect(told.all.filter { if case .degraded = $0 { true } else { false } }.count == 1)
        world.files.setRule(nil)
        world.queues.advance(11 * second)
        try world.restart()
        expectCounted(world, 10)
        withExtendedLifetime(subscription) {}
    }

    @Test func `the whole of an entry that is being filled counts in a sweep, inv21`() throws {
        let world = try world { $0.limits.bytes = 64 << 20 }
        world.put("/long.mp3", length: 4 << 20)
        let player = world.player("/long.mp3")
        // Its summary is written while it is filled, and is behind afterwards.
        player.play(to: 1 << 20)
        world.queues.advance(6 * second)
        player.play(to: 3 << 20)
        world.queues.settle()
        let used = world.cache.environment.quota.used
        world.cache.housekeeper.sweep {}
        world.queues.settle()
        #expect(world.cache.environment.quota.used >= 3 << 20)
        #expect(world.cache.environment.quota.used >= used - 5 * Quota.entryCost)
        player.finish()
    }

    @Test func `what another process stored is known when the store is taken back, inv25`() async throws {
        let world = try world()
        world.queues.settle()
        let store = try #require(world.cache.environment.store)
        let known = try #require(world.cache.environment.quota.known)
        world.cache.closeIndex(of: store, session: store.indexSession) { store.release() }
        world.queues.settle()
        let other = try world.openElsewhere()
        world.queues.advance(10 * second)
        let theirs = try #require(other.environment.store)
        _ = try theirs.stage(
            EntryInfo(
                key: "b", url: "http://origin.test/b", generation: 0, identity: 5, fileExtension: "mp3",
                validator: Validator(entityTag: nil), length: 10, servesRanges: true, fields: [:], checked: 0))
        try theirs.remove(key: "http://origin.test/0.mp3")
        other.closeIndex(of: theirs, session: theirs.indexSession) { theirs.release() }
        world.queues.settle()
        try store.takeBack()
        world.cache.beginWithStore()
        world.queues.advance(10 * second)
        #expect(world.cache.usageAtOpening?.entries == 3)
        let now = try #require(world.cache.environment.quota.known)
        #expect(now < known - Self.length / 2)
    }
}
