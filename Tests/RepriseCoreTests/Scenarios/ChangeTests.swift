import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseTesting
import Testing

/// Origins whose object changes, or whose validators say so without reason.
@Suite struct ChangeTests {
    static let length: Int64 = 3_000_001

    private func events(_ world: World) -> (EventSubscription, @Sendable () -> [CacheEvent]) {
        let heard = Recorder<CacheEvent>()
        return (world.cache.onEvent { heard.add($0) }, { heard.all })
    }

    private func change(_ world: World, to length: Int64, generation: Int = 2) {
        world.origin.change("/a") { $0.content = PositionCodedContent(length: length, generation: generation) }
    }

    @Test(arguments: [length, length - 1, length + 1, 1_000, 9_000_000])
    func `a new object is played whole from itself, never mixed with the old, inv01 inv16`(newLength: Int64) throws {
        let world = try World()
        world.put("/a", length: Self.length)
        world.play("/a", ByteRange(0, 600_000)).expectWhole(600_000)
        change(world, to: newLength)
        // The first reader may have begun on stored bytes; it gets the old ones to their end or is told.
        let first = world.play("/a")
        #expect(first.violation == nil)
        #expect(first.isAtEnd || first.failure?.code == .changed)
        let next = world.play("/a")
        next.expectWhole(newLength)
        #expect(next.generation == 2)
        try world.restart()
        world.origin.setDown(true)
        world.play("/a").expectWhole(newLength)
    }

    @Test func `a reader far from the start meets a change and gets the new object, inv16`() throws {
        let world = try World()
        world.put("/a", length: 20_000_000)
        world.play("/a", ByteRange(0, 600_000)).expectWhole(600_000)
        change(world, to: 20_000_000)
        let before = world.origin.bodyBytes
        let player = world.player("/a", ByteRange(19_000_000, 19_100_000))
        player.finish()
        player.expectWhole(19_100_000, from: 19_000_000)
        #expect(player.generation == 2)
        // The body of the 200 that told of the change is not read to the offset.
        #expect(world.origin.bodyBytes - before < 2_000_000)
    }

    @Test(arguments: [false, true])
    func `an answer that comes late does not replace what a later request brought, inv17`(isShared: Bool) throws {
        let world = try World { $0.freshness = isShared ? .http : .immutable }
        func put(_ generation: Int, delay: Int64) {
            world.put("/a", length: Self.length + Int64(generation), generation: generation) {
                ($0.tag, $0.hasLastModified) = (.none, false)
                ($0.firstByteDelay, $0.ranges, $0.bytesPerSecond) = (delay, .ignored, 2_000_000)
            }
        }
        let (subscription, events) = events(world)
        defer { withExtendedLifetime(subscription) {} }
        put(1, delay: 400 * millisecond)
        let old = world.player("/a", .from(2_000_000))
        world.drive([old], for: 100 * millisecond)
        put(2, delay: 10 * millisecond)
        let new = world.player("/a", .from(1000))
        world.drive([new, old], for: 60 * second)
        #expect(world.origin.requestCount >= 2)
        #expect(new.violation == nil && old.violation == nil)
        #expect(new.generation == 2 && new.isAtEnd, "\(String(describing: new.failure))")
        #expect(old.generation == 2 && old.isAtEnd, "\(String(describing: old.failure))")
        #expect(!events().contains { if case .generationChanged = $0 { true } else { false } })
    }

    @Test func `a confirmation that comes late does not replace what a later request brought, inv17`() throws {
        let world = try World { $0.freshness = .http }
        func put(_ generation: Int, delay: Int64) {
            world.put("/a", length: Self.length, generation: generation) {
                ($0.extraFields["Cache-Control"], $0.firstByteDelay) = ("max-age=1", delay)
            }
        }
        put(1, delay: 0)
        world.play("/a", ByteRange(0, 600_000)).expectWhole(600_000)
        world.queues.advance(10 * second)
        let (subscription, events) = events(world)
        defer { withExtendedLifetime(subscription) {} }
        put(2, delay: 400 * millisecond)
        let asking = world.player("/a", fields: ["Cache-Control": "no-cache"])
        world.drive([asking], for: 100 * millisecond)
        put(3, delay: 10 * millisecond)
        let far = world.player("/a", .from(2_000_000), fields: ["Cache-Control": "max-stale"])
        world.drive([far, asking], for: 60 * second)
        for player in [far, asking] {
            #expect(player.violation == nil && player.isAtEnd, "\(String(describing: player.failure))")
            #expect(player.generation == 3)
        }
        #expect(events().filter { if case .generationChanged = $0 { true } else { false } }.count == 1)
    }

    @Test func `an answer that comes late does not replace what a later request confirmed, inv17`() throws {
        let world = try World()
        func put(_ generation: Int, delay: Int64) {
            world.put("/a", length: Self.length, generation: generation) { $0.firstByteDelay = delay }
        }
        put(1, delay: 0)
        world.play("/a", ByteRange(0, 600_000)).expectWhole(600_000)
        let (subscription, events) = events(world)
        defer { withExtendedLifetime(subscription) {} }
        put(2, delay: 400 * millisecond)
        let first = world.player("/a", .from(1_000_000))
        world.drive([first], for: 100 * millisecond)
        put(1, delay: 10 * millisecond)
        let second = world.player("/a", .from(2_000_000))
        world.drive([second, first], for: 60 * TransferTuning.second)
        for player in [first, second] {
            #expect(player.violation == nil && player.isAtEnd && player.generation == 1)
        }
        #expect(!events().contains { if case .generationChanged = $0 { true } else { false } })
    }

