import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

/// Players that begin with a look at very few bytes.
@Suite struct ProbeTests {
    @Test(arguments: [1, 2, 15, 16, 100] as [Int64])
    func `a probe of a few bytes is answered with one request, kept, and tells the true length, bug25 bug33`(
        count: Int64
    ) throws {
        for pieceSize in [1, 3, 16_384] {
            let world = try World(pieceSize: pieceSize)
            world.put("/a", length: 1_000)
            let probe = world.player("/a", ByteRange(0, count))
            probe.finish()
            probe.expectWhole(count)
            world.queues.advance(5 * second)
            #expect(world.origin.requestCount == 1)
            #expect(world.origin.log.first?.fields["Range"] == "bytes=0-511")
            let whole = world.player("/a")
            whole.finish()
            whole.expectWhole(1_000)
            guard case .failure = whole.handle.info(wake: {}) else { return #expect(Bool(false), "it has left") }
            #expect(world.origin.bodyBytes == 1_000)
        }
    }

    @Test func `a body of unknown length that is shorter than the sniffer wants is fetched once`() throws {
        let world = try World()
        world.put("/a", length: 5) {
            $0.framing = .chunked
            $0.ranges = .ignored
        }
        world.play("/a").expectWhole(5)
        world.play("/a").expectWhole(5)
        #expect(world.origin.requestCount == 1)
    }

    @Test(arguments: [false, true])
    func `what is played elsewhere is stored although too few first bytes came to tell it from a page, inv23`(
        isLeftLater: Bool
    ) throws {
        let world = try World(pieceSize: 64) { $0.tuning.unwrittenLimit = 262_144 }
        let length: Int64 = 1_300_000
        var slow = OriginBehaviour()
        slow.bytesPerSecond = 64
        // Nothing at its beginning says what it is.
        world.origin.put(.init(PositionCodedContent(length: length, signature: []), slow), at: "/a")
        let first = world.player("/a")
        first.play(to: 64, patience: 2 * second)
        #expect(first.position == 64)
        world.origin.change("/a") { $0.behaviour.bytesPerSecond = 0 }
        let player = world.player("/a", ByteRange(1_000_000, length))
        if isLeftLater { player.play(to: 1_000_100) }
        first.leave()
        let begun = world.queues.time
        player.finish()
        player.expectWhole(length, from: 1_000_000)
        #expect(world.queues.time - begun < 5 * second)
        world.queues.advance(5 * second)
        #expect(world.cache.statistics.stored >= 300_000)
    }

    @Test func `the length is that of the object, never of the probe's answer, bug25`() throws {
        let world = try World()
        world.put("/a", length: 1_000_000)
        let probe = world.player("/a", ByteRange(0, 2))
        probe.play()
        guard case .success(let info?) = probe.handle.info(wake: {}) else { return #expect(Bool(false), "no info") }
        #expect(info.length == 1_000_000)
        #expect(info.contentType == "audio/mpeg")
        #expect(info.servesRanges)
    }
}
