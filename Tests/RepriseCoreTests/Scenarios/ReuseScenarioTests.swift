import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

/// `.http`: what requests may ask of the cache, what is served stale, and what is told of it.
@Suite struct ReuseScenarioTests {
    static let length: Int64 = 400_001

    private func world(_ control: String, _ more: [String: String] = [:]) throws -> World {
        let world = try World { $0.freshness = .http }
        world.put("/a", length: Self.length) {
            $0.extraFields["Cache-Control"] = control
            for (name, value) in more { $0.extraFields[name] = value }
        }
        return world
    }

    /// Plays everything and answers how the request was handled.
    private func outcome(_ world: World, _ control: String? = nil, _ range: ByteRange = .from(0)) -> CacheStatus? {
        var fields = HTTPFields()
        fields["Cache-Control"] = control
        let player = world.player("/a", range, fields: fields)
        player.play()
        #expect(player.violation == nil && player.failure == nil && player.isAtEnd)
        defer { player.leave() }
        return player.handle.outcome
    }

    private func info(_ player: Player) throws -> ContentInfo {
        for _ in 0..<10_000 {
            if let info = try player.handle.info(wake: {}).get() { return info }
            guard player.world.queues.runOne(until: player.world.queues.time + 60 * second) else { break }
        }
        throw CacheError(.originTimedOut, "nothing was told")
    }

    @Test func `the first is a miss that is stored, the second a hit, RFC 9211 §2`() throws {
        let world = try world("max-age=60")
        let first = try #require(outcome(world))
        #expect(first.forward == .uriMiss && first.isStored && !first.isCollapsed && first.forwardStatus == 206)
        world.queues.advance(10 * second)
        let next = try #require(outcome(world))
        #expect(next.isHit && next.ttl == 50)
    }

