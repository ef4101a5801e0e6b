import RepriseCore
import RepriseHTTP
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

    @Test func `who waits beside another gets media or an error`() throws {
        let world = try world { $0.refusals = ["Bearer bad": 403] }
        let clients = ["bad", "good", "bad"].map { client(world, ["Authorization": "Bearer \($0)"]) }
        for client in clients { client.take() }
        for client in clients { client.finish() }
        #expect(clients[1].status == 200 && clients[1].body.count == Self.length)
        for client in [clients[0], clients[2]] {
            #expect(client.status == 200 || client.status == 403 || client.failure?.code == .originRefused(status: 403))
        }
        world.origin.setDown(true)
        #expect(ask(world, ["Authorization": "Bearer good"]).body.count == Self.length, "the media is stored")
    }

    @Test(arguments: ["text/html", "application/json", "application/vnd.apple.mpegurl"])
    func `a page that is not stored is told as it came, and only to who asked for it`(type: String) throws {
        let world = try world { behaviour in
            (behaviour.contentType, behaviour.tag) = (type, .weak)
            behaviour.firstByteDelay = 100 * millisecond
        }
        let clients = ["a", "b", "a"].map { client(world, ["Cookie": $0]) }
        for client in clients { client.take() }
        for client in clients { client.finish() }
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
