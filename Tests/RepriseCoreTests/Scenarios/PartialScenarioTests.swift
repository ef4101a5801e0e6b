import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

/// `.http`: what the engine does with stored parts.
@Suite struct PartialScenarioTests {
    static let length: Int64 = 600_001

    private func world(_ change: (inout OriginBehaviour) -> Void = { _ in }) throws -> World {
        let world = try World { $0.freshness = .http }
        world.put("/a", length: Self.length) {
            $0.extraFields["Cache-Control"] = "max-age=600"
            change(&$0)
        }
        return world
    }

    private static func loose(_ behaviour: inout OriginBehaviour) {
        behaviour.tag = .weak
        behaviour.hasLastModified = false
    }

    @Test func `a smaller range is served from a stored one, RFC 9111 §3.3 and RFC 9110 §14.2`() throws {
        let world = try world()
        world.play("/a", ByteRange(0, 200_000)).expectWhole(200_000)
        let requests = world.origin.requestCount
        let player = world.player("/a", ByteRange(50_000, 150_000))
        player.play()
        player.expectWhole(150_000, from: 50_000)
        #expect(player.handle.outcome?.isHit == true && world.origin.requestCount == requests)
        player.leave()
    }

    @Test func `a stored part is completed by what is missing only, RFC 9111 §3.4`() throws {
        let world = try world()
        world.play("/a", ByteRange(200_000, 300_000)).expectWhole(300_000, from: 200_000)
        try world.restart()
        let player = world.player("/a", ByteRange(200_000, 500_000))
        player.play()
        player.expectWhole(500_000, from: 200_000)
        #expect(player.handle.outcome?.forward == .partial || player.handle.outcome?.isHit == true)
        player.leave()
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.bodyBytes <= Self.length + 2 * world.blockSize)
    }

    @Test func `every request that completes a part is conditional on its strong tag, RFC 9110 §13.1.5`() throws {
        let world = try world()
        world.play("/a", ByteRange(0, 100_000)).expectWhole(100_000)
        let before = world.origin.requestCount
        world.play("/a").expectWhole(Self.length)
        let log = world.origin.log.dropFirst(before)
        #expect(!log.isEmpty && log.allSatisfy { $0.fields["If-Range"]?.hasPrefix("\"") == true })
    }

    @Test func `a suffix is served from what is stored, RFC 9110 §14.1.2`() throws {
        let world = try world()
        world.play("/a", ByteRange(500_000, Self.length)).expectWhole(Self.length, from: 500_000)
        let requests = world.origin.requestCount
        let player = world.player("/a")
        guard case .success(let info?) = player.handle.info(wake: {}) else {
            Issue.record("nothing is told of what is stored")
            return
        }
        let request = ConditionalRequest(method: "GET", fields: ["Range": "bytes=-1000"])
        let range = try #require(request.answer(info).range)
        player.leave()
        #expect(range == ByteRange(Self.length - 1_000, Self.length))
        world.play("/a", range).expectWhole(Self.length, from: Self.length - 1_000)
        #expect(world.origin.requestCount == requests)
    }

    @Test func `what is complete by parts is one whole, RFC 9111 §3.4`() throws {
        let world = try world()
        world.play("/a", ByteRange(300_000, Self.length)).expectWhole(Self.length, from: 300_000)
        world.play("/a", ByteRange(0, 300_000)).expectWhole(300_000)
        try world.restart()
        let requests = world.origin.requestCount
        let player = world.player("/a")
        player.play()
        player.expectWhole(Self.length)
        #expect(player.handle.outcome?.isHit == true && world.origin.requestCount == requests)
        player.leave()
    }

    @Test func `a part without a strong validator is not completed but fetched anew, RFC 9111 §3.4 and inv16`() throws {
        let world = try world(Self.loose)
        world.play("/a", ByteRange(0, 100_000)).expectWhole(100_000)
        try world.restart()
        world.origin.change("/a") { $0.content = PositionCodedContent(length: Self.length, generation: 2) }
        let bytes = world.origin.bodyBytes
        let player = world.play("/a")
        player.expectWhole(Self.length)
        #expect(player.generation == 2 && world.origin.bodyBytes - bytes >= Self.length)
    }

    @Test func `a range that is stored is served without a strong validator, RFC 9111 §3.3`() throws {
        let world = try world(Self.loose)
        world.play("/a", ByteRange(0, 100_000)).expectWhole(100_000)
        try world.restart()
        let requests = world.origin.requestCount
        world.play("/a", ByteRange(10_000, 90_000)).expectWhole(90_000, from: 10_000)
        #expect(world.origin.requestCount == requests)
    }

    @Test func `a part whose tag changed is never joined with what comes, RFC 9111 §3.4 and inv01`() throws {
        let world = try world()
        world.play("/a", ByteRange(0, 100_000)).expectWhole(100_000)
        world.origin.change("/a") { $0.content = PositionCodedContent(length: 700_000, generation: 2) }
        let first = world.play("/a")
        #expect(first.violation == nil)
        let next = world.play("/a")
        next.expectWhole(700_000)
        #expect(next.generation == 2)
    }

    @Test func `a part is not given for the whole, RFC 9111 §3.3`() throws {
        let world = try world()
        world.play("/a", ByteRange(0, 100_000)).expectWhole(100_000)
        world.origin.setDown(true)
        let player = world.play("/a")
        #expect(player.failure?.code == .originUnreachable && !player.isAtEnd)
    }
}
