import RepriseCore
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// A cache whose store is sealed.
@Suite struct SealedStoreTests {
    private static let key = SealKey((0..<32).map { UInt8($0) })!
    private static let song: Int64 = 1_000_001

    private func world(blockSize: Int64 = 32 * 1024, pieceSize: Int = 16 * 1024) throws -> World {
        try World(blockSize: blockSize, pieceSize: pieceSize) { $0.seal = Seal(Self.key) }
    }

    @Test func `a first play brings every byte once and the second costs the origin nothing, inv10 inv13`() throws {
        let world = try world()
        world.put("/song.mp3", length: Self.song)
        try world.expectBoughtOnce("/song.mp3", length: Self.song)
    }

    @Test func `a block is sealed once, when it is full`() throws {
        let world = try world(pieceSize: 5000)
        world.put("/a", length: 10 * 32 * 1024)
        let sealed = Lock<[Int64]>([])
        world.files.setRule { operation, path, _ in
            if operation == .write, path.hasSuffix("/body.1") { sealed.withLock { $0.append(1) } }
            return nil
        }
        world.play("/a").expectWhole(10 * 32 * 1024)
        #expect(sealed.withLock(\.count) <= 10)
        world.origin.setDown(true)
        world.play("/a").expectWhole(10 * 32 * 1024)
    }

    @Test func `what came of a block is stored when its transfer ends, inv10`() throws {
        let world = try world()
        world.put("/a", length: Self.song)
        world.play("/a", ByteRange(0, 50_000)).expectWhole(50_000)
        world.queues.advance(10 * second)
        let fetched = world.origin.bodyBytes
        try world.restart()
        world.play("/a", ByteRange(0, 50_000)).expectWhole(50_000)
        #expect(world.origin.bodyBytes == fetched)
        world.play("/a").expectWhole(Self.song)
        #expect(world.origin.bodyBytes <= Self.song + 64 * 1024, "and is gone on with")
    }

    @Test(arguments: UInt64(1)...8)
    func `ranges that meet in the middle of blocks are all stored, inv06 bug16`(seed: UInt64) throws {
        let world = try world(blockSize: 64, pieceSize: 50)
        let length: Int64 = 5003
        world.put("/a", length: length)
        var random = SeededGenerator(seed: seed)
        var cuts = (0..<20).map { _ in Int64.random(in: 0..<length, using: &random) } + [0, length]
        cuts = Array(Set(cuts)).sorted()
        for (start, end) in zip(cuts, cuts.dropFirst()).shuffled(using: &random) {
            world.play("/a", ByteRange(start, end)).expectWhole(end, from: start)
        }
        world.play("/a").expectWhole(length)
        world.queues.advance(10 * second)
        try world.restart()
        world.origin.setDown(true)
        world.play("/a").expectWhole(length)
    }

    @Test func `killed in the middle of a play it has every whole block that was written, inv04`() throws {
        let world = try world()
        world.put("/a", length: Self.song)
        let player = world.player("/a")
        player.play(to: 500_000)
        world.queues.settle()
        try world.kill()
        let fetched = world.origin.bodyBytes
        world.play("/a").expectWhole(Self.song)
        #expect(world.origin.bodyBytes - fetched <= Self.song - 500_000 + 64 * 1024)
    }

    @Test func `a block damaged between two reads is fetched again, inv05`() throws {
        let world = try world()
        world.put("/a", length: Self.song)
        world.play("/a").expectWhole(Self.song)
        let body = try #require(world.memory.paths.first { $0.hasSuffix("/body.1") })
        let player = world.player("/a")
        player.play(to: 100_000)
        try world.memory.flip(body, at: 400_000)
        player.play()
        player.expectWhole(Self.song)
    }

    @Test func `with another key nothing is opened and nothing is lost`() async throws {
        let stage = Stage()
        stage.put("/a", length: 100_000)
        func opener(_ seal: Seal?) -> StoreOpener {
            StoreOpener(location: .offline(), volume: stage.files, folders: stage.folders, seal: seal)
        }
        let cache = try MediaCache(opener: opener(Seal(Self.key)), client: stage.client, queues: stage.queues)
        #expect(try await stage.read("/a", from: cache) == 100_000)
        await cache.close()
        for wrong in [Seal(.random()), nil] {
            let error = #expect(throws: CacheError.self) { try opener(wrong).open() }
            #expect(error?.code == .store && error?.message.contains("key") == true)
            let passing = MediaCache(trying: opener(wrong), client: stage.client, queues: stage.queues)
            #expect(try await stage.read("/a", from: passing) == 100_000)
            await passing.close()
        }
        stage.origin.setDown(true)
        let again = try MediaCache(opener: opener(Seal(Self.key)), client: stage.client, queues: stage.queues)
        #expect(try await stage.read("/a", from: again) == 100_000)
        await again.close()
    }

    @Test func `a key that cannot be had now is asked for again at resume`() async throws {
        struct Locked: Error {}
        let stage = Stage()
        stage.put("/a", length: 1000)
        let isLocked = Lock(true)
        let seal = Seal {
            if isLocked.withLock(\.self) { throw Locked() }
            return Self.key
        }
        let opener = StoreOpener(location: .offline(), volume: stage.files, folders: stage.folders, seal: seal)
        let cache = MediaCache(trying: opener, client: stage.client, queues: stage.queues)
        #expect(try await stage.read("/a", from: cache) == 1000)
        guard case .passingThrough(let reason) = cache.status else {
            Issue.record("there is no key")
            return
        }
        #expect(reason.contains("key"))
        isLocked.withLock { $0 = false }
        #expect(await cache.resume() == .ready)
        #expect(try await stage.read("/a", from: cache) == 1000)
        await cache.close()
    }

    @Test func `a sealed cache's bodies are not given away as files`() async throws {
        let directory = TemporaryDirectory()
        let stage = Stage()
        stage.put("/a.mp3", length: 1000)
        var configuration = MediaCache.Configuration()
        configuration.seal = Seal(Self.key)
        let cache = try MediaCache(
            at: .directory(directory.path + "/store"), client: stage.client, configuration: configuration)
        #expect(try await stage.read("/a.mp3", from: cache) == 1000)
        for count in [0, 500, 1000, .max] as [Int64] {
            let error = await #expect(throws: CacheError.self) {
                _ = try await cache.resource(for: stage.url("/a.mp3")).fileURL(afterBytes: count)
            }
            #expect(error?.code == .unsupported, "all is stored, and none of it can be played from there")
        }
        await cache.close()
    }
}