    @Test func `who began on the old object keeps it as far as it is stored, who comes gets the new, inv17`() throws {
        let world = try World()
        world.put("/a", length: Self.length)
        world.play("/a", ByteRange(0, 600_000)).expectWhole(600_000)
        let old = world.player("/a", ByteRange(0, 600_000))
        old.play(to: 100_000)
        change(world, to: Self.length)
        _ = world.play("/a", ByteRange(2_000_000, 2_000_100))
        let new = world.player("/a", ByteRange(0, 600_000))
        new.play(to: 300_000)
        old.finish()
        old.expectWhole(600_000)
        new.finish()
        new.expectWhole(600_000)
        #expect(old.generation == 1)
        #expect(new.generation == 2)
        world.queues.advance(60 * second)
        #expect(world.memory.paths.filter { $0.contains("/body.") }.count == 1, "the old one is dropped")
    }

    @Test func `a reader of the old object past what is stored is told of the change, inv17 bug28`() throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.bytesPerSecond = 1_000_000 }
        let player = world.player("/a")
        player.play(to: 300_000)
        change(world, to: 200_000)
        player.finish()
        #expect(player.violation == nil)
        #expect(player.failure?.code == .changed)
        world.play("/a").expectWhole(200_000)
    }

    @Test func `a complete entry is replaced only by a complete one, inv28`() throws {
        let world = try World()
        world.put("/a", length: 500_000)
        world.play("/a").expectWhole(500_000)
        // Its own key asks for no network, so a longer object is met through a request past the end.
        change(world, to: 700_000)
        _ = world.play("/a", .from(500_000))
        world.play("/a").expectWhole(500_000)
        try world.restart()
        world.origin.setDown(true)
        world.play("/a").expectWhole(500_000)
    }

    @Test(arguments: [OriginBehaviour.Tag.weak, .none])
    func `without a strong tag the date or stored bytes prove the continuation, inv16`(tag: OriginBehaviour.Tag) throws
    {
        for hasDate in [true, false] {
            let world = try World()
            world.put("/a", length: Self.length) {
                $0.tag = tag
                $0.hasLastModified = hasDate
            }
            world.play("/a", ByteRange(0, 600_000)).expectWhole(600_000)
            world.play("/a", ByteRange(500_000, 900_000)).expectWhole(900_000, from: 500_000)
            world.play("/a").expectWhole(Self.length)
            #expect(world.origin.bodyBytes <= Self.length + 4 * 4096 + 4 * world.blockSize)
        }
    }

    @Test(arguments: [OriginBehaviour.Tag.weak, .none])
    func `an overlap that differs is another object, inv01 inv16`(tag: OriginBehaviour.Tag) throws {
        let world = try World()
        world.put("/a", length: Self.length) {
            $0.tag = tag
            $0.hasLastModified = false
        }
        world.play("/a", ByteRange(0, 600_000)).expectWhole(600_000)
        change(world, to: Self.length)
        // A weak tag that differs is seen in the head, without any tag only the overlap tells.
        let first = world.play("/a")
        #expect(first.violation == nil)
        #expect(first.isAtEnd || first.failure?.code == .changed)
        let next = world.play("/a")
        next.expectWhole(Self.length)
        #expect(next.generation == 2)
    }

    @Test func `tags that differ by request are seen through, reported, and nothing is fetched twice, bug31`() throws {
        let world = try World()
        let (subscription, heard) = events(world)
        defer { withExtendedLifetime(subscription) {} }
        world.put("/a", length: Self.length) { $0.tag = .perRequest }
        world.play("/a", ByteRange(0, 600_000)).expectWhole(600_000)
        world.play("/a").expectWhole(Self.length)
        #expect(heard().contains(.demotedEntityTags(host: "http://origin.test")))
        #expect(world.origin.bodyBytes <= Self.length + 100_000)
        let requests = world.origin.requestCount
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.requestCount == requests)
    }

    @Test func `a demoted host's changed object is still noticed by its date, inv01 bug31`() throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.tag = .perRequest }
        world.play("/a", ByteRange(0, 900_000)).expectWhole(900_000)
        change(world, to: Self.length)
        let first = world.play("/a")
        #expect(first.violation == nil)
        #expect(first.isAtEnd || first.failure?.code == .changed)
        world.play("/a").expectWhole(Self.length)
    }

    @Test func `an origin that ignores If-Range is caught by its own validators, inv16`() throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.heedsIfRange = false }
        world.play("/a", ByteRange(0, 600_000)).expectWhole(600_000)
        change(world, to: Self.length)
        let first = world.play("/a")
        #expect(first.violation == nil)
        #expect(first.isAtEnd || first.failure?.code == .changed)
        let next = world.play("/a")
        next.expectWhole(Self.length)
        #expect(next.generation == 2)
    }

    @Test func `the strict policy begins anew where there is no strong tag`() throws {
        let world = try World { $0.sameness = SamenessRules(.strict) }
        world.put("/a", length: Self.length) { $0.tag = .weak }
        _ = world.play("/a", ByteRange(0, 200_000))
        for _ in 0..<3 {
            let player = world.play("/a")
            #expect(player.violation == nil)
            #expect(player.isAtEnd || player.failure != nil)
        }
    }

    @Test func `a reader that waits behind the new end is released, bug28`() throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.firstByteDelay = 100 * millisecond }
        world.play("/a", ByteRange(0, 100)).expectWhole(100)
        let player = world.player("/a", .from(2_500_000))
        _ = player.take()
        change(world, to: 1000)
        player.play(patience: 40 * second)
        #expect(player.isAtEnd || player.failure != nil)
        #expect(player.violation == nil)
    }
}
