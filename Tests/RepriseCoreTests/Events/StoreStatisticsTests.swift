import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseStorage
import RepriseTesting
import Testing

/// Sums that survive restarts.
@Suite struct StoreStatisticsTests {
    enum Kind: CaseIterable, Sendable { case plain, sealed }

    private static let key = SealKey((0..<32).map { UInt8($0) })!
    private static let path = "/store/statistics"

    private func world(_ kind: Kind = .plain) throws -> World {
        let world = try World { if kind == .sealed { $0.seal = Seal(Self.key) } }
        world.put("/a.mp3", length: 100_000)
        return world
    }

    private func total(_ world: World) -> StoreStatistics {
        world.cache.knownStoreStatistics
    }

    /// Time passes in which what was counted is written.
    private func restart(_ world: World) throws {
        world.queues.advance(61 * second)
        try world.restart()
        world.queues.settle()
    }

    // MARK: The ledger

    private func sums(_ served: Int64) -> CacheStatistics {
        var sums = CacheStatistics()
        sums.served = served
        return sums
    }

    @Test func `what is due is the file and what came since it was written`() {
        var ledger = CumulativeStatistics(at: 50)
        #expect(ledger.due(sums(0)) == nil)
        #expect(ledger.total(sums(3)) == StoreStatistics(sums: sums(3), since: 50))
        ledger.read(nil, at: 60)
        #expect(ledger.due(sums(10))?["served"] == 10 && ledger.due(sums(10))?["since"] == 50)
        ledger.wrote(sums(10))
        #expect(ledger.due(sums(10)) == nil)
        #expect(ledger.total(sums(15)).sums.served == 15)
        ledger.read(["served": 10, "since": 50], at: 99)
        #expect(ledger.due(sums(15))?["served"] == 15 && ledger.due(sums(15))?["since"] == 50)
    }

    @Test func `what another process counted between two writes is kept`() {
        var ledger = CumulativeStatistics(at: 0)
        ledger.read(["served": 100, "since": 1], at: 5)
        ledger.wrote(sums(7))
        ledger.read(["served": 1107, "since": 1], at: 6)
        #expect(ledger.due(sums(9))?["served"] == 1109)
    }

    @Test func `a file that was lost costs what was in it, no more`() {
        var ledger = CumulativeStatistics(at: 0)
        ledger.read(nil, at: 1)
        ledger.wrote(sums(100))
        ledger.read(nil, at: 77)
        #expect(ledger.total(sums(130)) == StoreStatistics(sums: sums(30), since: 77))
    }

    // MARK: In a cache

    @Test(arguments: Kind.allCases)
    func `totals go on after a restart, and what is new begins at zero`(kind: Kind) throws {
        let world = try world(kind)
        world.play("/a.mp3").expectWhole(100_000)
        world.play("/a.mp3").expectWhole(100_000)
        let since = total(world).since
        try restart(world)
        #expect(world.cache.statistics == CacheStatistics())
        world.play("/a.mp3").expectWhole(100_000)
        let sums = total(world)
        #expect(sums.sums.served == 300_000 && sums.sums.fromOrigin == 100_000 && sums.sums.saved == 200_000)
        #expect(sums.sums.hits == 2 && sums.sums.misses == 1 && sums.sums.readers == 3)
        #expect(sums.since == since)
        try restart(world)
        #expect(total(world).sums.served == 300_000)
    }

    @Test(arguments: Kind.allCases)
    func `an entry's sums go on after a restart and go with it`(kind: Kind) throws {
        let world = try world(kind)
        world.play("/a.mp3").expectWhole(100_000)
        try restart(world)
        world.play("/a.mp3").expectWhole(100_000)
        try restart(world)
        let key = "http://origin.test/a.mp3"
        let store = try #require(world.cache.environment.store)
        let found = try #require(try store.storedRanges(key: key)).0.statistics
        #expect(found.served == 200_000 && found.fromOrigin == 100_000 && found.hitRatio == 0.5)
        try store.remove(key: key)
        world.play("/a.mp3").expectWhole(100_000)
        try restart(world)
        let fresh = try #require(try world.cache.environment.store?.storedRanges(key: key)).0.statistics
        #expect(fresh.served == 100_000 && fresh.fromOrigin == 100_000)
    }

    @Test func `a process that is killed loses what was not written, and nothing else, inv04`() throws {
        let world = try world()
        world.play("/a.mp3").expectWhole(100_000)
        world.queues.advance(61 * second)
        world.play("/a.mp3").expectWhole(100_000)
        try world.kill()
        world.queues.settle()
        #expect(total(world).sums.served == 100_000)
    }

    @Test func `a damaged file begins anew without harm, inv05`() throws {
        let world = try world()
        world.play("/a.mp3").expectWhole(100_000)
        try restart(world)
        try world.memory.replace(Self.path, with: Array("reprise statistics 1\nserved 9".utf8))
        try restart(world)
        #expect(total(world).sums == CacheStatistics())
        world.play("/a.mp3").expectWhole(100_000)
        #expect(world.cache.statistics.fromOrigin == 0)
        try restart(world)
        #expect(total(world).sums.served == 100_000)
    }

