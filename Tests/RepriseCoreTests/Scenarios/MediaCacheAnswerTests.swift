import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseTesting
import Testing

/// What a cache of media, to which what is stored is good for ever, hands on where there is no media: to a client of any answer,
/// once it is the last word.
@Suite struct MediaCacheAnswerTests {
    private static let length: Int64 = 300_001

    private func world(_ status: Int? = nil, _ change: (inout OriginBehaviour) -> Void = { _ in }) throws -> World {
        let world = try World { $0.freshness = .immutable }
        world.put("/a", length: Self.length) {
            $0.status = status
            $0.statusFields = ["X-Own": "1", "ETag": "W/\"page\"", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"]
            change(&$0)
        }
        return world
    }

    private func client(_ world: World, _ fields: HTTPFields = [:]) -> AnswerClient {
        AnswerClient(world, "/a", fields, isTransparent: false)
    }

    private func ask(_ world: World, _ fields: HTTPFields = [:]) -> AnswerClient {
        let client = client(world, fields)
        client.finish()
        return client
    }

    /// The same, and how long it took until it had ended, in nanoseconds.
    private func askInTime(_ world: World) -> (AnswerClient, Int64) {
        let (client, begun) = (client(world), world.queues.time)
        let end = begun + 60 * second
        repeat { client.take() } while !client.hasEnded && world.queues.runOne(until: end)
        let time = world.queues.time - begun
        client.finish()
        return (client, time)
    }

    @Test(arguments: [201, 202, 203, 204, 299, 300, 400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 418, 451, 499])
    func `a status that is no failure goes through as it is, at once, and is asked for once`(status: Int) throws {
        let world = try world(status)
        for asked in 1...2 {
            let (client, time) = askInTime(world)
            #expect(client.status == status && client.failure == nil && time < second)
            #expect(client.fields["X-Own"] == "1" && client.fields["ETag"] == "W/\"page\"")
            #expect(client.fields["Date"] == "Sun, 06 Nov 1994 08:49:37 GMT")
            #expect(String(decoding: client.body, as: UTF8.self) == (status == 204 ? "" : "status \(status)\n"))
            #expect(world.origin.requestCount == asked)
        }
        #expect(!world.memory.paths.contains { $0.contains("/body.") })
        world.origin.change("/a") { $0.behaviour.status = nil }
        world.origin.resetLog()
        try world.expectBoughtOnce("/a", length: Self.length)
    }

    @Test(arguments: [408, 425, 429, 500, 501, 502, 503, 504, 599])
    func `a failure is tried again as long as its reader would wait, then told as it is`(status: Int) throws {
        let world = try world(status)
        let (client, time) = askInTime(world)
        #expect(client.status == status && client.fields["X-Own"] == "1")
        #expect(String(decoding: client.body, as: UTF8.self) == "status \(status)\n")
        #expect(world.origin.requestCount == (status == 501 || status == 599 ? 1 : 5) && time < 2 * second)
    }

    @Test(arguments: [100, 300, 500, 900, 1500, 2500]) func `the last try's answer is told also where it comes late`(
        delay: Int64
    ) throws {
        let world = try world(503) { $0.firstByteDelay = delay * millisecond }
        let (client, _) = askInTime(world)
        #expect(client.status == 503 && client.fields["X-Own"] == "1" && client.failure == nil)
    }

    @Test(arguments: [250, 1000, 2000, 5000]) func `a busy machine changes nothing in that`(stall: Int64) throws {
        for tries in 1...5 {
            let world = try world(503)
            let client = client(world)
            repeat { client.take() } while world.origin.requestCount < tries && world.queues.runOne(until: .max)
            world.queues.stall(stall * millisecond)
            client.finish()
            #expect(client.status == 503 && client.failure == nil, "\(tries) tries")
        }
    }

    @Test func `who waits beside a reader of bytes is told, and that one waits on`() throws {
        let world = try world(503)
        let reader = world.player("/a", ByteRange(0, Self.length))
        reader.take()
        world.queues.advance(millisecond)
        let client = client(world)
        client.finish()
        #expect(client.status == 503 && client.failure == nil)
        reader.finish()
        #expect(reader.failure != nil && world.origin.requestCount <= 8)
    }

    @Test func `a failure that is handed to one is one for who waits on`() throws {
        let world = try world(503)
        let events = Recorder<CacheEvent>()
        let subscription = world.cache.onEvent { events.add($0) }
        defer { withExtendedLifetime(subscription) {} }
        let client = client(world)
        client.take()
        world.queues.advance(second)
        let reader = world.player("/a", ByteRange(0, Self.length))
        reader.take()
        client.finish()
        #expect(client.status == 503)
        let requests = world.origin.requestCount
        let errors = events.all.count { if case .originError = $0 { true } else { false } }
        #expect(errors == requests, "each answer is told of once")
        world.queues.advance(400 * millisecond)
        #expect(world.origin.requestCount == requests)
        world.origin.change("/a") { $0.behaviour.status = nil }
        reader.finish()
        #expect(reader.failure == nil && reader.received == Self.length)
    }

    @Test(arguments: [["a", "a", "a"], ["a", "b", "c"]])
    func `who waits for the same failure gets it as it is`(users: [String]) throws {
        let world = try world(503)
        let begun = world.queues.time
        let clients = users.map { client(world, ["User-Agent": $0]) }
        AnswerClient.finish(clients)
        for client in clients {
            #expect(client.status == 503 && client.failure == nil)
            #expect(String(decoding: client.body, as: UTF8.self) == "status 503\n")
        }
        #expect(world.origin.requestCount <= 4 + users.count && world.queues.time - begun < 3 * second)
    }

    @Test(arguments: [429, 503]) func `who is asked to wait longer is told at once, and the origin left alone`(
        status: Int
    ) throws {
        let world = try world(status) { $0.retryAfter = 120 }
        let (client, time) = askInTime(world)
        #expect(client.status == status && client.fields["Retry-After"] == "120" && time < second)
        #expect(world.origin.requestCount == 1)
        #expect(ask(world).failure?.retryAfter ?? 0 > 100)
        #expect(world.origin.requestCount == 1)
    }

    @Test(arguments: [["a", "a"], ["a", "b"]])
    func `of those who wait for one that asks to be left alone, one is told as it is`(users: [String]) throws {
        let world = try world(503) { $0.retryAfter = 120 }
        let clients = users.map { client(world, ["User-Agent": $0]) }
        AnswerClient.finish(clients)
        #expect(clients.filter { $0.status == 503 && $0.fields["X-Own"] == "1" && $0.failure == nil }.count == 1)
        #expect(clients.filter { $0.failure?.retryAfter ?? 0 > 100 }.count == 1 && world.origin.requestCount == 1)
    }

    @Test func `who comes meanwhile takes no answer away that is being told`() throws {
        let world = try world(503) { ($0.retryAfter, $0.bytesPerSecond) = (120, 2) }
        let first = client(world)
        repeat { first.take() } while first.body.isEmpty && world.queues.runOne(until: .max)
        #expect(ask(world).failure?.retryAfter ?? 0 > 100)
        first.finish()
        #expect(first.status == 503 && String(decoding: first.body, as: UTF8.self) == "status 503\n")
        #expect(first.failure == nil && world.origin.requestCount == 1)
    }

    /// An origin that answers each request with another status, after a while.
    private func world(delay: Int64, _ status: @escaping @Sendable (_ number: Int) -> Int) throws -> World {
        let count = Lock(0)
        let world = try World {
            $0.freshness = .immutable
        } through: { _, client in
            HeadChangingClient(client) { _, head in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                head.status = status(number)
                head.fields["Content-Range"] = nil
            }
        }
        world.put("/a", length: 100) { $0.firstByteDelay = delay }
        return world
    }

    @Test func `who shares no answer is asked for as often as others`() throws {
        let world = try world(delay: 100 * millisecond) { $0 == 2 ? 503 : 404 }
        let clients = [client(world), client(world)]
        AnswerClient.finish(clients)
        #expect(clients.map(\.status) == [404, 404] && world.origin.requestCount == 3)
    }

    @Test(arguments: [(100, 5), (900, 4), (2500, 3), (15_000, 3)])
    func `who shares no answer is told of a failure as it is, also where it comes late`(
        delay: Int64, requests: Int
    ) throws {
        let world = try world(delay: delay * millisecond) { $0 == 1 ? 404 : 503 }
        let clients = [client(world), client(world)]
        AnswerClient.finish(clients)
        #expect(clients.map(\.status) == [404, 503] && clients.allSatisfy { $0.failure == nil })
        // The answer that was on its way when patience ended is the one that is told.
        #expect(world.origin.requestCount == requests)
    }

    @Test func `a failure that ends is not told of`() throws {
        let world = try world(503) { $0.faultyRequests = 2 }
        #expect(ask(world).status == 200)
    }

    @Test func `a long body goes on after tries that failed`() throws {
        let world = try world { ($0.status, $0.faultyRequests) = (503, 1) }
        world.origin.setDown(true)
        let client = client(world)
        client.take()
        world.queues.advance(second)
        world.origin.setDown(false)
        world.origin.change("/a") {
            $0.behaviour.faultyRequests = .max
            ($0.behaviour.status, $0.behaviour.gzipsAnyway, $0.behaviour.bytesPerSecond) = (nil, true, 10_000)
        }
        client.finish()
        #expect(client.status == 200 && client.fields["Content-Encoding"] == "gzip")
        #expect(client.body.count == Self.length && client.failure == nil)
    }

    @Test(arguments: [nil, 404, 503]) func `who reads bytes is told of an error, as ever`(status: Int?) throws {
        let world = try world(status) { if status == nil { $0.gzipsAnyway = true } }
        let failure = world.play("/a").failure
        #expect(failure?.code == status.map { .originRefused(status: $0) } ?? .originInvalid)
    }

    @Test func `where a part of the media is held, it ends with an error, and no page is put to it`() throws {
        let world = try World()
        world.put("/a", length: 50_000_000)
        let player = world.player("/a", ByteRange(0, 100_000))
        player.finish()
        world.origin.change("/a") { $0.behaviour.status = 404 }
        let client = ask(world, ["Range": "bytes=40000000-"])
        #expect(client.status == 206 && client.body.isEmpty)
        #expect(client.failure?.code == .originRefused(status: 404))
        world.origin.setDown(true)
        #expect(ask(world, ["Range": "bytes=0-99999"]).body.count == 100_000)
    }

    @Test func `one user's refusal does not keep another from the media, which is stored`() throws {
        let world = try world { $0.refusals = ["Bearer bad": 403] }
        let refused = ask(world, ["Authorization": "Bearer bad"])
        #expect(refused.status == 403 && String(decoding: refused.body, as: UTF8.self) == "not for Bearer bad\n")
        let granted = ask(world, ["Authorization": "Bearer good"])
        #expect(granted.status == 200 && granted.body.count == Self.length)
        world.origin.setDown(true)
        #expect(ask(world, ["Authorization": "Bearer good"]).body.count == Self.length)
    }

    @Test func `who waits beside a refused user gets media, and each refused one its own page`() throws {
        let world = try world { $0.refusals = ["Bearer bad": 403] }
        let clients = ["bad", "good", "bad"].map { client(world, ["Authorization": "Bearer \($0)"]) }
        AnswerClient.finish(clients)
        #expect(clients[1].status == 200 && clients[1].body.count == Self.length)
        for client in [clients[0], clients[2]] where client.status != 200 {
            #expect(client.status == 403)
            #expect(String(decoding: client.body, as: UTF8.self) == "not for Bearer bad\n")
        }
        world.origin.setDown(true)
        #expect(ask(world, ["Authorization": "Bearer good"]).body.count == Self.length, "the media is stored")
    }

    @Test(arguments: [nil, 201, 202, 203, 204, 299, 404, 410], [["a", "a", "a"], ["a", "b"], ["b", "a", "b"]])
    func `who waits at the same time gets what it would alone`(status: Int?, users: [String]) throws {
        let world = try world(status) { behaviour in
            behaviour.gzipsAnyway = status == nil
            behaviour.firstByteDelay = 100 * millisecond
        }
        let begun = world.queues.time
        let clients = users.map { client(world, ["User-Agent": $0]) }
        AnswerClient.finish(clients)
        for client in clients {
            #expect(client.status == status ?? 200 && client.failure == nil)
            let text = status == 204 ? "" : "status \(status ?? 0)\n"
            #expect(
                status == nil ? client.body.count == Self.length : String(decoding: client.body, as: UTF8.self) == text)
        }
        // Of a coded part nothing can be handed on: the whole is asked for.
        let most = status == nil ? 2 * users.count : users.count
        #expect(world.queues.time - begun < second && world.origin.requestCount <= most)
    }

