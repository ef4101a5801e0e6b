import RepriseCore
import RepriseRanges
import RepriseTesting
import Testing

@Suite struct PlayingTests {
    static let song: Int64 = 3_000_001

    @Test func `a first play brings every byte once and the second costs the origin nothing, inv10 inv13`() throws {
        let world = try World()
        world.put("/song.mp3", length: Self.song)
        try world.expectBoughtOnce("/song.mp3", length: Self.song)
    }

    @Test(arguments: [7, 16, 32_768])
    func `any partition of the object into requests gives the object, inv06`(blockSize: Int64) throws {
        let world = try World(blockSize: blockSize, pieceSize: 50)
        let length: Int64 = 5003
        world.put("/a", length: length)
        var random = SeededGenerator(seed: UInt64(blockSize))
        var cuts = (0..<20).map { _ in Int64.random(in: 0..<length, using: &random) } + [0, length]
        cuts = Array(Set(cuts)).sorted()
        for (start, end) in zip(cuts, cuts.dropFirst()).shuffled(using: &random) {
            world.play("/a", ByteRange(start, end)).expectWhole(end, from: start)
        }
        world.play("/a").expectWhole(length)
    }

    @Test func `k readers of one resource share one transfer, inv11`() throws {
        let world = try World()
        world.put("/a", length: Self.song) { $0.bytesPerSecond = 500_000 }
        let players = (0..<8).map { _ in world.player("/a") }
        for _ in 0..<20_000 where !players.allSatisfy(\.isAtEnd) {
            for player in players { player.take() }
            world.queues.advance(millisecond)
        }
        for player in players { player.expectWhole(Self.song) }
        #expect(world.origin.bodyBytes == Self.song)
    }

    @Test func `a seek into the tail starts at once and does not wait for the head, inv12`() throws {
        let world = try World()
        world.put("/a", length: 50_000_000) { $0.bytesPerSecond = 200_000 }
        let head = world.player("/a")
        head.play(to: 100_000)
        let before = world.queues.time
        let tail = world.player("/a", .from(49_990_000))
        tail.play(to: 49_990_001)
        #expect(tail.position > 49_990_000)
        #expect(world.queues.time - before < second)
        #expect(tail.violation == nil)
    }

    @Test func `when the last reader leaves the origin's bytes stop within the read-ahead, inv14`() throws {
        let world = try World()
        world.put("/a", length: 50_000_000) { $0.bytesPerSecond = 20_000_000 }
        let player = world.player("/a")
        player.play(to: 1 << 20)
        player.leave()
        world.queues.advance(10 * second)
        #expect(world.origin.bodyBytes <= (1 << 20) + 512 * 1024)
    }

    @Test func `a paused reader blocks nobody, inv15 bug30`() throws {
        let world = try World()
        world.put("/a", length: Self.song)
        let paused = world.player("/a")
        paused.play(to: 10_000)
        world.play("/a").expectWhole(Self.song)
        world.play("/a").expectWhole(Self.song)
        paused.finish()
        paused.expectWhole(Self.song)
        #expect(world.origin.bodyBytes == Self.song)
    }

    @Test func `an origin without ranges is read once from its start and stored, bug02`() throws {
        let world = try World()
        world.put("/a", length: Self.song) { $0.ranges = .ignored }
        let tail = world.player("/a", ByteRange(2_000_000, 2_000_100))
        tail.play()
        tail.expectWhole(2_000_100, from: 2_000_000)
        world.play("/a").expectWhole(Self.song)
        #expect(world.origin.requestCount == 1)
        #expect(world.origin.bodyBytes == Self.song)
    }

    @Test(arguments: [OriginBehaviour.Framing.chunked, .close])
    func `an unknown length is served to its end`(framing: OriginBehaviour.Framing) throws {
        let world = try World()
        world.put("/a", length: 300_000) {
            $0.framing = framing
            $0.ranges = .ignored
        }
        world.play("/a").expectWhole(300_000)
        let requests = world.origin.requestCount
        world.play("/a").expectWhole(300_000)
        // A delimited end is an end; one told by closing is asked again.
        #expect((world.origin.requestCount == requests) == (framing == .chunked))
    }

