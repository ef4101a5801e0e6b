import Foundation
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

@testable import RepriseCore

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
        let prefetch = try cache.prefetch(stage.url("/film.mp4"), .whole)
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

    @Test func `what is removed while it is fetched is not fetched on, and not called stored, inv10`() async throws {
        stage.put("/film.mp4", length: 50_000_000) { $0.bytesPerSecond = 5_000_000 }
        let cache = try open()
        let prefetch = try cache.prefetch(stage.url("/film.mp4"), .whole)
        #expect(await eventually { prefetch.progress.stored > 100_000 })
        try await cache.remove(stage.url("/film.mp4"))
        let error = await #expect(throws: CacheError.self) { try await prefetch.value }
        #expect(error?.code == .store && !prefetch.progress.isComplete)
        #expect(stage.origin.bodyBytes < 25_000_000)
        await cache.close()
    }

    @Test func `what is too far out to be stored is not fetched ahead again and again, inv10`() throws {
        let world = try World()
        world.put("/film.mp4", length: 1 << 50)
        let resource = world.cache.resource(for: OriginURL("http://origin.test/film.mp4")!)
        let failure = Shared<CacheError?>(nil)
        let hasEnded = Shared(false)
        Task(executorPreference: world.queues) {
            do { try await RangeFetch(resource, ByteRange(offset: 1 << 49, count: 300_000)).run() } catch {
                failure.set(error as? CacheError)
            }
            hasEnded.set(true)
        }
        world.queues.advance(60 * second)
        #expect(hasEnded.value && failure.value?.code == .store)
        #expect(world.origin.bodyBytes <= 1_000_000, "it was paid for again and again")
    }

    @Test func `a head is what the container says, and fetching it again after a restart costs nothing, inv13`()
        async throws
    {
        // A tag of half the file, then 128 kbit/s.
        let tag: [UInt8] = Array("ID3".utf8) + [4, 0, 0, 0, 0x40, 0, 0] + [UInt8](repeating: 1, count: 1 << 20)
        let file = tag + [0xFF, 0xFB, 0x90, 0x64] + [UInt8](repeating: 2, count: 3 << 20)
        stage.origin.put(.init(literal: file), at: "/song.mp3")
        let wanted = Int64(tag.count) + 100_000 + ContainerHead.slack + 160
        for isAgain in [false, true] {
            let cache = try open()
            let prefetch = try cache.prefetch(stage.url("/song.mp3"))
            try await prefetch.value
            #expect(prefetch.progress.isComplete && prefetch.progress.stored == wanted)
            let more = try cache.prefetch(stage.url("/song.mp3"), .seconds(2))
            try await more.value
            #expect(more.progress.isComplete && more.progress.stored < wanted)
            #expect(stage.origin.bodyBytes <= wanted + 2 * 32_768)
            if isAgain { #expect(stage.origin.requestCount == 0 && stage.origin.bodyBytes == 0) }
            #expect(cache.statistics.served == 0)
            await cache.close()
            stage.origin.resetLog()
        }
    }

    @Test func `few go on at a time, the others by priority, and one that is cancelled gives its turn away`()
        async throws
    {
        stage.put("/slow", length: 1 << 30) { $0.bytesPerSecond = 500_000 }
        for name in ["/low", "/normal", "/high"] { stage.put(name, length: 1000) }
        var configuration = MediaCache.Configuration()
        configuration.prefetching.parallel = 1
        let cache = try MediaCache(
            at: .directory(directory.path + "/store"), client: stage.client, configuration: configuration)
        let slow = try cache.prefetch(stage.url("/slow"), .whole)
        #expect(await eventually { stage.origin.requestCount == 1 })
        let rest = try [("/low", PrefetchPriority.low), ("/normal", .normal), ("/high", .high)].map { name, priority in
            try cache.prefetch(stage.url(name), .whole, priority: priority)
        }
        let given = try cache.prefetch(stage.url("/never"), .whole)
        #expect(await eventually { cache.waitingPrefetches == 4 })
        given.cancel()
        await #expect(throws: CancellationError.self) { try await given.value }
        slow.cancel()
        for prefetch in rest { try await prefetch.value }
        #expect(stage.origin.log.map(\.path).filter { $0 != "/slow" } == ["/high", "/normal", "/low"])
        await cache.close()
    }

    @Test func `bytes are paid for at the rate that is set, and what was not used is not saved up`() {
        var pace = PrefetchPace(bytesPerSecond: 1000)
        #expect(pace.due(after: 500, now: 0) == second / 2)
        #expect(pace.due(after: 500, now: second / 4) == second)
        #expect(pace.due(after: 1000, now: 10 * second) == 11 * second)
        #expect(pace.due(after: .max, now: 10 * second) > 100_000 * second)
        var free = PrefetchPace(bytesPerSecond: nil)
        #expect(free.due(after: .max, now: 7) == 7)
        var tiny = PrefetchPace(bytesPerSecond: 0)
        #expect(tiny.due(after: 1, now: 0) == second)
    }

    @Test func `one that is cancelled ends with that, and what came is stored`() async throws {
        // So long that it cannot end by itself, however busy the machine is.
        stage.put("/film.mp4", length: 1 << 30) { $0.bytesPerSecond = 500_000 }
        let cache = try open()
        let prefetch = try cache.prefetch(stage.url("/film.mp4"), .whole)
        #expect(await eventually { prefetch.progress.stored >= 300_000 })
        prefetch.cancel()
        await #expect(throws: CancellationError.self) { try await prefetch.value }
        #expect(prefetch.hasEnded && !prefetch.progress.isComplete)
        #expect(prefetch.progress.stored >= 300_000)
        await cache.close()
    }

    @Test func `what the origin does not have is told, and what cannot be kept is not fetched`() async throws {
        let cache = try open()
        let missing = try cache.prefetch(stage.url("/nothing"), .whole)
        await #expect(throws: CacheError.self) { try await missing.value }
        #expect(missing.progress.failure?.code == .originRefused(status: 404))
        await cache.close()
        stage.put("/film.mp4", length: Self.length)
        let passing = MediaCache(store: nil, client: stage.client)
        let prefetch = try passing.prefetch(stage.url("/film.mp4"), .whole)
        await #expect(throws: CacheError.self) { try await prefetch.value }
        #expect(prefetch.progress.failure?.code == .store)
        await passing.close()
    }

    @Test func `a part that is too short to tell media from a page is kept, though nobody tells the length, inv26`()
        throws
    {
        let world = try World(pieceSize: 64)
        world.put("/a", length: 5000) { ($0.ranges, $0.framing) = (.ignored, .chunked) }
        // What is in memory by now is not asked for again.
        let first = world.player("/a", ByteRange(0, 100))
        while !first.isAtEnd, world.queues.runOne(until: second) { first.take() }
        first.leave()
        let url = try #require(URL(string: "http://origin.test/a"))
        let prefetch = try world.cache.prefetch(url, .bytes(100))
        world.queues.advance(60 * second)
        #expect(prefetch.hasEnded && prefetch.progress.isComplete)
        world.origin.setDown(true)
        let player = world.play("/a", ByteRange(0, 100))
        #expect(player.isAtEnd && player.violation == nil)
        player.leave()
    }

    @Test func `what a refused range alone shows the end of is kept, however short, inv26`() throws {
        let world = try World()
        world.put("/a", length: 300) { ($0.contentRange, $0.tellsTotalInRefusals) = (.unknownTotal, false) }
        let url = try #require(URL(string: "http://origin.test/a"))
        let prefetch = try world.cache.prefetch(url, .bytes(100))
        world.queues.advance(60 * second)
        #expect(prefetch.hasEnded && prefetch.progress.isComplete)
        world.origin.setDown(true)
        world.play("/a", ByteRange(0, 100)).expectWhole(100)
    }
}