    @Test func `who joins another's first request is told so, RFC 9211 §2.6`() throws {
        let world = try world("max-age=60")
        let players = (0..<2).map { _ in world.player("/a") }
        for player in players { player.take() }
        for player in players { player.play() }
        let outcomes = players.map { $0.handle.outcome }
        #expect(
            outcomes.allSatisfy { $0?.forward == .uriMiss } && outcomes.filter { $0?.isCollapsed == true }.count == 1)
        for player in players { player.leave() }
    }

    @Test(arguments: ["no-cache", "max-age=5", "min-fresh=55"])
    func `a request may want a fresh answer confirmed, RFC 9111 §5.2.1`(control: String) throws {
        let world = try world("max-age=60")
        _ = outcome(world)
        world.queues.advance(10 * second)
        let requests = world.origin.requestCount
        let told = try #require(outcome(world, control))
        #expect(told.forward == .request && told.forwardStatus == 304)
        #expect(world.origin.requestCount == requests + 1 && world.origin.log.last?.status == 304)
    }

    @Test(arguments: ["no-cache", "max-age=0"])
    func `who reloads has what was published before, whatever was asked by then, RFC 9111 §5.2.1.4`(control: String)
        throws
    {
        let world = try world("max-age=60")
        _ = outcome(world)
        world.origin.change("/a") { $0.behaviour.firstByteDelay = 5 * second }
        func reload() -> Player { world.player("/a", fields: ["Cache-Control": control]) }
        let before = reload()
        before.take()
        world.queues.advance(second)
        world.put("/a", length: Self.length, generation: 2) { $0.extraFields["Cache-Control"] = "max-age=60" }
        let requests = world.origin.requestCount
        let after = [reload(), reload()]
        for player in after { player.take() }
        for player in [before] + after { player.finish() }
        #expect(before.generation == 1 && after.map(\.generation) == [2, 2])
        #expect(world.origin.log.dropFirst(requests).filter { $0.fields.contains("If-None-Match") }.count == 1)
    }

    @Test func `a request may take what is stale, RFC 9111 §5.2.1.2`() throws {
        let world = try world("max-age=60")
        _ = outcome(world)
        world.queues.advance(70 * second)
        let requests = world.origin.requestCount
        let told = try #require(outcome(world, "max-stale=10"))
        #expect(told.isHit && told.ttl == -10 && world.origin.requestCount == requests)
    }

    @Test func `only-if-cached asks the origin nothing, RFC 9111 §5.2.1.7`() throws {
        let world = try world("max-age=6000")
        let missing = world.play("/a", fields: ["Cache-Control": "only-if-cached"])
        #expect(missing.failure?.code == .originRefused(status: 504) && world.origin.requestCount == 0)
        _ = outcome(world, nil, ByteRange(0, 100_000))
        let requests = world.origin.requestCount
        #expect(outcome(world, "only-if-cached", ByteRange(1_000, 90_000))?.isHit == true)
        let partial = world.play("/a", fields: ["Cache-Control": "only-if-cached"])
        #expect(partial.failure?.code == .originRefused(status: 504) && partial.received == 0)
        try world.restart()
        #expect(outcome(world, "only-if-cached", ByteRange(1_000, 90_000))?.isHit == true)
        world.queues.advance(7_000 * second)
        let stale = world.play("/a", ByteRange(0, 10), fields: ["Cache-Control": "only-if-cached"])
        #expect(stale.failure?.code == .originRefused(status: 504))
        #expect(world.origin.requestCount == requests)
    }

    @Test func `an answer to a request with no-store leaves no trace, RFC 9111 §5.2.1.5`() throws {
        let world = try world("max-age=60")
        let told = try #require(outcome(world, "no-store"))
        #expect(told.forward == .bypass && !told.isStored)
        #expect(!world.memory.paths.contains { $0.contains("/body.") })
        #expect(outcome(world)?.forward == .uriMiss)
    }

    @Test func `stale-while-revalidate answers at once and asks behind it, RFC 5861 §3`() throws {
        let world = try world("max-age=60, stale-while-revalidate=30")
        _ = outcome(world)
        world.queues.advance(70 * second)
        world.origin.change("/a") { $0.behaviour.firstByteDelay = 5 * second }
        let requests = world.origin.requestCount
        let before = world.queues.time
        let told = try #require(outcome(world))
        #expect(told.isHit && (told.ttl ?? 0) < 0 && world.queues.time - before < second)
        world.queues.advance(6 * second)
        #expect(world.origin.requestCount == requests + 1 && world.origin.log.last?.status == 304)
        let next = try #require(outcome(world))
        #expect(next.isHit && (next.ttl ?? 0) > 0 && world.origin.requestCount == requests + 1)
    }

    @Test(arguments: ["no-store", "private", "no-store, stale-if-error=100"])
    func `a confirmation that takes the permission back has everyone ask first, RFC 9111 §3.2`(control: String) throws {
        let world = try world("max-age=60, stale-while-revalidate=1000")
        _ = outcome(world)
        world.queues.advance(70 * second)
        world.origin.change("/a") { $0.behaviour.extraFields["Cache-Control"] = control }
        #expect(outcome(world)?.isHit == true)
        world.queues.advance(second)
        #expect(world.origin.log.last?.status == 304)
        for _ in 0..<2 {
            let requests = world.origin.requestCount
            #expect(outcome(world)?.isHit == false && world.origin.requestCount > requests)
            world.queues.advance(second)
        }
    }

    @Test func `a full answer with the same validator has all the fields there are, RFC 9111 §4.3.3`() throws {
        let world = try world("max-age=60", ["X-Old": "1"])
        world.origin.change("/a") { ($0.behaviour.heedsIfNoneMatch, $0.behaviour.extraFields["X-Old"]) = (false, "1") }
        _ = outcome(world)
        world.queues.advance(70 * second)
        world.origin.change("/a") {
            $0.behaviour.extraFields = ["Expires": "0", "X-New": "1"]
        }
        for _ in 0..<2 {
            let requests = world.origin.requestCount
            let client = AnswerClient(world, "/a")
            client.finish()
            #expect(client.fields["X-Old"] == nil && client.fields["X-New"] == "1" && client.body.count == Self.length)
            #expect(world.origin.log.last?.status == 200 && world.origin.requestCount > requests, "it is stale at once")
        }
    }

    @Test(arguments: [OriginBehaviour.Tag.weak, .weakShared, .none])
    func `a full answer is used itself where it need not have the same bytes, RFC 9111 §4.3.3`(
        tag: OriginBehaviour.Tag
    ) throws {
        let world = try world("max-age=60", ["X-Which": "first"])
        world.origin.change("/a") {
            $0.behaviour.heedsIfNoneMatch = false
            $0.behaviour.tag = tag
            // Without a date of its own nothing tells when it changed.
            $0.behaviour.hasLastModified = false
        }
        _ = outcome(world)
        world.queues.advance(70 * second)
        if tag != .weak {
            world.origin.change("/a") { $0.content = PositionCodedContent(length: Self.length, generation: 2) }
        }
        world.origin.change("/a") { $0.behaviour.extraFields["X-Which"] = "second" }
        let requests = world.origin.requestCount
        for _ in 0..<2 {
            let client = AnswerClient(world, "/a")
            client.finish()
            #expect(client.fields["X-Which"] == "second")
            let content = PositionCodedContent(length: Self.length, generation: tag == .weak ? 1 : 2)
            #expect(client.body.count == Self.length && content.firstMismatch(client.body[...], at: 0) == nil)
        }
        #expect(world.origin.requestCount == requests + 1 && world.origin.log.last?.status == 200)
    }

    @Test(arguments: 0..<60)
    func `an entry that is closed at any moment is found again as it was`(steps: Int) throws {
        let world = try world("max-age=60")
        _ = outcome(world)
        world.queues.advance(70 * second)
        world.put("/a", length: 5000, generation: 2) { $0.extraFields["Cache-Control"] = "max-age=60" }
        world.queues.setDiskDelay(read: 0, write: 100 * millisecond)
        _ = outcome(world)
        // While its files take the place of the old ones.
        for _ in 0..<steps { _ = world.queues.runOne(until: world.queues.time + second) }
        // The second time it has waited for its description once.
        for _ in 0..<2 { for entry in world.cache.table.all { entry.closeIfIdle() } }
        let requests = world.origin.requestCount
        #expect(outcome(world)?.isHit == true && world.origin.requestCount == requests)
    }

    @Test func `a confirmation with a cookie for one leaves the others what they have`() throws {
        let world = try world("max-age=60")
        _ = outcome(world)
        world.origin.change("/a") { $0.behaviour.extraFields["Set-Cookie"] = "a=b" }
        _ = outcome(world, "no-cache")
        let requests = world.origin.requestCount
        #expect(outcome(world)?.isHit == true && world.origin.requestCount == requests)
    }

    @Test func `an origin that fails is not asked with every stale answer, RFC 5861 §3`() throws {
        let world = try world("max-age=60, stale-while-revalidate=30")
        _ = outcome(world)
        world.queues.advance(70 * second)
        world.origin.change("/a") { $0.behaviour.status = 503 }
        let requests = world.origin.requestCount
        for _ in 0..<20 {
            #expect(outcome(world)?.isHit == true)
            world.queues.advance(100 * millisecond)
        }
        #expect(world.origin.requestCount == requests + 1)
        world.origin.change("/a") { $0.behaviour.status = nil }
        world.queues.advance(4 * second)
        #expect(outcome(world)?.isHit == true)
        world.queues.advance(second)
        #expect(world.origin.requestCount == requests + 2 && (outcome(world)?.ttl ?? 0) > 0)
    }

    @Test func `what was found changed behind a stale answer is given to the next, RFC 5861 §3 and inv01`() throws {
        let world = try world("max-age=60, stale-while-revalidate=30")
        _ = outcome(world)
        world.queues.advance(70 * second)
        world.origin.change("/a") {
            $0.content = PositionCodedContent(length: 500_000, generation: 2)
            $0.behaviour.firstByteDelay = second
        }
        let stale = world.play("/a")
        stale.expectWhole(Self.length)
        #expect(stale.generation == 1)
        world.queues.advance(2 * second)
        let next = world.play("/a")
        next.expectWhole(500_000)
        #expect(next.generation == 2)
    }

    @Test func `stale-if-error stands in for an origin that answers 503, RFC 5861 §4`() throws {
        let world = try world("max-age=60, stale-if-error=30")
        _ = outcome(world)
        world.queues.advance(70 * second)
        world.origin.change("/a") { $0.behaviour.status = 503 }
        let before = world.queues.time
        let told = try #require(outcome(world))
        #expect(told.forward == .stale && told.forwardStatus == 503 && world.queues.time - before < second)
        world.queues.advance(30 * second)
        let late = world.play("/a")
        #expect(late.failure?.code == .originRefused(status: 503) && late.received == 0)
    }

    /// It answers, but not with what is stored.
    @Test(arguments: [404, 429, 416, 301])
    func `what is stale does not stand in for an origin that answers, RFC 9111 §4.3.3`(status: Int) throws {
        let world = try world("max-age=60")
        _ = outcome(world)
        world.queues.advance(70 * second)
        world.origin.change("/a") { $0.behaviour.status = status }
        let refused = world.play("/a")
        #expect(refused.failure != nil && refused.received == 0)
        world.origin.change("/a") { $0.behaviour.status = nil }
        world.queues.advance(70 * second)
        world.origin.change("/a") { $0.behaviour.loginPage = true }
        let page = world.play("/a")
        #expect(page.failure != nil && page.received == 0)
    }

    @Test(arguments: [500, 501, 503, 522])
    func `what is stale stands in for an origin that says it cannot answer, RFC 9111 §4.3.3 and inv18`(status: Int)
        throws
    {
        let world = try world("max-age=60")
        _ = outcome(world)
        world.queues.advance(70 * second)
        world.origin.change("/a") { $0.behaviour.status = status }
        world.play("/a").expectWhole(Self.length)
    }

    @Test func `stale-if-error stands in for an origin that is gone, RFC 5861 §4 and inv18`() throws {
        let world = try world("s-maxage=60, stale-if-error=30")
        _ = outcome(world)
        world.queues.advance(70 * second)
        world.origin.setDown(true)
        let before = world.queues.time
        #expect(outcome(world)?.forward == .stale)
        #expect(world.queues.time - before < second, "nobody waited for a second try")
    }

    @Test func `the age of what is used again is told, RFC 9111 §5.1`() throws {
        let world = try world("max-age=60")
        let first = world.player("/a")
        #expect(try info(first).age == nil, "it came for this very request")
        first.finish()
        world.queues.advance(7 * second)
        let next = world.player("/a")
        let told = try info(next)
        #expect(told.age == 7)
        let head = ConditionalRequest(method: "GET", fields: [:]).answer(told).fields
        #expect(head["Age"] == "7")
        next.finish()
    }

    @Test func `the age other caches saw and the way took counts, RFC 9111 §4.2.3`() throws {
        let world = try world("max-age=60", ["Age": "20"])
        world.origin.change("/a") { $0.behaviour.firstByteDelay = 3 * second }
        let first = world.player("/a")
        #expect(try info(first).age == 23)
        first.finish()
        world.queues.advance(37 * second)
        #expect(outcome(world)?.forward == .stale)
    }

    @Test(arguments: [["Cache-Control": "no-store"], ["Authorization": "Bearer x"], ["Cookie": "a=b"]] as [HTTPFields])
    func `the age other caches saw is told of an answer for one client, RFC 9111 §5.1`(fields: HTTPFields) throws {
        let world = try world("max-age=60", ["Age": "20"])
        world.origin.change("/a") { $0.behaviour.firstByteDelay = 3 * second }
        for _ in 0..<2 {
            let client = AnswerClient(world, "/a", fields)
            client.finish()
            #expect(client.status == 200 && client.fields["Age"] == "23")
        }
    }

    @Test func `an immutable resource has no age and heeds no request directive, inv13`() throws {
        let world = try World()
        world.put("/a", length: Self.length)
        world.play("/a").expectWhole(Self.length)
        world.queues.advance(7 * second)
        let player = world.player("/a", fields: ["Cache-Control": "no-cache, only-if-cached"])
        #expect(try info(player).age == nil)
        player.play()
        player.expectWhole(Self.length)
        #expect(player.handle.outcome?.isHit == true)
        player.leave()
    }

    @Test func `what an unsafe method changed is confirmed before it is used, RFC 9111 §4.4`() throws {
        let world = try world("max-age=6000")
        _ = outcome(world)
        let requests = world.origin.requestCount
        let key = world.player("/a").resource.key
        try world.cache.invalidate([key])
        world.queues.settle()
        #expect(outcome(world)?.forward == .stale)
        #expect(world.origin.requestCount == requests + 1 && world.origin.log.last?.status == 304)
        #expect(outcome(world)?.isHit == true)
        try world.restart()
        try world.cache.invalidate([key])
        world.queues.settle()
        let bytes = world.origin.bodyBytes
        #expect(outcome(world)?.forward == .stale)
        #expect(world.origin.bodyBytes == bytes, "the bytes were kept")
    }

    @Test func `what was invalidated does not stand in for an origin that is gone, RFC 9111 §4.4`() throws {
        let world = try world("max-age=6000")
        _ = outcome(world)
        try world.cache.invalidate([world.player("/a").resource.key])
        world.queues.settle()
        world.origin.setDown(true)
        let player = world.play("/a")
        #expect(player.failure != nil && player.received == 0)
    }
}
