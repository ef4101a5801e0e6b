import Foundation
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseCore

/// Every operation of a cache ends, and an operation that needs no open resource leaves none behind.
@Suite struct OperationEndTests {
    private let stage = Stage()

    private func open(_ change: (inout MediaCache.Configuration) -> Void = { _ in }) throws -> MediaCache {
        var configuration = MediaCache.Configuration()
        change(&configuration)
        return MediaCache(
            store: try Store(root: "/store", volume: stage.memory), client: stage.client,
            configuration: configuration, queues: SystemWorkQueues())
    }

    /// Whether the work ends within the guard of all tests; what it throws counts as an end.
    private func ends(_ work: @escaping @Sendable () async throws -> Void) async -> Bool {
        let hasEnded = Lock(false)
        let task = Task {
            do { try await work() } catch {}
            hasEnded.withLock { $0 = true }
        }
        defer { task.cancel() }
        return await eventually { hasEnded.withLock { $0 } }
    }

    @Test func `fetching ahead into a full store ends, and lets later fetches through, inv26`() async throws {
        stage.put("/a", length: 8_000_000)
        for name in ["/b", "/c", "/d", "/e"] { stage.put(name, length: 300_000) }
        let cache = try open { $0.limits = StoreLimits(bytes: 2_000_000) }
        try await cache.pin(stage.url("/a"))
        try await stage.read("/a", from: cache)
        for name in ["/b", "/c", "/d", "/e"] {
            let prefetch = try cache.prefetch(stage.url(name), .bytes(200_000))
            #expect(await ends { try await prefetch.value })
            #expect(prefetch.hasEnded)
        }
        let url = stage.url("/e")
        #expect(await ends { _ = try await cache.resource(for: url).fileURL() })
        #expect(cache.waitingPrefetches == 0)
        await cache.close()
    }

    @Test(arguments: [OriginBehaviour.Framing.length, .chunked])
    func `a resource of zero bytes can be read, pinned and opened as a file, inv26`(
        framing: OriginBehaviour.Framing
    ) async throws {
        stage.put("/empty", length: 0) {
            $0.ranges = .ignored; $0.framing = framing
        }
        let cache = try open()
        #expect(try await stage.read("/empty", from: cache) == 0)
        let lease = try await cache.resource(for: stage.url("/empty")).fileURL()
        #expect(lease.progress.isComplete)
        try await cache.pin(stage.url("/empty"))
        #expect(try await cache.resource(for: stage.url("/empty")).storedEntry() != nil)
        await cache.close()
    }

    @Test func `a file that is given as whole was read and verified, inv05`() async throws {
        stage.put("/a", length: 8_000_000)
        var cache = try open()
        _ = try await cache.resource(for: stage.url("/a")).fileURL()
        await cache.close()
        let body = try #require(stage.memory.paths.first { $0.contains("/body.1") })
        try stage.memory.flip(body, at: 7_900_000)
        cache = try open()
        // An open entry knows what is claimed; only what was read was looked at.
        let resource = try cache.resource(for: stage.url("/a"))
        let handle = resource.makeHandle(in: .from(0))
        try await stage.read("/a", ByteRange(0, 100_000), from: cache)
        let lease = try await resource.fileURL()
        let bytes = try stage.memory.contents(body)
        #expect(PositionCodedContent(length: 8_000_000).firstMismatch(bytes[...], at: 0) == nil)
        withExtendedLifetime((lease, handle)) {}
        await cache.close()
    }

