import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseTesting
import Testing

/// `.http`: what one user was answered reaches another only where the origin says so, and stale bytes are asked about.
@Suite struct FreshnessScenarioTests {
    static let length: Int64 = 400_001

    private func world(_ control: String?, _ more: [String: String] = [:], slow: Bool = false) throws -> World {
        let world = try World { $0.freshness = .http }
        world.put("/a", length: Self.length) {
            if let control { $0.extraFields["Cache-Control"] = control }
            for (name, value) in more { $0.extraFields[name] = value }
            if slow { $0.firstByteDelay = 200 * millisecond }
        }
        return world
    }

    private func isStored(_ world: World) -> Bool { world.memory.paths.contains { $0.contains("/body.") } }

    static let unshareable: [(String?, [String: String], HTTPFields)] = [
        ("private", [:], [:]), ("no-store", [:], [:]), ("max-age=60", ["Set-Cookie": "s=1"], [:]),
        ("max-age=60", ["Vary": "*"], [:]), ("max-age=60", [:], ["Authorization": "Bearer x"]),
        ("max-age=60", [:], ["Cookie": "s=1"]),
    ]

    @Test(arguments: 0..<unshareable.count)
    func `an answer for one user is neither stored nor joined, inv29`(index: Int) throws {
        let (control, more, fields) = Self.unshareable[index]
        let world = try world(control, more, slow: true)
        let players = (0..<3).map { _ in world.player("/a", fields: fields) }
        for player in players { player.take() }
        for player in players { player.finish() }
        for player in players { player.expectWhole(Self.length) }
        #expect(!isStored(world))
        // Each was answered for itself.
        #expect(world.origin.bodyBytes >= 3 * Self.length)
        let next = world.play("/a", fields: fields)
        next.expectWhole(Self.length)
        #expect(world.origin.bodyBytes >= 4 * Self.length)
    }

    @Test func `a cookie reaches the one it is for, and also who asks what is stored already, inv29`() throws {
        let world = try world("public, no-cache", ["Set-Cookie": "s=1"])
        for _ in 0..<2 {
            #expect(try world.told("/a").fields["Set-Cookie"] == "s=1")
        }
        #expect(isStored(world))
        world.origin.change("/a") { $0.behaviour.extraFields["Set-Cookie"] = nil }
        #expect(try world.told("/a").fields["Set-Cookie"] == nil)
    }