    @Test func `what is played from the store writes its sums at most once a minute, and nothing while nothing plays`()
        throws
    {
        let world = try world()
        world.play("/a.mp3").expectWhole(100_000)
        world.queues.advance(200 * second)
        let writes = Lock(0)
        world.files.setRule { operation, path, _ in
            if operation == .write, path.hasPrefix(Self.path) { writes.withLock { $0 += 1 } }
            return nil
        }
        for _ in 0..<120 {
            world.play("/a.mp3").expectWhole(100_000)
            world.queues.advance(second)
        }
        #expect(writes.withLock { $0 } <= 2)
        world.queues.advance(3600 * second)
        #expect(writes.withLock { $0 } <= 3)
        #expect(total(world).sums.served == 121 * 100_000)
    }

    @Test func `a disk that takes no sums is told of once, and they are written when it does, inv22`() throws {
        let world = try world()
        let recorder = Recorder<CacheEvent>()
        let subscription = world.cache.onEvent { recorder.add($0) }
        world.files.setRule { _, path, _ in path.hasPrefix(Self.path) ? .error(FileError.noSpace) : nil }
        for _ in 0..<4 {
            world.play("/a.mp3").expectWhole(100_000)
            world.queues.advance(90 * second)
        }
        let told = recorder.all.filter { if case .degraded = $0 { true } else { false } }
        #expect(told.count == 1)
        world.files.setRule(nil)
        world.play("/a.mp3").expectWhole(100_000)
        try restart(world)
        #expect(total(world).sums.served == 500_000)
        withExtendedLifetime(subscription) {}
    }

    /// A store on the disk and an origin with one resource, on real threads.
    private struct RealPlace {
        let files = FaultyVolume(DiskVolume())
        let url: OriginURL
        private let directory = TemporaryDirectory()
        private let queues = UnhurriedQueues()
        private let client: InMemoryOriginClient

        init(length: Int64) throws {
            let origin = ScriptedOrigin()
            origin.put(.init(PositionCodedContent(length: length), OriginBehaviour()), at: "/a.mp3")
            client = InMemoryOriginClient(origin: origin, queues: queues)
            url = try #require(OriginURL("http://origin.test/a.mp3"))
        }

        var root: String { directory.path + "/store" }

        func open(limit: Int64? = nil) throws -> (Store, MediaCache) {
            var configuration = MediaCache.Configuration()
            if let limit { configuration.limits.bytes = limit }
            let store = try Store(root: root, volume: files)
            return (store, MediaCache(store: store, client: client, configuration: configuration, queues: queues))
        }

        func play(_ cache: MediaCache) async throws {
            for try await _ in cache.resource(for: url).bytes() {}
        }
    }

    @Test func `closing writes what was counted, on real threads`() async throws {
        let place = try RealPlace(length: 50_000)
        for round in 1...3 {
            let (_, cache) = try place.open()
            let before = await cache.storeStatistics()
            #expect(before.sums.served == Int64(round - 1) * 50_000)
            try await place.play(cache)
            #expect(await cache.storeStatistics().sums.served == Int64(round) * 50_000)
            // At first its files may still be on their way.
            if round > 1 {
                let entry = try #require(try await cache.resource(for: place.url).statistics())
                #expect(entry.served == Int64(round) * 50_000 && entry.fromOrigin == 50_000)
            }
            await cache.close()
        }
    }

    @Test(arguments: [true, false])
    func `how full a store is it knows before each entry was seen where it was closed, not where it was killed, inv21`(
        isClosed: Bool
    ) async throws {
        let place = try RealPlace(length: 400_000)
        let (store, cache) = try place.open(limit: 1 << 20)
        try await place.play(cache)
        #expect(await eventually { cache.environment.quota.used > 400_000 })
        isClosed ? await cache.close() : store.release()
        let used = cache.environment.quota.used
        // No entry is seen.
        place.files.setRule { call, path, _ in
            call == .list && path.hasSuffix("/entries") ? .error(FileError.inputOutput) : nil
        }
        for _ in 0..<2 {
            let (_, next) = try place.open(limit: 1 << 20)
            _ = await next.storeStatistics()
            #expect(next.environment.quota.known == (isClosed ? used : nil))
            if isClosed { await next.close() } else { next.environment.store?.release() }
        }
    }

    @Test func `two that take turns with a store add to the same sums, inv25`() async throws {
        let place = try RealPlace(length: 50_000)
        let (_, first) = try place.open()
        try await place.play(first)
        await first.suspend()
        let (_, second) = try place.open()
        #expect(await second.storeStatistics().sums.served == 50_000)
        try await place.play(second)
        await second.close()
        #expect(await first.resume() == .ready)
        #expect(await first.storeStatistics().sums.served == 100_000)
        try await place.play(first)
        #expect(await first.storeStatistics().sums.served == 150_000)
        await first.close()
    }
}
