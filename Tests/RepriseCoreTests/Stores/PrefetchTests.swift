import RepriseCore
import RepriseRanges
import RepriseTesting
import Testing

/// Fetching ahead.
@Suite struct PrefetchTests {
    static let length: Int64 = 2_000_001
    private let directory = TemporaryDirectory()
    private let stage = Stage()

    private func open() throws -> MediaCache {
        try MediaCache(at: .directory(directory.path + "/store"), client: stage.client)
    }

    @Test func `the whole is fetched, with the holes that seeking left, and nothing twice, inv10`() async throws {
        stage.put("/film.mp4", length: Self.length)
        let cache = try open()
        try await stage.read("/film.mp4", ByteRange(0, 100_000), from: cache)
        try await stage.read("/film.mp4", ByteRange(1_500_000, 1_600_000), from: cache)
        let prefetch = try cache.prefetch(stage.url("/film.mp4"))
        try await prefetch.value
        #expect(prefetch.hasEnded && prefetch.progress.isComplete)
        #expect(prefetch.progress.stored == Self.length && prefetch.progress.expected == Self.length)
        #expect(stage.origin.bodyBytes == Self.length)
        #expect(try await cache.resource(for: stage.url("/film.mp4")).storedEntry()?.ranges.count == Self.length)
        // Nobody reads any more: what is stored may be closed and evicted.
        #expect(cache.activity.readers == 0)
        await cache.close()
    }

    @Test(arguments: [PrefetchPart.bytes(300_000), .range(ByteRange(0, 300_000))])
    func `a part costs its bytes and no more than one request asks for beyond`(_ part: PrefetchPart) async throws {
        stage.put("/film.mp4", length: Self.length)
        let cache = try open()
        let prefetch = try cache.prefetch(stage.url("/film.mp4"), part)
        try await prefetch.value
        #expect(prefetch.progress.stored == 300_000)
        #expect(stage.origin.bodyBytes == 300_000)
        await cache.close()
    }

    @Test func `one that is cancelled ends with that, and what came is stored`() async throws {
        // So long that it cannot end by itself, however busy the machine is.
        stage.put("/film.mp4", length: 1 << 30) { $0.bytesPerSecond = 500_000 }
        let cache = try open()
        let prefetch = try cache.prefetch(stage.url("/film.mp4"))
        #expect(await eventually { prefetch.progress.stored >= 300_000 })
        prefetch.cancel()
        await #expect(throws: CancellationError.self) { try await prefetch.value }
        #expect(prefetch.hasEnded && !prefetch.progress.isComplete)
        #expect(prefetch.progress.stored >= 300_000)
        await cache.close()
    }

    @Test func `what the origin does not have is told, and what cannot be kept is not fetched`() async throws {
        let cache = try open()
        let missing = try cache.prefetch(stage.url("/nothing"))
        await #expect(throws: CacheError.self) { try await missing.value }
        #expect(missing.progress.failure?.code == .originRefused(status: 404))
        await cache.close()
        stage.put("/film.mp4", length: Self.length)
        let passing = MediaCache(store: nil, client: stage.client)
        let prefetch = try passing.prefetch(stage.url("/film.mp4"))
        await #expect(throws: CacheError.self) { try await prefetch.value }
        #expect(prefetch.progress.failure?.code == .store)
        await passing.close()
    }
}