    @Test(arguments: ["max-age=60", "public, max-age=60", "s-maxage=60"])
    func `a shareable answer is joined, stored and used while it is fresh`(control: String) throws {
        let world = try world(control, slow: true)
        let players = (0..<3).map { _ in world.player("/a") }
        for player in players { player.take() }
        for player in players { player.finish() }
        for player in players { player.expectWhole(Self.length) }
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.bodyBytes == Self.length)
        #expect(isStored(world))
    }

    @Test func `one user's credentials are judged by the request that carried them, not by who came later, inv29`()
        throws
    {
        let world = try world("max-age=60", slow: true)
        let own = world.player("/a", fields: ["Authorization": "Bearer x"])
        own.take()
        world.queues.advance(50 * millisecond)
        // While the answer is under way somebody without credentials comes to the same resource.
        let stranger = world.player("/a")
        stranger.take()
        own.finish()
        stranger.finish()
        own.expectWhole(Self.length)
        stranger.expectWhole(Self.length)
        let requests = world.origin.log.filter { $0.fields["Authorization"] == nil }
        #expect(!requests.isEmpty, "the stranger was answered for himself")
        #expect(requests.contains { $0.range?.lowerBound == 0 })
    }

    @Test func `a later answer to credentials is not stored into a shared entry either, inv29`() throws {
        let world = try world("max-age=60")
        world.play("/a", ByteRange(0, 100_000)).expectWhole(100_000)
        let user = world.player("/a", ByteRange(200_000, 300_000), fields: ["Cookie": "s=1"])
        user.finish()
        user.expectWhole(300_000, from: 200_000)
        let bytes = world.origin.bodyBytes
        world.play("/a", ByteRange(200_000, 300_000)).expectWhole(300_000, from: 200_000)
        #expect(world.origin.bodyBytes - bytes >= 100_000, "the user's answer was kept for others")
    }

    @Test func `a version that the origin has again is confirmed as any, RFC 9111 §4.3.4`() throws {
        let world = try world("max-age=10")
        let tag = try #require(try world.told("/a").fields["ETag"])
        world.play("/a").expectWhole(Self.length)
        world.queues.advance(20 * second)
        // Its successor cannot be stored, and is given up as the origin does not know it any more.
        world.files.setRule { operation, _, _ in operation == .write ? .error(FileError.notPermitted) : nil }
        world.put("/a", length: Self.length, generation: 2) { $0.extraFields["Cache-Control"] = "max-age=10" }
        world.play("/a").expectWhole(Self.length)
        world.files.setRule(nil)
        world.queues.advance(20 * second)
        world.origin.change("/a") {
            $0.behaviour.status = 304
            $0.behaviour.statusFields = ["ETag": tag, "Cache-Control": "max-age=1000", "X-Word": "new"]
        }
        #expect(world.play("/a").failure?.code == .originRefused(status: 304))
        let requests = world.origin.requestCount
        for _ in 1...3 {
            let player = world.play("/a")
            player.expectWhole(Self.length)
            #expect(player.generation == 1 && world.origin.requestCount == requests + 1)
            #expect(try world.told("/a").fields["X-Word"] == "new")
        }
        #expect(world.broken.all.isEmpty)
    }

    @Test func `the time an answer took to come is age, RFC 9111 §4.2.3`() throws {
        let world = try World { $0.freshness = .http }
        world.put("/a", length: 1000) {
            $0.extraFields["Cache-Control"] = "max-age=60"
            $0.firstByteDelay = 10 * second
        }
        // The first answer, and one that confirms it.
        for requests in 1...2 {
            world.play("/a").expectWhole(1000)
            #expect(world.origin.requestCount == requests)
            world.queues.advance(45 * second)
            world.play("/a").expectWhole(1000)
            #expect(world.origin.requestCount == requests)
            world.queues.advance(7 * second)
        }
    }

    @Test(arguments: ["Cookie", "Authorization"])
    func `whose answers are not shared gets all of what is shared in part, inv29 and RFC 9111 §3.3`(name: String)
        throws
    {
        let world = try world("max-age=60")
        world.play("/a", ByteRange(0, 1000)).expectWhole(1000)
        // What is stored of it answers who asks for no more.
        let known = world.play("/a", ByteRange(0, 1000), fields: [name: "s=1", "Cache-Control": "only-if-cached"])
        known.expectWhole(1000)
        world.play("/a", fields: [name: "s=1"]).expectWhole(Self.length)
        // What is stored whole is everybody's.
        world.play("/a").expectWhole(Self.length)
        let requests = world.origin.requestCount
        world.play("/a", fields: [name: "s=2"]).expectWhole(Self.length)
        #expect(world.origin.requestCount == requests)
    }

    @Test(arguments: ["Cookie", "Authorization"])
    func `whose answers are not shared gets all of what is on its way to another, inv29`(name: String) throws {
        let world = try world("max-age=60")
        world.origin.change("/a") { $0.behaviour.bytesPerSecond = 100_000 }
        let first = world.player("/a")
        first.play(to: 50_000)
        let user = world.player("/a", fields: [name: "s=1"])
        user.play(to: 10_000)
        first.leave()
        user.finish()
        user.expectWhole(Self.length)
    }

    @Test func `what is stale and unchanged costs one conditional request and no body`() throws {
        let world = try world("max-age=60")
        world.play("/a").expectWhole(Self.length)
        world.queues.advance(61 * second)
        let bytes = world.origin.bodyBytes
        let requests = world.origin.requestCount
        let players = (0..<3).map { _ in world.player("/a") }
        for player in players { player.take() }
        for player in players { player.finish() }
        for player in players { player.expectWhole(Self.length) }
        #expect(world.origin.requestCount == requests + 1)
        #expect(world.origin.log.last?.status == 304)
        #expect(world.origin.bodyBytes == bytes)
        // Confirmed, it is fresh again, also after a restart.
        try world.restart()
        world.queues.advance(second)
        #expect(world.origin.requestCount == requests + 1)
    }

    @Test func `a host whose tags differ without reason confirms nothing that has another tag, inv01`() throws {
        let world = try World { $0.freshness = .http }
        func put(_ generation: Int) {
            world.put("/a", length: Self.length, generation: generation) {
                $0.extraFields["Cache-Control"] = "max-age=60"
                $0.extraFields["Last-Modified"] = "Sun, 06 Nov 1994 08:49:37 GMT"
                $0.hasLastModified = false
                // So long after the other that it counts as a strong validator (RFC 9110 §8.8.2.2).
                $0.extraFields["Date"] = HTTPDate.format(world.queues.wallClock())
            }
        }
        put(1)
        world.play("/a").expectWhole(Self.length)
        // A reader that shares nothing has found that out.
        world.cache.environment.hosts.distrustEntityTags(
            of: "http://origin.test", now: world.queues.wallClock())
        world.queues.advance(61 * second)
        put(2)
        let next = world.play("/a")
        next.expectWhole(Self.length)
        #expect(next.generation == 2)
    }

    @Test func `what is stale and changed is replaced, inv01`() throws {
        let world = try world("max-age=60")
        world.play("/a").expectWhole(Self.length)
        world.queues.advance(61 * second)
        world.origin.change("/a") { $0.content = PositionCodedContent(length: 500_000, generation: 2) }
        let player = world.play("/a")
        player.expectWhole(500_000)
        #expect(player.generation == 2)
    }

    @Test func `a changed answer that may not be shared is not shared, inv29`() throws {
        let world = try world("max-age=60")
        world.play("/a").expectWhole(Self.length)
        world.queues.advance(61 * second)
        world.origin.change("/a") {
            $0.content = PositionCodedContent(length: 500_000, generation: 2)
            $0.behaviour.extraFields["Cache-Control"] = "private"
            $0.behaviour.firstByteDelay = 100 * millisecond
        }
        let bytes = world.origin.bodyBytes
        let players = (0..<2).map { _ in world.player("/a") }
        for player in players { player.take() }
        for player in players { player.finish() }
        for player in players { player.expectWhole(500_000) }
        #expect(world.origin.bodyBytes - bytes >= 1_000_000)
    }

    @Test(arguments: [("max-age=60", true), ("max-age=60, must-revalidate", false), ("s-maxage=60", false)])
    func `stale bytes stand in for an origin that is gone only where that is allowed, inv18`(
        control: String, allowed: Bool
    ) throws {
        let world = try world(control)
        world.play("/a").expectWhole(Self.length)
        world.queues.advance(61 * second)
        world.origin.setDown(true)
        let player = world.play("/a")
        if allowed {
            player.expectWhole(Self.length)
        } else {
            #expect(player.failure?.code == .originUnreachable)
            #expect(player.received == 0)
        }
        world.origin.setDown(false)
        let bytes = world.origin.bodyBytes
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.bodyBytes == bytes)
    }

    @Test(arguments: [OriginBehaviour.Framing.length, .chunked])
    func `a login page in answer to a revalidation replaces nothing, inv28`(framing: OriginBehaviour.Framing) throws {
        let world = try world("max-age=60")
        world.play("/a").expectWhole(Self.length)
        world.queues.advance(61 * second)
        world.origin.change("/a") { ($0.behaviour.loginPage, $0.behaviour.framing) = (true, framing) }
        let player = world.play("/a")
        #expect(player.violation == nil)
        world.origin.change("/a") { $0.behaviour.loginPage = false }
        let bytes = world.origin.bodyBytes
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.bodyBytes == bytes)
    }

    @Test func `a new version that a confirmation brings has ranges though it does not say so`() throws {
        let world = try World { $0.freshness = .http }
        func put(_ generation: Int, _ rate: Int64) {
            world.put("/a", length: 1_000_000, generation: generation) {
                $0.extraFields = ["Cache-Control": "max-age=60"]
                ($0.tellsRanges, $0.bytesPerSecond) = (false, rate)
            }
        }
        put(1, 0)
        world.play("/a").expectWhole(1_000_000)
        world.queues.advance(61 * second)
        put(2, 10_000)
        let begun = world.queues.time
        let player = world.player("/a", ByteRange(990_000, 991_000))
        player.finish()
        #expect(player.generation == 2 && world.queues.time - begun < 20 * second)
    }

    @Test func `a first answer that was asked for before an invalidation has to be confirmed, RFC 9111 §4.4`() throws {
        let world = try World { $0.freshness = .http }
        world.put("/a", length: 10_000) {
            $0.extraFields = ["Cache-Control": "max-age=600"]
            $0.firstByteDelay = 2 * second
        }
        let first = world.player("/a")
        first.take()
        world.queues.advance(second)
        try world.cache.invalidate([first.resource.request.key])
        first.finish()
        first.expectWhole(10_000)
        let requests = world.origin.requestCount
        world.play("/a").expectWhole(10_000)
        #expect(world.origin.requestCount == requests + 1)
        world.play("/a").expectWhole(10_000)
        #expect(world.origin.requestCount == requests + 1)
    }

    @Test func `an invalidation that the disk does not take counts all the same, RFC 9111 §4.4`() throws {
        let world = try World { $0.freshness = .http }
        for path in ["/a", "/b"] {
            world.put(path, length: 10_000) { $0.extraFields = ["Cache-Control": "max-age=600"] }
        }
        let players = ["/a", "/b"].map { world.play($0) }
        world.queues.settle()
        world.files.setRule { operation, path, _ in
            operation == .rename && path.contains("/info.") ? .error(FileError.noSpace) : nil
        }
        let keys = Set(players.map(\.resource.request.key))
        #expect(throws: (any Error).self) { try world.cache.invalidate(keys) }
        for path in ["/a", "/b"] {
            let requests = world.origin.requestCount
            world.play(path).expectWhole(10_000)
            #expect(world.origin.requestCount == requests + 1)
        }
    }

    @Test func `a confirmation that was asked for before an invalidation confirms nothing, RFC 9111 §4.4`() async throws
    {
        let world = try world("max-age=60")
        world.play("/a").expectWhole(Self.length)
        world.queues.advance(61 * second)
        world.origin.change("/a") { $0.behaviour.firstByteDelay = second }
        let player = world.player("/a")
        player.play(to: 1, patience: 500 * millisecond)
        world.put("/a", length: Self.length, generation: 2) { $0.extraFields["Cache-Control"] = "max-age=60" }
        try world.cache.invalidate([player.resource.request.key])
        player.finish()
        let last = world.play("/a")
        last.expectWhole(Self.length)
        #expect(last.generation == 2)
    }

    @Test(arguments: [true, false])
    func `readers that keep coming make none wait longer for an origin that is gone, inv26`(isStored: Bool) throws {
        let world = try world("max-age=60")
        if isStored { world.play("/a").expectWhole(Self.length) }
        world.queues.advance(61 * second)
        world.origin.setDown(true)
        let first = world.player("/a")
        first.take()
        var others: [Player] = []
        for _ in 0..<60 {
            world.queues.advance(500 * millisecond)
            others.append(world.player("/a"))
            for player in [first] + others where player.wasWoken && player.failure == nil && !player.isAtEnd {
                player.take()
            }
        }
        if isStored { first.expectWhole(Self.length) } else { #expect(first.failure?.code == .originUnreachable) }
        for player in others { player.leave() }
    }

    @Test func `a refusal to a confirmation is passed on, not covered with what is stale, RFC 9111 §4.3.3`() throws {
        let world = try world("max-age=60")
        world.play("/a").expectWhole(Self.length)
        world.queues.advance(61 * second)
        world.origin.change("/a") { $0.behaviour.status = 451 }
        let requests = world.origin.requestCount
        let player = world.play("/a")
        #expect(player.failure?.code == .originRefused(status: 451) && player.received == 0)
        #expect(world.origin.requestCount == requests + 1)
    }

    @Test func `no-store in one of two lines counts, and both lines reach the origin, RFC 9110 §5.3`() throws {
        let world = try world("max-age=60")
        var fields = HTTPFields()
        fields.add("Cache-Control", "no-store")
        fields.add("Cache-Control", "max-age=0")
        fields.add("X-Test", "1")
        fields.add("X-Test", "2")
        world.play("/a", fields: fields).expectWhole(Self.length)
        #expect(!isStored(world))
        #expect(world.origin.log.last?.fields.values(of: "X-Test") == ["1", "2"])
    }

    @Test func `an immutable entry asks nothing however old it is, inv13`() throws {
        let world = try World()
        world.put("/a", length: Self.length) { $0.extraFields["Cache-Control"] = "no-cache, max-age=0" }
        world.play("/a").expectWhole(Self.length)
        world.queues.advance(100_000 * second)
        let requests = world.origin.requestCount
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.requestCount == requests)
    }
}