    @Test func `a range past the end says how long the resource is, bug32`() throws {
        let world = try World()
        world.put("/a", length: 1000)
        let player = world.play("/a", .from(5000))
        #expect(player.failure?.code == .rangeNotSatisfiable(length: 1000))
        world.play("/a").expectWhole(1000)
    }

    @Test func `who waits past the end is told so once somebody else's answer shows it, inv26 bug32`() throws {
        // Without ranges one request serves both: who waits does not ask for itself.
        let world = try World()
        world.put("/a", length: Self.song) {
            $0.ranges = .ignored
            $0.framing = .chunked
            $0.body = .reset(at: 100_000)
            $0.bytesPerSecond = 500_000
        }
        let head = world.player("/a")
        head.play(to: 10_000)
        let late = world.player("/a", .from(Self.song + 1))
        late.take()
        world.origin.change("/a") { resource in
            resource.behaviour.framing = .length
            resource.behaviour.body = .none
        }
        head.play(to: Self.song / 2)
        late.play(patience: 0)
        #expect(late.failure?.code == .rangeNotSatisfiable(length: Self.song))
    }

    @Test func `a length that is learnt later is stored, inv13`() throws {
        let world = try World()
        world.put("/a", length: Self.song) { $0.contentRange = .unknownTotal }
        let first = world.player("/a")
        first.play(to: 10_000)
        first.leave()
        world.queues.advance(60 * second)
        world.origin.change("/a") { $0.behaviour.contentRange = .none }
        world.play("/a").expectWhole(Self.song)
        world.queues.advance(second)
        try world.kill()
        world.origin.setDown(true)
        world.play("/a").expectWhole(Self.song)
    }

    @Test func `a reader that finds no free connection to the host gets an error in time, inv26`() throws {
        let world = try World(pieceSize: 500) { $0.tuning.requestsPerHost = 1 }
        world.put("/busy", length: 5_000_000) { $0.bytesPerSecond = 5_000 }
        world.put("/late", length: 1000)
        let busy = world.player("/busy")
        busy.play(to: 3_000)
        let late = world.player("/late")
        for _ in 0..<300 where late.failure == nil {
            busy.take()
            late.take()
            world.queues.advance(100 * millisecond)
        }
        #expect(late.failure?.code == .originTimedOut)
        #expect(busy.violation == nil)
    }

    @Test func `a reader of nothing learns what the resource is, inv26`() throws {
        let world = try World()
        world.put("/a", length: 1000)
        let player = world.player("/a", ByteRange(5, 5))
        var info: ContentInfo?
        for _ in 0..<100 where info == nil {
            if case .success(let found) = player.handle.info(wake: {}) { info = found }
            world.queues.advance(millisecond)
        }
        #expect(info?.length == 1000)
    }

    @Test func `an empty resource ends at once`() throws {
        let world = try World()
        world.put("/a", length: 0)
        let player = world.play("/a")
        #expect(player.violation == nil)
        #expect(player.received == 0)
    }

    @Test func `one song after the other does not keep all of them open, and nothing is lost, inv10 inv22`() throws {
        let world = try World { $0.tuning.mostIdle = 8 }
        // Files are made and written later than songs are over.
        world.queues.setDiskDelay(read: 20 * millisecond, write: 20 * millisecond)
        world.put("/read.mp3", length: 200_000)
        let reader = world.player("/read.mp3")
        reader.play(to: 50_000)
        var most = 0
        for number in 0..<60 {
            world.put("/\(number).mp3", length: 3000)
            world.play("/\(number).mp3").expectWhole(3000)
            most = max(most, world.cache.openEntries.count)
        }
        #expect(most <= 16, "\(most)")
        #expect(world.cache.openEntries.contains { $0.key.text.hasSuffix("/read.mp3") }, "who is read stays")
        let bytes = world.origin.bodyBytes
        reader.play()
        reader.expectWhole(200_000)
        let more = world.origin.bodyBytes - bytes
        world.queues.advance(10 * second)
        world.origin.setDown(true)
        for number in 0..<60 { world.play("/\(number).mp3").expectWhole(3000) }
        #expect(world.origin.bodyBytes == bytes + more)
    }
}
