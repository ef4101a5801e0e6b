import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// Numbers an origin or a client sent are never trusted in arithmetic: nothing traps up to 2^63 - 1.
@Suite struct OffsetTests {
    static let lengths: [Int64] = [
        .max, .max - 1, .max - 4096, .max - 32_768, .max - 65_537, 1 << 62, 1 << 60, (1 << 60) - 1, 1 << 50,
    ]
    static let positions: [Int64] = [0, 1 << 40, 1 << 59, 1 << 60, 1 << 62, .max - 100_000, .max - 5000, .max - 1]

    @Test(arguments: lengths, positions)
    func `totals and positions up to the end of 64 bits end without a trap, inv09`(length: Int64, at: Int64) throws {
        let world = try World()
        for ranges in [OriginBehaviour.Ranges.served, .ignored] {
            world.put("/a\(ranges)", length: length) { behaviour in
                behaviour.ranges = ranges
                behaviour.body = .reset(at: ranges == .served ? at.adding(200_000) : 300_000)
            }
            let player = world.player("/a\(ranges)", .from(at))
            player.play(to: at.adding(50_000), patience: 5 * second)
            #expect(player.violation == nil)
            let bounded = world.player("/a\(ranges)", ByteRange(at, .max - 1))
            bounded.play(to: at.adding(50_000), patience: 5 * second)
            bounded.leave()
            player.seek(to: .max - 1)
            player.play(patience: 5 * second)
            player.leave()
        }
        world.queues.advance(120 * second)
    }

    /// Bytes past 4 TiB are not stored: who has not taken them is waited for, in memory.
    @Test func `what is too far out to be stored comes once, whenever its reader takes it, inv02`() throws {
        let world = try World()
        let length = BlockLayout.longestStored + 3_000_000
        world.put("/a", length: length) { $0.bytesPerSecond = 20_000_000 }
        let player = world.player("/a", .from(length - 40_000))
        world.queues.advance(10 * second)
        #expect(world.origin.requestCount == 1)
        player.finish()
        player.expectWhole(length, from: length - 40_000)
        // The block that the first byte lies in comes whole.
        #expect(world.origin.bodyBytes < 40_000 + world.blockSize)
        let limit = BlockLayout.longestStored
        let before = world.origin.bodyBytes
        let across = world.player("/a", ByteRange(limit - 1_000_000, limit + 1_000_000))
        across.play(to: limit - 500_000)
        // All of its read-ahead is there before it takes more.
        world.queues.advance(900 * millisecond)
        across.finish()
        #expect(across.violation == nil && across.failure == nil && across.isAtEnd)
        #expect(world.origin.bodyBytes - before < 2_000_000 + world.blockSize)
        across.leave()
        world.queues.advance(120 * second)
        #expect(world.cache.openEntries.isEmpty)
        let paid = world.origin.bodyBytes
        world.play("/a", ByteRange(limit - 1_000_000, limit)).expectWhole(limit, from: limit - 1_000_000)
        #expect(world.origin.bodyBytes == paid)
    }

    @Test func `who stands still beside another, too far out to be stored, is not fetched for, inv26`() throws {
        let world = try World()
        let length = BlockLayout.longestStored + 50_000_000
        world.put("/a", length: length) { $0.bytesPerSecond = 20_000_000 }
        let still = world.player("/a", .from(length - 40_000_000))
        still.play(to: length - 39_900_000)
        let other = world.player("/a")
        for second in 1...20 as ClosedRange<Int64> {
            other.play(to: second * 50_000)
            world.queues.advance(RepriseCoreTests.second)
        }
        #expect(world.origin.requestCount < 60)
        still.play(to: length - 39_800_000)
        #expect(still.violation == nil && still.failure == nil && still.position == length - 39_800_000)
    }

    @Test func `a head of an mp3 that claims to be endless is fetched ahead without a trap`() async throws {
        let stage = Stage()
        for length in [.max, .max - 1, 1 << 60, (1 << 60) - 1] as [Int64] {
            stage.put("/a.mp3", length: length)
            let directory = TemporaryDirectory()
            let cache = try MediaCache(at: .directory(directory.path + "/store"), client: stage.client)
            do { try await cache.prefetch(stage.url("/a.mp3")).value } catch {}
            await cache.close()
        }
    }
}
