import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

/// What is never stored (playlists, pages, JSON that changes) lives as long as its readers and is never replayed.
@Suite struct TransientTests {
    private static let types = ["application/vnd.apple.mpegurl", "text/html; charset=utf-8", "application/dash+xml"]

    private func text(_ world: World, _ number: Int, type: String, _ change: (inout OriginBehaviour) -> Void = { _ in })
    {
        var behaviour = OriginBehaviour()
        behaviour.contentType = type
        change(&behaviour)
        world.origin.put(
            .init(PositionCodedContent(length: 1000 + Int64(number) * 28, generation: number), behaviour), at: "/live")
    }

    @Test(arguments: types, [OriginBehaviour.Ranges.served, .ignored])
    func `a playlist that grew is fetched anew, with its own head, inv20`(
        type: String, ranges: OriginBehaviour.Ranges
    ) throws {
        let world = try World()
        for number in 1...5 {
            text(world, number, type: type) { $0.ranges = ranges }
            let player = world.player("/live")
            let begun = world.queues.time
            player.finish()
            player.expectWhole(1000 + Int64(number) * 28)
            #expect(player.generation == number)
            #expect(world.queues.time - begun < second)
        }
        #expect(world.origin.requestCount == 5)
    }

    @Test(arguments: ["text/plain", "application/octet-stream", "audio/mpeg"], ["#EXTM3U\n", "<MPD "])
    func `a playlist that its origin calls something else is fetched anew, too, inv20`(type: String, begin: String)
        throws
    {
        let world = try World()
        for number in 1...3 {
            var behaviour = OriginBehaviour()
            behaviour.contentType = type
            let content = PositionCodedContent(length: 1000, generation: number, signature: Array(begin.utf8))
            world.origin.put(.init(content, behaviour), at: "/live")
            let player = world.player("/live")
            player.knownGenerations = [number]
            player.finish()
            #expect(player.isAtEnd && player.violation == nil)
        }
        #expect(world.origin.requestCount == 3)
        #expect(!world.memory.paths.contains { $0.contains("/body.") })
    }

    @Test(arguments: ["<svg >", "<?xml ?>"])
    func `a picture in XML is no page, and stored`(begin: String) throws {
        let world = try World()
        var behaviour = OriginBehaviour()
        behaviour.contentType = "image/svg+xml"
        world.origin.put(
            .init(PositionCodedContent(length: 1000, signature: Array(begin.utf8)), behaviour), at: "/a.svg")
        try world.expectBoughtOnce("/a.svg", length: 1000)
    }

    @Test func `a playlist that grew while another reads the old one is fetched anew, inv20`() throws {
        let world = try World()
        text(world, 1, type: Self.types[0]) { $0.bytesPerSecond = 1000 }
        let slow = world.player("/live")
        slow.play(to: 10)
        text(world, 2, type: Self.types[0])
        let next = world.player("/live")
        next.finish()
        next.expectWhole(1056)
        #expect(next.generation == 2)
        slow.finish()
        slow.expectWhole(1028)
        #expect(slow.generation == 1)
    }

    @Test func `identical requests at the same moment share one transfer`() throws {
        let world = try World()
        text(world, 1, type: Self.types[0]) { $0.firstByteDelay = 100 * millisecond }
        let players = (0..<4).map { _ in world.player("/live") }
        for player in players { player.take() }
        for player in players { player.finish() }
        for player in players { player.expectWhole(1028) }
        #expect(world.origin.requestCount == 1)
    }
}
