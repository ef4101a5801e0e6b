import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

@testable import RepriseCore

/// Answers after which the same request would be sent again: each has to end what it was for, or to be waited for.
@Suite struct EndlessAnswerTests {
    /// An origin that nothing tells the versions of apart by; its answers take ten milliseconds.
    private func plain(_ change: @escaping (inout OriginBehaviour) -> Void = { _ in }) -> (inout OriginBehaviour) ->
        Void
    {
        { behaviour in
            behaviour.dropValidators()
            behaviour.firstByteDelay = 10 * millisecond
            change(&behaviour)
        }
    }

    /// Has a player read for so long: it ends by then, and few requests were sent for it.
    private func expectEnd(_ player: Player, _ world: World, location: SourceLocation = #_sourceLocation) {
        let requests = world.origin.requestCount
        player.play(patience: 40 * second)
        #expect(player.isAtEnd || player.failure != nil, "it stands at \(player.position)", sourceLocation: location)
        #expect(player.violation == nil, sourceLocation: location)
        #expect(world.origin.requestCount - requests < 40, sourceLocation: location)
    }

    @Test func `who goes back to what was trimmed where there are no ranges does not stop the cache, inv15`() throws {
        let world = try World()
        world.queues.tellCircles(after: 100_000, inAll: 2_000_000)
        world.put("/a", length: 6_000_000, plain { ($0.ranges, $0.bytesPerSecond) = (.ignored, 1_000_000) })
        let player = world.player("/a")
        player.play(to: 3_000_000)
        #expect(player.position == 3_000_000)
        #expect(world.cache.openEntries.first?.trim(1_000_000) ?? 0 > 0)
        player.seek(to: 0)
        expectEnd(player, world)
    }

    @Test func `who goes back while another is still read to reads alone where there are no ranges, inv15`() throws {
        let world = try World()
        world.queues.tellCircles(after: 100_000, inAll: 2_000_000)
        world.put("/a", length: 6_000_000, plain { ($0.ranges, $0.bytesPerSecond) = (.ignored, 1_000_000) })
        let players = [world.player("/a"), world.player("/a")]
        for player in players { player.play(to: 3_000_000) }
        #expect(players.allSatisfy { $0.position == 3_000_000 })
        // The answer is paused, as neither reads on.
        world.queues.advance(10 * second)
        #expect(world.cache.openEntries.first?.trim(1_000_000) ?? 0 > 0)
        players[1].seek(to: 0)
        expectEnd(players[1], world)
        expectEnd(players[0], world)
    }

    @Test(arguments: [OriginBehaviour.Framing.length, .chunked, .close])
    func `an empty answer where something is held ends the reader, inv15`(framing: OriginBehaviour.Framing) throws {
        let world = try World()
        world.put(
            "/a", length: 1_000_000,
            plain { ($0.ranges, $0.framing, $0.bytesPerSecond) = (.ignored, .chunked, 100_000) })
        let first = world.player("/a")
        first.play(to: 200_000)
        first.leave()
        world.queues.advance(60 * second)
        world.put("/a", length: 0, generation: 2, plain { ($0.ranges, $0.framing) = (.ignored, framing) })
        expectEnd(world.player("/a"), world)
    }

    @Test func `an empty resource in place of one of which nothing came is an empty resource, inv15`() throws {
        let world = try World()
        world.put("/a", length: 1_000_000, plain { ($0.contentRange, $0.body) = (.unknownTotal, .stall(at: 0)) })
        let first = world.player("/a")
        first.play(to: 1, patience: second)
        first.leave()
        world.queues.advance(2 * second)
        world.put("/a", length: 0, generation: 2, plain())
        let player = world.player("/a")
        expectEnd(player, world)
        #expect(player.isAtEnd && player.received == 0)
    }

    @Test func `a strict policy takes a part without a tag for another version, inv01 inv15`() throws {
        let world = try World { $0.sameness = SamenessRules(.strict) }
        world.put("/a", length: 1_000_000) { $0.hasLastModified = false }
        world.play("/a", ByteRange(0, 200_000)).expectWhole(200_000)
        world.put("/a", length: 1_000_000, generation: 2, plain { $0.heedsIfRange = false })
        expectEnd(world.player("/a"), world)
        world.play("/a").expectWhole(1_000_000)
    }

    @Test func `two readers of what is another version with each answer end, inv15`() throws {
        let world = try World { $0.sameness = SamenessRules(.strict) }
        world.put("/a", length: 1_000_000) {
            ($0.tag, $0.hasLastModified, $0.firstByteDelay) = (.perRequest, false, 10 * millisecond)
            $0.bytesPerSecond = 100_000
        }
        let players = [world.player("/a"), world.player("/a", ByteRange(600_000, 700_000))]
        world.drive(players, for: 300 * second)
        #expect(players.allSatisfy { $0.isAtEnd || $0.failure != nil })
        #expect(players.allSatisfy { $0.violation == nil })
    }

    @Test func `an answer that is still compared with what there is is not asked for again and again, inv11`() throws {
        for seed in 1...60 as ClosedRange<UInt64> {
            let world = try World(seed: seed, isOrdered: false, blockSize: 16, pieceSize: 64) { $0.freshness = .http }
            world.queues.tellCircles(after: 20_000, inAll: 2_000_000)
            world.put("/a", length: 2256) { behaviour in
                (behaviour.tag, behaviour.longestRange, behaviour.hasLastModified) = (.perRequestWeak, 30, false)
                behaviour.extraFields = ["Age": "2147483648"]
            }
            let players = [world.player("/a", ByteRange(440, 1653)), world.player("/a", .from(1669))]
            world.drive(players, for: second)
            #expect(!world.queues.goesInCircles, "seed \(seed)")
            for player in players { player.leave() }
        }
    }
}
