import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// The system deletes files of a cache that is in use.
@Suite struct PurgeTests {
    static let length: Int64 = 4_000_001

    enum Loss: String, CaseIterable {
        case info = "/info.json"
        case body = "/body."
        case blocks = "/blocks."
        case entry = "/entries/"
        case root = "/store/"
    }

    private func delete(_ what: Loss, _ world: World) throws {
        for path in world.memory.paths where path.contains(what.rawValue) { try world.memory.removeFile(path) }
        guard what == .entry || what == .root, try world.memory.list("/store").contains("entries") else { return }
        for prefix in try world.memory.list("/store/entries") {
            for name in try world.memory.list("/store/entries/" + prefix) {
                try world.memory.removeDirectory("/store/entries/" + prefix + "/" + name)
            }
            try world.memory.removeDirectory("/store/entries/" + prefix)
        }
        if what == .root { try world.memory.removeDirectory("/store/entries") }
    }

    @Test(arguments: Loss.allCases, [300_000, 1_500_000, 3_900_000] as [Int64])
    func `who plays plays on, and playing again costs at most what was deleted, inv02 inv26`(
        what: Loss, moment: Int64
    ) throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.bytesPerSecond = 1_000_000 }
        let player = world.player("/a")
        player.play(to: moment)
        let deleted = world.origin.bodyBytes
        try delete(what, world)
        player.finish()
        player.expectWhole(Self.length)
        // What was read of the deleted files, at most a window, may have been fetched again.
        #expect(world.origin.bodyBytes <= Self.length + 1_500_000)
        world.queues.advance(120 * second)
        let bytes = world.origin.bodyBytes
        world.play("/a").expectWhole(Self.length)
        // A description or slots are missed at the next sync, up to 5 seconds later; a body at the next write.
        let late: Int64 = what == .info || what == .blocks ? 5_500_000 : 0
        #expect(world.origin.bodyBytes - bytes <= deleted + late + 2 * world.blockSize)
        world.origin.setDown(true)
        world.play("/a").expectWhole(Self.length)
        try world.restart()
        world.play("/a").expectWhole(Self.length)
    }

    @Test(arguments: [Loss.info, .entry, .root])
    func `what replaces a version that is deleted meanwhile is fetched once, and stored, inv02 inv26`(what: Loss) throws
    {
        let world = try World { $0.freshness = .http }
        let fresh = ["Cache-Control": "max-age=1000"]
        world.put("/a", length: Self.length) { $0.extraFields = fresh }
        world.play("/a").expectWhole(Self.length)
        world.queues.advance(10 * second)
        let paid = world.origin.bodyBytes
        world.put("/a", length: Self.length, generation: 2) {
            $0.extraFields = fresh
            $0.bytesPerSecond = 100_000
        }
        let player = world.player("/a", fields: ["Cache-Control": "no-cache"])
        player.play(to: 500_000)
        try delete(what, world)
        player.finish()
        player.expectWhole(Self.length)
        // Its own files may have gone, too, and what was not read of them.
        #expect(world.origin.bodyBytes - paid <= Self.length + 1_500_000)
        player.leave()
        world.queues.advance(120 * second)
        if what != .info { world.play("/a").expectWhole(Self.length) }
        try world.restart()
        world.origin.setDown(true)
        let replayed = world.play("/a")
        replayed.expectWhole(Self.length)
        #expect(replayed.generation == 2)
    }

    @Test func `an entry stays pinned where the description of the version that is to be replaced is deleted`() throws {
        let world = try World { $0.freshness = .http }
        world.put("/a", length: 300_000) { $0.extraFields["Cache-Control"] = "max-age=1000" }
        world.play("/a").expectWhole(300_000)
        #expect(try world.cache.environment.store?.setPinned(true, key: "http://origin.test/a") == true)
        try world.restart()
        world.put("/a", length: 300_000, generation: 2) {
            $0.extraFields["Cache-Control"] = "max-age=1000"
            $0.bytesPerSecond = 20_000
        }
        let player = world.player("/a", fields: ["Cache-Control": "no-cache"])
        player.play(to: 100_000)
        try delete(.info, world)
        player.finish()
        player.expectWhole(300_000)
        world.queues.advance(10 * second)
        let store = try #require(world.cache.environment.store)
        #expect(try store.open(key: "http://origin.test/a")?.info.isPinned == true)
    }

    @Test func `a purge of what is whole is not even noticed by who plays, inv13`() throws {
        let world = try World()
        world.put("/a", length: Self.length)
        world.play("/a").expectWhole(Self.length)
        let player = world.player("/a")
        player.play(to: 100_000)
        try delete(.entry, world)
        world.origin.setDown(true)
        player.finish()
        player.expectWhole(Self.length)
        world.origin.setDown(false)
        world.queues.advance(120 * second)
        world.play("/a").expectWhole(Self.length)
        world.origin.setDown(true)
        world.play("/a").expectWhole(Self.length)
    }

    @Test func `where no new entry can be made the old one is read on, inv22`() throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.bytesPerSecond = 1_000_000 }
        world.play("/a", ByteRange(0, 1_000_000)).expectWhole(1_000_000)
        let player = world.player("/a")
        player.play(to: 1_200_000)
        try delete(.entry, world)
        world.files.setRule { operation, _, _ in
            operation == .makeDirectory || operation == .open ? .error(FileError.noSpace) : nil
        }
        player.finish()
        player.expectWhole(Self.length)
        let again = world.player("/a", ByteRange(0, 900_000))
        let bytes = world.origin.bodyBytes
        again.finish()
        again.expectWhole(900_000)
        #expect(world.origin.bodyBytes == bytes, "it lives on in open files")
        world.files.setRule(nil)
        world.queues.advance(120 * second)
        world.play("/a").expectWhole(Self.length)
        world.origin.setDown(true)
        world.play("/a").expectWhole(Self.length)
    }

    @Test func `a pin is in the new entry again`() throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.bytesPerSecond = 1_000_000 }
        let player = world.player("/a")
        player.play(to: 500_000)
        let session = try #require(world.cache.openEntries.first)
        #expect(try session.setPinned(true))
        try delete(.entry, world)
        player.finish()
        player.expectWhole(Self.length)
        let store = try #require(world.cache.environment.store)
        #expect(try store.open(key: "http://origin.test/a")?.info.isPinned == true)
    }

    @Test(arguments: UInt64(1)...20)
    func `deleted again and again while many play, bytes are right and nobody hangs, inv26`(seed: UInt64) throws {
        let world = try World(seed: seed, isOrdered: false, blockSize: 64, pieceSize: 100)
        var random = SeededGenerator(seed: seed)
        let length: Int64 = 9000
        world.put("/a", length: length) { $0.bytesPerSecond = 50_000 }
        world.queues.setDiskDelay(read: millisecond, write: millisecond)
        var players: [Player] = []
        for _ in 0..<80 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: try delete(Loss.allCases.randomElement(using: &random)!, world)
            case 1: players.append(world.player("/a", .from(Int64.random(in: 0..<length, using: &random))))
            default: for player in players { player.take(Int64.random(in: 1...2000, using: &random)) }
            }
            world.queues.advance(Int64.random(in: 0...3000, using: &random) * millisecond / 10)
        }
        for player in players {
            player.finish()
            #expect(player.violation == nil && player.failure == nil && player.isAtEnd, "seed \(seed)")
        }
        world.queues.advance(120 * second)
        #expect(world.cache.openEntries.isEmpty)
        world.play("/a").expectWhole(length)
        world.queues.advance(120 * second)
        world.origin.setDown(true)
        world.play("/a").expectWhole(length)
    }

    @Test func `on a real disk, too`() async throws {
        let directory = TemporaryDirectory()
        let stage = Stage()
        stage.put("/a", length: Self.length)
        let root = directory.path + "/store"
        let cache = try MediaCache(at: .directory(root), client: stage.client)
        var reader = try cache.resource(for: stage.url("/a")).reader()
        var position: Int64 = 0
        var isDeleted = false
        while let chunk = try await reader.next() {
            #expect(chunk.offset == position)
            #expect(PositionCodedContent(length: .max).firstMismatch(chunk.bytes, at: position) == nil)
            position += Int64(chunk.bytes.count)
            if position > 1_000_000, !isDeleted {
                isDeleted = true
                // In one step: a file that is just being made would keep its folder from being removed.
                try FileManager.default.moveItem(atPath: root + "/entries", toPath: directory.path + "/purged")
                try FileManager.default.removeItem(atPath: directory.path + "/purged")
            }
        }
        #expect(position == Self.length)
        await cache.close()
        let again = try MediaCache(at: .directory(root), client: stage.client)
        // How much of it has to come again depends on when it was noticed; the tests on manual queues say so exactly.
        #expect(try await stage.read("/a", from: again) == Self.length)
        stage.origin.setDown(true)
        #expect(try await stage.read("/a", from: again) == Self.length)
        await again.close()
    }
}
