import Foundation
import RepriseCore
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// Removing, also while it is played.
@Suite struct RemovalTests {
    static let length: Int64 = 3_000_001

    @Test func `who plays a removed entry plays on, who comes fetches anew, bug18 inv17`() throws {
        let world = try World()
        world.put("/a", length: Self.length)
        world.play("/a").expectWhole(Self.length)
        let player = world.player("/a")
        player.play(to: 500_000)
        let old = try #require(world.cache.openEntries.first)
        try old.removeEntry()
        #expect(world.memory.paths.allSatisfy { !$0.contains("/entries/") })
        let bytes = world.origin.bodyBytes
        let next = world.player("/a")
        next.play(to: 500_000)
        #expect(world.origin.bodyBytes - bytes >= 500_000, "what was removed is fetched anew")
        let newer = world.origin.bodyBytes
        player.finish()
        player.expectWhole(Self.length)
        #expect(world.origin.bodyBytes == newer, "what is open is read on without the origin")
        next.finish()
        next.expectWhole(Self.length)
        world.origin.setDown(true)
        world.play("/a").expectWhole(Self.length)
    }

    @Test func `a transfer under way does not bring a removed entry back, bug18`() throws {
        for moment in [0, 1, 2, 3, 5, 8, 20, 100, 400] as [Int64] {
            let world = try World()
            world.put("/a", length: Self.length) { $0.bytesPerSecond = 2_000_000 }
            world.queues.setDiskDelay(read: 3 * millisecond, write: 2 * millisecond)
            let player = world.player("/a")
            player.take()
            world.queues.advance(moment * millisecond)
            try world.cache.openEntries.first?.removeEntry()
            player.finish()
            player.expectWhole(Self.length)
            world.queues.advance(120 * second)
            #expect(world.memory.paths.allSatisfy { !$0.contains("/entries/") }, "removed after \(moment) ms")
            #expect(world.cache.openEntries.isEmpty)
        }
    }

    @Test(arguments: UInt64(1)...20)
    func `removed again and again while many play, bytes are right and nobody hangs, bug18 inv26`(seed: UInt64) throws {
        let world = try World(seed: seed, isOrdered: false, blockSize: 64, pieceSize: 100)
        var random = SeededGenerator(seed: seed)
        let length: Int64 = 9000
        world.put("/a", length: length) { $0.bytesPerSecond = 50_000 }
        world.queues.setDiskDelay(read: millisecond, write: millisecond)
        var players: [Player] = []
        for _ in 0..<60 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: for session in world.cache.openEntries { try session.removeEntry() }
            case 1: players.append(world.player("/a", .from(Int64.random(in: 0..<length, using: &random))))
            default: for player in players { player.take(Int64.random(in: 1...2000, using: &random)) }
            }
            world.queues.advance(Int64.random(in: 0...8, using: &random) * millisecond)
        }
        for player in players {
            player.finish()
            #expect(player.violation == nil && player.failure == nil && player.isAtEnd, "seed \(seed)")
        }
        world.queues.advance(120 * second)
        #expect(world.cache.openEntries.isEmpty)
        world.play("/a").expectWhole(length)
        world.origin.setDown(true)
        world.play("/a").expectWhole(length)
    }

    @Test func `remove and removeAll return when it is gone, and a pin does not hold them`() async throws {
        let stage = Stage()
        for path in ["/a", "/b", "/c"] { stage.put(path, length: 200_000) }
        let cache = try stage.open()
        for path in ["/a", "/b", "/c"] { try await stage.read(path, from: cache) }
        // A reader may be done before its entry is on disk; a pin waits for it.
        for path in ["/b", "/c"] { try await cache.pin(stage.url(path)) }
        try await cache.remove(stage.url("/a"))
        #expect(await Set(cache.entries().map(\.url)) == Set(["/b", "/c"].map { stage.url($0).absoluteString }))
        try await cache.remove(stage.url("/nothing"))
        try await cache.removeAll()
        #expect(await cache.entries().isEmpty)
        let bytes = stage.origin.bodyBytes
        #expect(try await stage.read("/b", from: cache) == 200_000)
        #expect(stage.origin.bodyBytes - bytes == 200_000)
        await cache.close()
        let again = try stage.open()
        #expect(await again.entries().map(\.isPinned) == [false])
        await again.close()
    }

    @Test func `removeAll takes damaged and foreign folders along`() async throws {
        let stage = Stage()
        stage.put("/a", length: 1000)
        let cache = try stage.open()
        try await stage.read("/a", from: cache)
        await cache.close()
        let info = try #require(stage.memory.paths.first { $0.hasSuffix("/info.json") })
        try stage.memory.flip(info, at: 30)
        try stage.memory.replace("/app/Support/Reprise/entries/zz/zzzz/body.7.mp3", with: [1, 2, 3])
        let again = try stage.open()
        try await again.removeAll()
        #expect(stage.memory.paths.allSatisfy { !$0.contains("/entries/") })
        await again.close()
    }

    @Test func `a disk that refuses is told of, and what could be removed is gone, inv22`() async throws {
        let stage = Stage()
        for path in ["/a", "/b"] { stage.put(path, length: 1000) }
        let cache = try stage.open()
        for path in ["/a", "/b"] { try await stage.read(path, from: cache) }
        // A reader has its bytes before the entry's files are made.
        #expect(await eventually { stage.memory.paths.count { $0.hasSuffix("/info.json") } == 2 })
        let info = try #require(stage.memory.paths.first { $0.hasSuffix("/info.json") })
        let folder = String(info.dropLast("info.json".count))
        stage.files.setRule { operation, path, _ in
            operation == .removeFile && path.hasPrefix(folder) ? .error(FileError.inputOutput) : nil
        }
        let error = await #expect(throws: CacheError.self) { try await cache.removeAll() }
        #expect(error?.code == .store)
        #expect(await cache.entries().count == 1)
        stage.files.setRule(nil)
        try await cache.removeAll()
        #expect(await cache.entries().isEmpty)
        await cache.close()
    }
}
