import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

/// Connection slots of a host: a transfer whose readers take nothing gives its slot to one that is waited for.
@Suite struct ConnectionSlotTests {
    @Test(arguments: [true, false], [true, false])
    func `readers that take nothing hold no slot that another reader waits for, inv12 inv15`(
        isStored: Bool, servesRanges: Bool
    ) throws {
        let world = try World { $0.freshness = .http }
        for number in 0..<12 {
            world.put("/s\(number)", length: 50_000_000) { behaviour in
                behaviour.extraFields = ["Cache-Control": isStored ? "max-age=600" : "no-store"]
                if !servesRanges { behaviour.ranges = .ignored }
            }
        }
        world.put("/wanted", length: 300_000)
        let stalled = (0..<12).map { world.player("/s\($0)") }
        for player in stalled { player.take(1000) }
        world.queues.advance(second)
        for player in stalled { player.take(1000) }
        let begun = world.queues.time
        let wanted = world.player("/wanted")
        wanted.finish()
        wanted.expectWhole(300_000)
        #expect(world.queues.time - begun < 15 * second)
        for player in stalled { #expect(player.violation == nil) }
        if servesRanges {
            for player in stalled.prefix(3) {
                player.play(to: 2_000_000)
                #expect(player.position >= 2_000_000 || player.failure == nil, "\(String(describing: player.failure))")
            }
        }
        for player in stalled { player.leave() }
    }
}
