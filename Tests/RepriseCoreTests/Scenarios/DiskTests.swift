import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseCore

/// Disks that are full, sick or out of reach.
@Suite struct DiskTests {
    static let length: Int64 = 2_000_001

    @Test(arguments: [FileError.noSpace, FileError.inputOutput, FileError.notPermitted, FileError.tooManyFiles])
    func `a disk that takes nothing more is told of and playback goes on, inv22 bug15 bug17`(code: Int32) throws {
        let world = try World()
        let recorder = Recorder<CacheEvent>()
        let subscription = world.cache.onEvent { recorder.add($0) }
        defer { withExtendedLifetime(subscription) {} }
        world.put("/a", length: Self.length)
        let player = world.player("/a")
        player.play(to: 600_000)
        world.queues.advance(millisecond)
        world.files.setRule { operation, _, _ in operation == .write ? .error(code) : nil }
        player.finish()
        player.expectWhole(Self.length)
        #expect(recorder.all.contains { if case .degraded = $0 { true } else { false } })
        // What was stored is still there, and the next one stores again.
        world.files.setRule(nil)
        try world.restart()
        let bytes = world.origin.bodyBytes
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.bodyBytes - bytes <= Self.length - 500_000)
        world.origin.setDown(true)
        world.play("/a").expectWhole(Self.length)
    }

    @Test(arguments: [FileError.inputOutput, FileError.notPermitted, FileError.tooManyFiles])
    func `an entry that cannot be read now is not deleted, inv30`(code: Int32) throws {
        let world = try World()
        world.put("/a", length: Self.length)
        world.play("/a").expectWhole(Self.length)
        try world.restart()
        let files = world.memory.paths
        world.files.setRule { operation, path, _ in path.contains("/entries") ? .error(code) : nil }
        world.play("/a").expectWhole(Self.length)
        world.files.setRule(nil)
        #expect(files.allSatisfy(Set(world.memory.paths).contains))
        try world.restart()
        world.origin.setDown(true)
        world.play("/a").expectWhole(Self.length)
    }

    @Test(arguments: [FaultyVolume.Operation.read, .open])
    func `what could not be read once is read again by who comes later, beside readers that stay, inv18 inv30`(
        call: FaultyVolume.Operation
    ) throws {
        let world = try World()
        world.put("/a", length: Self.length)
        world.play("/a").expectWhole(Self.length)
        try world.restart()
        world.files.setRule { operation, path, _ in
            operation == call && path.contains("/body.") ? .error(FileError.inputOutput) : nil
        }
        let staying = world.player("/a")
        staying.play(to: 100_000)
        world.files.setRule(nil)
        world.queues.advance(60 * second)
        let paid = world.origin.bodyBytes
        world.origin.setDown(true)
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.bodyBytes == paid)
        world.origin.setDown(false)
        staying.finish()
        staying.expectWhole(Self.length)
    }

    @Test func `a full disk from the first byte plays all the same, and nothing is left half made, inv22`() throws {
        let world = try World()
        world.put("/a", length: Self.length)
        world.memory.setCapacity(world.memory.allocatedBytes)
        world.play("/a").expectWhole(Self.length)
        world.memory.setCapacity(1 << 40)
        try world.restart()
        world.play("/a").expectWhole(Self.length)
        world.origin.setDown(true)
        world.play("/a").expectWhole(Self.length)
    }

    @Test func `a disk that is well again is written to by the next player, without a restart, inv22`() throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.ranges = .ignored }
        let player = world.player("/a")
        player.play(to: 600_000)
        world.files.setRule { operation, _, _ in operation == .write ? .error(FileError.notPermitted) : nil }
        player.play(to: 1_500_000)
        player.leave()
        world.files.setRule(nil)
        world.play("/a").expectWhole(Self.length)
        world.origin.setDown(true)
        world.play("/a").expectWhole(Self.length)
    }

    @Test func `in memory a reader that fell behind gets a transfer of its own, inv22`() throws {
        let world = try World()
        world.files.setRule { operation, _, _ in operation == .write ? .error(FileError.noSpace) : nil }
        world.put("/a", length: 6_000_000)
        let slow = world.player("/a")
        slow.play(to: 10_000)
        world.play("/a").expectWhole(6_000_000)
        slow.finish()
        slow.expectWhole(6_000_000)
    }

    @Test func `without ranges and without a disk who fell behind is told, and does not hold up others, inv22`() throws
    {
        let world = try World()
        world.files.setRule { operation, _, _ in operation == .write ? .error(FileError.noSpace) : nil }
        world.put("/a", length: 6_000_000) { $0.ranges = .ignored }
        let slow = world.player("/a")
        slow.play(to: 10_000)
        let fast = world.player("/a")
        fast.finish()
        fast.expectWhole(6_000_000)
        slow.finish()
        #expect(slow.violation == nil)
        #expect(slow.isAtEnd || slow.failure?.code == .store)
    }

    @Test(arguments: [false, true])
    func `what came in a moment is synced some seconds later, whether its player stays or leaves, inv04`(
        stays: Bool
    ) throws {
        let world = try World()
        world.put("/a", length: Self.length)
        let player = world.player("/a")
        player.finish()
        if !stays { player.leave() }
        world.files.resetCounts()
        world.queues.advance(6 * second)
        #expect(world.files.count(of: .sync) == 2, "the body and its slots")
        world.files.resetCounts()
        world.queues.advance(15 * second)
        #expect(world.files.count(of: .sync) == 0, "nothing was written since")
        player.expectWhole(Self.length)
    }

    @Test func `what is written of several resources is spread over both lanes`() throws {
        let world = try World()
        let players = (1...16).map { number in
            world.put("/\(number)", length: 1000)
            return world.player("/\(number)")
        }
        for player in players { player.play() }
        world.queues.settle()
        let identities = world.cache.openEntries.flatMap { $0.look { $0.openFiles.map(\.generation.identity) } }
        #expect(identities.count == 16 && Set(identities.map { $0 & 1 }).count == 2)
        for player in players { player.expectWhole(1000) }
    }

    @Test func `files that others deleted, and that cannot be made anew, are not named, inv22`() throws {
        let world = try World()
        world.put("/a", length: 100_000)
        let player = world.player("/a")
        player.play()
        player.expectWhole(100_000)
        world.queues.settle()
        for path in world.memory.paths where path.contains("/entries/") { try world.memory.removeFile(path) }
        world.files.setRule { operation, path, _ in
            operation == .open && path.contains("/blocks.") ? .error(FileError.notPermitted) : nil
        }
        world.queues.advance(6 * second)
        #expect(world.broken.all.isEmpty && !world.memory.paths.contains { $0.contains("/info.json") })
        player.leave()
    }

    @Test func `a process that ends in the middle loses at most what was in memory, inv03 inv13`() throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.bytesPerSecond = 1_000_000 }
        let player = world.player("/a")
        player.play(to: 1_000_000)
        let stored = world.cache.statistics.stored
        // No shutdown, no sync: only what was written is there for the next process.
        try world.kill()
        let bytes = world.origin.bodyBytes
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.bodyBytes - bytes <= Self.length - stored + world.blockSize)
    }

    @Test func `damage costs its blocks and is fetched again, inv02 inv05`() throws {
        let world = try World()
        world.put("/a", length: Self.length)
        world.play("/a").expectWhole(Self.length)
        try world.restart()
        let body = try #require(world.memory.paths.first { $0.contains("/body.") })
        for offset in [5, 40_000, 1_999_999] as [Int64] { try world.memory.flip(body, at: offset) }
        let bytes = world.origin.bodyBytes
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.bodyBytes - bytes <= 3 * world.blockSize)
        #expect(world.cache.statistics.damagedBlocks == 3)
    }

    @Test func `closing the cache while it plays ends every reader and breaks nothing, inv26 bug18`() throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.bytesPerSecond = 500_000 }
        let players = (0..<5).map { world.player("/a", .from(Int64($0) * 300_000)) }
        for player in players { player.play(to: player.position + 10_000) }
        try world.restart()
        for player in players {
            player.play(patience: second)
            #expect(player.failure?.code == .closed)
            player.leave()
        }
        world.play("/a").expectWhole(Self.length)
    }
}
