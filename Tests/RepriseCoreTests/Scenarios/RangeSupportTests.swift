import RepriseCore
import RepriseRanges
import RepriseTesting
import Testing

@testable import RepriseCore

/// An origin that answered a range with everything may serve ranges nevertheless: one node of many did not, or not that day.
@Suite struct RangeSupportTests {
    /// Plays a part while the origin serves no ranges: everything up to there is stored.
    private func playWithoutRanges(_ world: World, hasTag: Bool, to end: Int64 = 1_000_000) {
        world.put("/a", length: 3_000_000) { behaviour in
            if !hasTag { behaviour.dropValidators() }
            behaviour.ranges = .ignored
        }
        world.play("/a", ByteRange(500_000, end)).expectWhole(end, from: 500_000)
        world.queues.advance(60 * second)
    }

    @Test(arguments: [true, false], [true, false])
    func `what is stored is not paid for again where ranges are served again, inv02`(
        hasTag: Bool, restarts: Bool
    ) throws {
        let world = try World()
        playWithoutRanges(world, hasTag: hasTag)
        world.origin.change("/a") { $0.behaviour.ranges = .served }
        if restarts { try world.restart() } else { world.queues.advance(60 * second) }
        let paid = world.origin.bodyBytes
        world.play("/a", ByteRange(2_500_000, 2_600_000)).expectWhole(2_600_000, from: 2_500_000)
        world.play("/a", ByteRange(1_500_000, 1_600_000)).expectWhole(1_600_000, from: 1_500_000)
        #expect(world.origin.bodyBytes - paid < 1_600_000)
    }

    @Test(arguments: [true, false])
    func `an origin without ranges is tried once, not with every transfer`(hasTag: Bool) throws {
        let world = try World()
        playWithoutRanges(world, hasTag: hasTag)
        try world.restart()
        var requests = world.origin.requestCount
        world.play("/a", ByteRange(1_500_000, 1_600_000)).expectWhole(1_600_000, from: 1_500_000)
        #expect(world.origin.requestCount - requests <= 2)
        requests = world.origin.requestCount
        world.play("/a", .from(2_500_000)).expectWhole(3_000_000, from: 2_500_000)
        #expect(world.origin.requestCount - requests <= 1)
    }
}
