import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

@testable import RepriseCore

/// What the origin's answer to a client's HEAD says of what is stored (RFC 9111 §4.3.5).
@Suite struct HeadAnswerTests {
    private static let length: Int64 = 100_000

    private func world() throws -> World {
        let world = try World { $0.freshness = .http }
        world.put("/a", length: Self.length) { $0.extraFields["Cache-Control"] = "max-age=60" }
        world.play("/a").expectWhole(Self.length)
        return world
    }

    /// The head that answers HEAD now, changed.
    private func head(_ world: World, _ change: (inout HTTPFields) -> Void = { _ in }) -> OriginResponseHead {
        let answer = world.origin.answer(method: "HEAD", target: "/a", fields: [:])
        var fields = answer.fields
        change(&fields)
        return OriginResponseHead(status: answer.status, fields: fields)
    }

    /// Tells what is stored of a head, as a server does, whose reader asks for nothing itself and was told that nothing is fresh.
    private func tell(_ world: World, _ head: OriginResponseHead, to fields: HTTPFields = [:], sentAt: Int64? = nil) {
        let reader = Player(
            world, "/a", ByteRange(0, 1), fields: ["Cache-Control": "only-if-cached"], takesAnyAnswer: true)
        reader.take()
        // The store is asked for the entry.
        world.queues.settle()
        reader.take()
        reader.handle.answeredHead(head, to: fields, sentAt: sentAt ?? world.queues.time)
        reader.leave()
    }

    /// The requests a reader costs after that.
    private func cost(
        _ world: World, of head: OriginResponseHead, to fields: HTTPFields = [:], sentAt: Int64? = nil
    ) -> Int {
        tell(world, head, to: fields, sentAt: sentAt)
        let requests = world.origin.requestCount
        world.play("/a").expectWhole(Self.length)
        return world.origin.requestCount - requests
    }

    @Test func `makes it fresh again, with its fields, where it is of the same`() throws {
        let world = try world()
        world.queues.advance(61 * second)
        tell(world, head(world) { $0["X-New"] = "1" })
        let requests = world.origin.requestCount
        #expect(try world.told("/a").fields["X-New"] == "1")
        #expect(world.origin.requestCount == requests)
    }

    @Test(arguments: ["ETag": "\"other\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:38 GMT", "Content-Length": "99999"])
    func `has it confirmed where it is of another`(name: String, value: String) throws {
        let world = try world()
        #expect(cost(world, of: head(world) { $0[name] = value }) == 1)
    }

    @Test func `says nothing where it has no validator and no length, is refused, a page, coded, or for one user`()
        throws
    {
        let world = try world()
        #expect(cost(world, of: OriginResponseHead(status: 404, fields: ["Content-Length": "5"])) == 0)
        #expect(cost(world, of: head(world) { ($0["ETag"], $0["Cache-Control"]) = ("\"b\"", "private") }) == 0)
        let user: HTTPFields = ["Authorization": "x"]
        #expect(cost(world, of: head(world) { $0["ETag"] = "\"b\"" }, to: user) == 0)
        let bare = OriginResponseHead(status: 200, fields: ["Cache-Control": "max-age=60"])
        #expect(cost(world, of: bare) == 0)
        #expect(cost(world, of: head(world) { ($0["ETag"], $0["Content-Type"]) = (nil, "text/html") }) == 0)
        #expect(cost(world, of: head(world) { ($0["ETag"], $0["Content-Encoding"]) = ("\"b\"", "gzip") }) == 0)
        world.queues.advance(61 * second)
        #expect(cost(world, of: bare) == 1)
    }

    @Test func `that was sent before an invalidation confirms nothing`() throws {
        let world = try world()
        let key = world.cache.resource(for: OriginURL("http://origin.test/a")!).key
        let sentAt = world.queues.time
        world.queues.advance(second)
        try world.cache.invalidate([key])
        #expect(cost(world, of: head(world), sentAt: sentAt) == 1)
    }

    @Test func `that was sent before what is stored was confirmed says nothing`() throws {
        let world = try world()
        let sentAt = world.queues.time
        world.queues.advance(61 * second)
        world.play("/a").expectWhole(Self.length)
        #expect(cost(world, of: head(world) { $0["ETag"] = "\"old\"" }, sentAt: sentAt) == 0)
        world.queues.advance(second)
        #expect(cost(world, of: head(world) { $0["ETag"] = "\"new\"" }) == 1)
    }

    @Test func `ages from when it was asked for`() throws {
        let world = try world()
        world.queues.advance(30 * second)
        let sentAt = world.queues.time
        let head = head(world)
        world.queues.advance(50 * second)
        tell(world, head, sentAt: sentAt)
        world.queues.advance(11 * second)
        let requests = world.origin.requestCount
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.requestCount == requests + 1)
    }
}
