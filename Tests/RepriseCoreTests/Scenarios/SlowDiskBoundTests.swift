import RepriseCore
import RepriseRanges
import RepriseTesting
import Testing

@testable import RepriseCore

/// A disk that hangs, or is slower than the network: memory stays within its bound and playback goes on.
@Suite struct SlowDiskBoundTests {
    /// Bytes in memory of all open resources.
    private func memory(_ world: World) -> Int64 { world.cache.openEntries.reduce(0) { $0 + $1.bytesInMemory } }

    @Test func `one film plays whole while a write hangs for an hour, within the memory bound, inv22 inv23`() throws {
        let world = try World()
        world.put("/a", length: 64_000_000)
        world.queues.setDiskDelay(read: 0, write: 3600 * second)
        let player = world.player("/a")
        var most: Int64 = 0
        while !player.isAtEnd, player.failure == nil, world.queues.time < 3000 * second {
            player.play(to: player.position + 500_000, patience: 60 * second)
            most = max(most, memory(world))
        }
        player.expectWhole(64_000_000)
        #expect(most <= (4 << 20) + 65_536, "\(most) bytes in memory")
        #expect(world.queues.time < 120 * second, "playback waits for a hung disk once, not always")
    }

    @Test func `many small files over a disk slower than the network stay within the memory bound, inv23`() throws {
        let world = try World { $0.tuning.unwrittenLimit = 8 << 20 }
        world.queues.setDiskDelay(read: 0, write: 500 * millisecond)
        var most: Int64 = 0
        for number in 0..<400 {
            world.put("/s\(number)", length: 250_000)
            world.play("/s\(number)").expectWhole(250_000)
            most = max(most, memory(world))
        }
        #expect(most <= 9 << 20, "\(most) bytes in memory")
        world.queues.setDiskDelay(read: 0, write: 0)
        world.queues.advance(600 * second)
        #expect(world.cache.openEntries.isEmpty)
        // The disk takes what comes again.
        world.put("/late", length: 250_000)
        world.play("/late").expectWhole(250_000)
        world.queues.advance(second)
        let requests = world.origin.requestCount
        world.play("/late").expectWhole(250_000)
        #expect(world.origin.requestCount == requests)
    }

    @Test func `many films at once over a disk slower than the network stay within the memory bound, inv23`() throws {
        let (films, limit, length) = (30, Int64(4 << 20), Int64(20_000_000))
        let world = try World { $0.tuning.unwrittenLimit = limit }
        for film in 0..<films { world.put("/f\(film)", length: length) }
        let players = (0..<films).map { world.player("/f\($0)") }
        // All have files before the disk is slow.
        for player in players { player.play(to: 100_000) }
        world.queues.setDiskDelay(read: 0, write: 2 * second)
        var most: Int64 = 0
        for _ in 0..<40 {
            for player in players { player.take(500_000) }
            world.queues.advance(100 * millisecond)
            most = max(most, memory(world))
        }
        // One piece of each film is taken however much waits.
        #expect(most <= limit + Int64(films) * 2 * 16_384, "\(most) bytes in memory")
        #expect(players.allSatisfy { $0.violation == nil && $0.failure == nil })
        for player in players { player.leave() }
    }
}
