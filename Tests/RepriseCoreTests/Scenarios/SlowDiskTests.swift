import Dispatch
import RepriseCore
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// A disk that takes its time: whoever wants what is in a window does not wait for it.
@Suite struct SlowDiskTests {
    /// Less than a window, so that all of it is in memory until the first write has ended.
    private static let length: Int64 = 900_000
    private static let rate: Int64 = 500_000

    /// When each piece came to a first player and to one that begins where the first one is in the middle, with two more
    /// resources on the same disk.
    private func arrivals(write: Int64) throws -> (times: [Int64], stored: Int64) {
        let world = try World()
        world.queues.setDiskDelay(read: 0, write: write)
        for path in ["/a", "/b", "/c"] { world.put(path, length: Self.length) { $0.bytesPerSecond = Self.rate } }
        let begun = world.queues.time
        var times: [Int64] = []
        let first = world.player("/a")
        let others = ["/b", "/c"].map { world.player($0) }
        var late: Player?
        for target in stride(from: 100_000, through: Self.length, by: 100_000) {
            first.play(to: target)
            times.append(world.queues.time - begun)
            for other in others { other.take() }
            if target == Self.length / 2 + 50_000 { late = world.player("/a") }
            if let late {
                late.play(to: target)
                times.append(world.queues.time - begun)
            }
        }
        let stored = world.cache.statistics.stored
        for player in others + [first] + (late.map { [$0] } ?? []) {
            player.finish()
            player.expectWhole(Self.length)
        }
        // What was held up is stored all the same.
        try world.restart()
        world.origin.setDown(true)
        for path in ["/a", "/b", "/c"] { world.play(path).expectWhole(Self.length) }
        return (times, stored)
    }

    @Test func `writes of two seconds delay no reader whose bytes are in a window, by nothing at all, inv23`() throws {
        let quick = try arrivals(write: 0)
        let slow = try arrivals(write: 2 * second)
        #expect(slow.times == quick.times)
        #expect(slow.stored < quick.stored, "the disk was not slow")
    }

    @Test(arguments: [false, true], [Int64(0), 1, 50, 500])
    func `who goes on in the middle of a block waits for its beginning to be written, inv10`(
        isSealed: Bool, milliseconds: Int64
    ) throws {
        let world = try World { configuration in
            if isSealed { configuration.seal = .testing }
        }
        // Its files are made late, and then there is more to write than goes at once.
        world.queues.setDiskDelay(read: 500 * millisecond, write: milliseconds * millisecond)
        let middles: [Int64] = [300_000, 500_000, 800_000]
        world.put("/a", length: Self.length)
        var position: Int64 = 0
        for middle in middles + [Self.length] {
            let player = world.player("/a", ByteRange(position, middle))
            player.finish()
            #expect(player.position == middle && player.violation == nil)
            position = middle
        }
        #expect(world.cache.statistics.stored < Self.length, "all was written before it came")
        world.queues.advance(60 * second)
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.bodyBytes == Self.length)
    }

    @Test
    func `while a write does not return, whoever reads on, comes later or goes back in the window is served, inv23`()
        async throws
    {
        let stage = Stage()
        let stuck = StuckWrites()
        defer { stuck.release() }
        stage.files.setRule { operation, path, _ in
            if operation == .write, path.contains("/body.") { stuck.pass() }
            return nil
        }
        stage.put("/a", length: 500_000)
        let cache = try stage.open()
        for range in [ByteRange.from(0), .from(0), ByteRange(100_000, 300_000), ByteRange(499_999, 500_000)] {
            let expected = min(range.upperBound, 500_000) - range.lowerBound
            #expect(try await stage.read("/a", range, from: cache) == expected)
        }
        #expect(cache.statistics.stored == 0)
        stuck.release()
        await cache.close()
        #expect(cache.statistics.stored == 500_000)
        #expect(stage.origin.bodyBytes == 500_000)
    }
}

/// Writes that wait until they are let go on.
private final class StuckWrites: Sendable {
    private let gate = DispatchSemaphore(value: 0)

    func pass() {
        gate.wait()
        gate.signal()
    }

    func release() { gate.signal() }
}