    @Test(arguments: [nil, 204, 503]) func `an old version that is stored comes before what is no media`(
        status: Int?
    ) throws {
        let world = try World { $0.freshness = .immutable }
        world.put("/a", length: 500_000)
        world.player("/a", ByteRange(0, 200_000)).finish()
        // Another resource by its tag, which turns out to be a page.
        let page = PositionCodedContent(length: 400_000, generation: 2, signature: Array("<!DOCTYPE html>".utf8))
        world.origin.change("/a") { $0.content = page }
        let reading = client(world, ["Range": "bytes=0-99999"])
        reading.take(1000)
        #expect(ask(world, ["Range": "bytes=200000-"]).failure?.code == .changed)
        #expect(ask(world).body.count == 400_000)
        world.origin.change("/a") { resource in
            (resource.behaviour.status, resource.behaviour.gzipsAnyway) = (status, status == nil)
        }
        let client = ask(world, ["Range": "bytes=0-99999"])
        #expect(client.status == 206 && client.body.count == 100_000)
        reading.leave()
    }

    @Test(arguments: [404, 201]) func `who waits with another URL of the same media gets it, stored`(status: Int) throws
    {
        let world = try World {
            $0.freshness = .immutable
        } through: { _, client in
            HeadChangingClient(client) { request, head in
                guard request.url.query?.hasSuffix("old") == true else { return }
                head.status = status
                head.fields["Content-Range"] = nil
            }
        }
        world.put("/a", length: Self.length) { $0.firstByteDelay = 100 * millisecond }
        let old = AnswerClient(world, "/a?Key-Pair-Id=k&Signature=old", isTransparent: false)
        old.take()
        world.queues.advance(millisecond)
        let new = AnswerClient(world, "/a?Key-Pair-Id=k&Signature=new", isTransparent: false)
        old.finish()
        new.finish()
        #expect(old.status == status || old.body.count == Self.length)
        #expect(new.status == 200 && new.body.count == Self.length)
        world.origin.setDown(true)
        let again = AnswerClient(world, "/a?Key-Pair-Id=k&Signature=new", isTransparent: false)
        again.finish()
        #expect(again.body.count == Self.length, "it is stored")
    }

