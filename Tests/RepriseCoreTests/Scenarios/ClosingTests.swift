import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseCore

/// A cache that is closed has ended all that it did, whatever the disk does, and asks the origin for nothing.
@Suite struct ClosingTests {
    static let length: Int64 = 2_000_001

    /// Starts work; answers what tells whether it has ended.
    private func start(_ world: World, _ work: @escaping @Sendable () async throws -> Void) -> Shared<Bool> {
        let hasEnded = Shared(false)
        Task(executorPreference: world.queues) {
            do { try await work() } catch {}
            hasEnded.set(true)
        }
        return hasEnded
    }

    private func resource(_ path: String, of world: World) -> MediaResource {
        world.cache.resource(for: OriginURL("http://origin.test" + path)!)
    }

    @Test func `closing while bytes wait for space waits without work, inv26`() throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.bytesPerSecond = 500_000 }
        let player = world.player("/a")
        player.play(to: 100_000)
        try world.cache.setLimits(.init(bytes: 4096))
        func waitsForSpace(_ entry: ActiveEntry) -> Bool {
            entry.look { $0.representations.contains { $0.storage.waitsForSpaceSince != nil } }
        }
        while !world.cache.openEntries.contains(where: waitsForSpace) { world.queues.runOne(until: .max) }
        world.queues.tellCircles(after: 10_000)
        let cache = world.cache
        let hasClosed = start(world) { await cache.close() }
        world.queues.advance(second)
        #expect(hasClosed.value)
        #expect(!world.queues.goesInCircles)
    }

    @Test func `a comparison ends with the cache, before and after it has asked the origin, inv26`() throws {
        for delay in [0, 250 * millisecond, second] {
            let world = try World()
            world.put("/a", length: Self.length)
            world.play("/a").expectWhole(Self.length)
            world.queues.advance(second)
            world.origin.change("/a") { $0.behaviour.bytesPerSecond = 100_000 }
            world.queues.setDiskDelay(read: 200 * millisecond, write: 0)
            let (cache, resource) = (world.cache, resource("/a", of: world))
            let hasCompared = start(world) { _ = try await resource.compareWithOrigin() }
            world.queues.advance(delay)
            let hasClosed = start(world) { await cache.close() }
            world.queues.settle()
            let requests = world.origin.requestCount
            let bytes = world.origin.bodyBytes
            world.queues.advance(30 * second)
            #expect(hasClosed.value)
            #expect(hasCompared.value)
            #expect(world.origin.requestCount == requests)
            #expect(world.origin.bodyBytes - bytes <= 64 * 1024)
        }
    }

    @Test func `a file that is waited for ends with the cache while the disk hangs and the store is given away, inv26`()
        throws
    {
        let world = try World(blockSize: 64, pieceSize: 64) { $0.tuning.firstRequest = 512 }
        world.put("/a", length: 233) { $0.bytesPerSecond = 20_000 }
        let (cache, resource) = (world.cache, resource("/a", of: world))
        let hasFile = start(world) { _ = try await resource.fileURL(afterBytes: 500) }
        world.queues.settle()
        world.queues.setDiskDelay(read: 100 * second, write: 100 * second)
        world.queues.advance(100 * millisecond)
        let isSuspended = start(world) { await cache.suspend() }
        world.queues.settle()
        let hasClosed = start(world) { await cache.close() }
        world.queues.advance(130 * second)
        #expect(isSuspended.value)
        #expect(hasClosed.value)
        world.queues.setDiskDelay(read: 0, write: 0)
        world.queues.advance(300 * second)
        #expect(hasFile.value)
    }
}