    @Test func `what came from memory and is damaged on the disk is fetched anew before a file is given away, inv05`()
        throws
    {
        // What follows a gap comes though it is stored: the origin answers more than it is asked for.
        let world = try World(blockSize: 4096, pieceSize: 40 * 1024)
        world.put("/a", length: 400_000) { $0.widensRanges = 40_000 }
        world.play("/a", ByteRange(200_000, 400_000)).leave()
        try world.restart()
        let body = try #require(world.memory.paths.first { $0.contains("/body.1") })
        try world.memory.flip(body, at: 200_000)
        let resource = try world.cache.resource(for: #require(URL(string: "http://origin.test/a")))
        let given = Recorder<FileLease>()
        Task(executorPreference: world.queues) { given.add(try await resource.fileURL()) }
        world.queues.advance(60 * second)
        let lease = try #require(given.all.first)
        let bytes = try world.memory.contents(lease.url.path)
        #expect(bytes.count == 400_000)
        #expect(PositionCodedContent(length: 400_000).firstMismatch(bytes[...], at: 0) == nil)
        withExtendedLifetime(lease) {}
    }

    @Test func `a file that is given for its beginning has that read and verified, inv05`() throws {
        let world = try World(blockSize: 4096)
        world.put("/a", length: 400_000)
        world.play("/a").leave()
        world.queues.advance(60 * second)
        try world.restart()
        let body = try #require(world.memory.paths.first { $0.contains("/body.1") })
        try world.memory.flip(body, at: 5000)
        // An open entry knows what is claimed; only what was read was looked at.
        let player = world.play("/a", ByteRange(0, 4000))
        let resource = try world.cache.resource(for: #require(URL(string: "http://origin.test/a")))
        let given = Recorder<(FileLease, [UInt8])>()
        Task(executorPreference: world.queues) {
            let lease = try await resource.fileURL(afterBytes: 100_000)
            given.add((lease, try world.memory.contents(lease.url.path)))
        }
        world.queues.advance(60 * second)
        let (lease, bytes) = try #require(given.all.first)
        #expect(PositionCodedContent(length: 400_000).firstMismatch(bytes[..<100_000], at: 0) == nil)
        withExtendedLifetime((lease, player)) {}
    }

    @Test func `a comparison with an origin that answers nothing ends with an error, inv26`() async throws {
        stage.put("/a", length: 300_000)
        let cache = try open { configuration in
            configuration.tuning.headTimeout = 50 * millisecond
            configuration.tuning.stallTimeout = 50 * millisecond
        }
        let resource = try cache.resource(for: stage.url("/a"))
        // Complete means stored: what a reader was given may still be on its way to the disk.
        _ = try await resource.fileURL()
        stage.put("/a", length: 300_000) { $0.firstByteDelay = 3600 * second }
        await #expect(throws: CacheError.self) { _ = try await resource.compareWithOrigin() }
        stage.put("/a", length: 300_000) { $0.body = .stall(at: 100_000) }
        await #expect(throws: CacheError.self) { _ = try await resource.compareWithOrigin() }
        await cache.close()
    }

    @Test func `unpinning, pinning and invalidating what nobody reads leaves no open resource`() async throws {
        let cache = try open { $0.freshness = .http }
        for number in 0..<50 { try await cache.unpin(stage.url("/never/\(number)")) }
        #expect(cache.openEntries.isEmpty)
        for number in 0..<20 {
            stage.put("/s\(number)", length: 1000) { $0.extraFields = ["Cache-Control": "max-age=600"] }
            try await stage.read("/s\(number)", from: cache)
        }
        let isEmpty = await eventually {
            // Each has still to see that its reader has left.
            for session in cache.openEntries { session.closeIfIdle() }
            return cache.openEntries.isEmpty
        }
        #expect(isEmpty)
        for number in 0..<20 {
            try await cache.invalidate(
                after: "POST", at: OriginURL("http://origin.test/s\(number)")!,
                OriginResponseHead(status: 200, fields: [:]))
        }
        #expect(cache.openEntries.isEmpty)
        await cache.close()
    }

    // MARK: Closing

    @Test func `after close nothing reaches the origin or the store, inv25`() async throws {
        for number in 0..<6 {
            stage.put("/s\(number)", length: 2_000_000) { behaviour in
                behaviour.firstByteDelay = 50 * millisecond
                behaviour.bytesPerSecond = 8_000_000
            }
        }
        let cache = try open { $0.prefetching.parallel = 1 }
        var all: [Prefetch] = []
        for number in 0..<6 { all.append(try cache.prefetch(stage.url("/s\(number)"), .whole)) }
        #expect(await eventually { stage.origin.requestCount > 0 })
        await cache.close()
        let requests = stage.origin.requestCount
        let other = try open()
        let entries = await other.entries().count
        for prefetch in all { #expect(await ends { try await prefetch.value }) }
        await #expect(throws: CacheError.self) { try await stage.read("/s5", from: cache) }
        await #expect(throws: CacheError.self) { try await cache.pin(stage.url("/s5")) }
        await #expect(throws: CacheError.self) { try await cache.prefetch(stage.url("/s5")).value }
        #expect(stage.origin.requestCount == requests)
        #expect(await other.entries().count == entries)
        #expect(cache.openEntries.isEmpty)
        await other.close()
    }

    @Test func `a reader that was opened before close ends with an error that says so, inv26`() async throws {
        stage.put("/a", length: 2_000_000) { $0.body = .stall(at: 100_000) }
        let cache = try open()
        let resource = try cache.resource(for: stage.url("/a"))
        let reading = Task { for try await _ in resource.bytes() {} }
        #expect(await eventually { cache.activity.transfers > 0 })
        await cache.close()
        await #expect(throws: CacheError.self) { try await reading.value }
    }

    @Test func `close leaves no open resource though a reader that failed is still held, inv25`() async throws {
        stage.put("/a", length: 2_000_000) { $0.body = .stall(at: 100_000) }
        let cache = try open()
        var reader = try cache.resource(for: stage.url("/a")).reader()
        #expect(try await reader.next() != nil)
        await cache.close()
        #expect(cache.openEntries.isEmpty)
        await #expect(throws: CacheError.self) { while try await reader.next() != nil {} }
    }

    // MARK: Other processes

    @Test func `a file that is leased keeps its path while another process has the store`() async throws {
        stage.put("/a", length: 300_000)
        let cache = try open()
        let lease = try await cache.resource(for: stage.url("/a")).fileURL()
        let path = lease.url.path
        await cache.suspend()
        let other = try Store(root: "/store", volume: stage.memory)
        _ = try stage.memory.open(path, .read)
        other.release()
        withExtendedLifetime(lease) {}
    }

    @Test func `trimming leaves what is leased as a file stored, as nothing of it could be reclaimed`() async throws {
        stage.put("/a", length: 12_000_000)
        stage.put("/b", length: 12_000_000)
        let cache = try open { $0.limits = StoreLimits(bytes: 16_000_000) }
        let lease = try await cache.resource(for: stage.url("/a")).fileURL()
        try await stage.read("/b", from: cache)
        await cache.collectGarbage()
        #expect(try cache.resource(for: stage.url("/a")).storedRanges().count == 12_000_000)
        withExtendedLifetime(lease) {}
        await cache.close()
    }

    @Test func `a file of an empty resource that cannot be stored is refused, inv22 inv26`() async throws {
        let world = try World()
        world.put("/empty", length: 0) { $0.firstByteDelay = 10 * millisecond }
        let resource = world.cache.resource(for: OriginURL("http://origin.test/empty")!)
        let failure = Shared<CacheError?>(nil)
        let task = Task(executorPreference: world.queues) {
            do { _ = try await resource.fileURL() } catch { failure.set(error as? CacheError) }
        }
        world.queues.advance(5 * millisecond)
        world.files.setRule { operation, _, _ in operation == .list ? .error(FileError.inputOutput) : nil }
        world.queues.advance(60 * second)
        #expect(failure.value?.code == .store)
        task.cancel()
    }

    @Test func `a comparison with answers that break off before what was asked for ends, inv26`() async throws {
        let world = try World(blockSize: 64)
        world.put("/a", length: 1000) { $0.widensRanges = 50 }
        world.play("/a", ByteRange(512, 900)).expectWhole(900, from: 512)
        world.queues.advance(40 * second)
        world.origin.change("/a") { $0.behaviour.body = .reset(at: 480) }
        let resource = world.cache.resource(for: OriginURL("http://origin.test/a")!)
        let failure = Shared<CacheError?>(nil)
        let task = Task(executorPreference: world.queues) {
            do { _ = try await resource.compareWithOrigin() } catch { failure.set(error as? CacheError) }
        }
        world.queues.tellCircles(after: 10_000)
        world.queues.advance(60 * second)
        #expect(!world.queues.goesInCircles)
        #expect(failure.value?.code == .originUnreachable)
        task.cancel()
    }

    @Test func `a fetch ahead ends beside a reader of a version that was replaced before it was stored, inv26`() throws
    {
        let world = try World()
        var behaviour = OriginBehaviour()
        behaviour.contentType = "text/plain"
        behaviour.body = .reset(at: 26)
        // Too little to be told from a page.
        func put(_ generation: Int) {
            let content = PositionCodedContent(length: 74, generation: generation, signature: [])
            world.origin.put(.init(content, behaviour), at: "/a")
        }
        put(1)
        let player = world.player("/a")
        player.play(to: 26, patience: second)
        #expect(player.position == 26)
        behaviour.body = .none
        behaviour.framing = .close
        put(2)
        player.play()
        #expect(player.failure?.code == .changed)
        let resource = world.player("/a").resource
        let hasEnded = Shared(false)
        Task(executorPreference: world.queues) {
            try? await RangeFetch(resource, .from(0)).run()
            hasEnded.set(true)
        }
        world.queues.advance(60 * second)
        #expect(hasEnded.value)
        player.leave()
    }
}