    /// A page of its own for each user: `/a-1` and `/a-2`.
    private func pages(_ change: (inout OriginBehaviour) -> Void) throws -> World {
        let world = try World {
            $0.freshness = .immutable
        } through: { _, client in
            PerUserClient(client)
        }
        for user in 1...2 {
            var behaviour = OriginBehaviour()
            behaviour.contentType = "text/html"
            change(&behaviour)
            world.origin.put(.init(page(of: user), behaviour), at: "/a-\(user)")
        }
        return world
    }

    private func page(of user: Int) -> PositionCodedContent {
        PositionCodedContent(length: 1_500_001, generation: user, signature: [])
    }

    @Test(arguments: [OriginBehaviour.BodyFault.reset(at: 0), .reset(at: 70_000), .none], [false, true])
    func `a page is asked for with no other user's cookie, however often`(
        fault: OriginBehaviour.BodyFault, hasTag: Bool
    ) throws {
        let world = try pages {
            ($0.tag, $0.hasLastModified, $0.framing) = hasTag ? (.strong, true, .length) : (.none, false, .chunked)
            ($0.body, $0.faultyRequests, $0.bytesPerSecond) = (fault, 1, 1_000_000)
        }
        let first = client(world, ["Cookie": "user=1"])
        first.take()
        world.queues.advance(10 * millisecond)
        first.take()
        let second = client(world, ["Cookie": "user=2"])
        for _ in 0..<5000 where !first.hasEnded || !second.hasEnded {
            first.take()
            second.take()
            world.queues.advance(millisecond)
        }
        for (user, client) in [(1, first), (2, second)] {
            #expect(client.status == 200 && client.body.count > 0 || client.failure != nil)
            #expect(page(of: user).firstMismatch(client.body, at: 0) == nil, "a page of another user's")
            if fault == .none { #expect(client.isAtEnd) }
        }
    }

    @Test(arguments: ["text/html", "application/json", "application/vnd.apple.mpegurl"])
    func `a page that is not stored is told as it came, and only to who asked for it`(type: String) throws {
        let world = try world { behaviour in
            (behaviour.contentType, behaviour.tag) = (type, .weak)
            behaviour.firstByteDelay = 100 * millisecond
        }
        let clients = ["a", "b", "a"].map { client(world, ["Cookie": $0]) }
        AnswerClient.finish(clients)
        #expect(clients.allSatisfy { $0.status == 200 && $0.body.count == Self.length && $0.failure == nil })
        #expect(Set(world.origin.log.compactMap { $0.fields["Cookie"] }) == ["a", "b"], "each has its own")
        let tag = try #require(clients[0].fields["ETag"])
        #expect(tag.hasPrefix("W/"))
        #expect(ask(world, ["Cookie": "a", "If-None-Match": tag]).status == 304)
    }

    @Test func `what is no media is not transformed`() throws {
        let world = try World { $0.contentTransform = { _, _ in Inversion() } }
        world.put("/a", length: 1000) { $0.status = 404 }
        #expect(String(decoding: ask(world).body, as: UTF8.self) == "status 404\n")
    }
}

private struct Inversion: ContentTransform {
    func apply(to bytes: inout [UInt8], at offset: Int64) { for index in bytes.indices { bytes[index] ^= 0xff } }
}
