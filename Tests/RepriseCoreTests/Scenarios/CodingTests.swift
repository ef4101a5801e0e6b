import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

/// Bodies with a coding, in a shared cache: for who takes it, and as they are for everyone else (RFC 9110 §12.5.3).
@Suite struct CodingTests {
    private static let length: Int64 = 800_001
    private static let page = "text/html"

    private func world(
        freshness: FreshnessPolicy = .http, type: String, vary: String? = "Accept-Encoding",
        control: String = "max-age=60"
    ) throws -> World {
        let world = try World { $0.freshness = freshness }
        world.put("/a", length: Self.length) {
            $0.gzipsForTakers = type == Self.page
            $0.contentType = type
            $0.extraFields["Cache-Control"] = control
            $0.extraFields["Vary"] = vary
        }
        return world
    }

    @discardableResult
    private func ask(_ world: World, _ fields: HTTPFields, coding: String?) -> AnswerClient {
        let client = AnswerClient(world, "/a", fields)
        client.finish()
        #expect(client.status == 200 && client.body.count == Self.length && client.failure == nil)
        #expect(client.fields["Content-Encoding"] == coding)
        return client
    }

    private func codings(_ world: World) -> [String?] { world.origin.log.map { $0.fields["Accept-Encoding"] } }

    @Test(arguments: ["Accept-Encoding", nil])
    func `a body is stored with its coding for all who take it, and as it is for the others`(vary: String?) throws {
        let world = try world(type: Self.page, vary: vary)
        for _ in 0..<2 {
            ask(world, ["Accept-Encoding": "gzip, br"], coding: "gzip")
            ask(world, ["Accept-Encoding": "BR,gzip;q=1"], coding: "gzip")
            if vary != nil { ask(world, [:], coding: nil) }
        }
        if vary == nil { ask(world, [:], coding: nil) }
        #expect(Set(codings(world)) == ["br,gzip", "identity"])
        let whole = world.origin.log.filter { $0.fields["Accept-Encoding"] == "br,gzip" }
        #expect(whole.count == 1, "asked for once")
        #expect(try world.restart() == ())
        world.origin.setDown(true)
        ask(world, ["Accept-Encoding": "gzip, br"], coding: "gzip")
        ask(world, ["Accept-Encoding": "identity"], coding: nil)
    }

    @Test(arguments: ["max-age=60, stale-if-error=600", "max-age=60"])
    func `a body with a coding stands in for an origin that fails, RFC 5861 §4`(control: String) throws {
        let world = try world(type: Self.page, control: control)
        ask(world, ["Accept-Encoding": "gzip"], coding: "gzip")
        world.queues.advance(61 * second)
        world.origin.change("/a") { resource in
            resource.behaviour.status = 503
            resource.behaviour.statusFields = ["Cache-Control": "max-age=10"]
        }
        for _ in 0..<2 { ask(world, ["Accept-Encoding": "gzip"], coding: "gzip") }
    }

    @Test func `media that has none is for all, though it says to vary by that`() throws {
        let world = try world(type: "audio/mpeg")
        ask(world, ["Accept-Encoding": "gzip"], coding: nil)
        let asked = world.origin.requestCount
        ask(world, [:], coding: nil)
        ask(world, ["Accept-Encoding": "br"], coding: nil)
        world.play("/a", ByteRange(100, 2000)).expectWhole(2000, from: 100)
        #expect(world.origin.requestCount == asked)
    }

    @Test func `what continues a body has no coding`() throws {
        let world = try world(type: "audio/mpeg", vary: nil)
        let first = AnswerClient(world, "/a")
        first.take(1000)
        world.queues.advance(second)
        world.origin.change("/a") { $0.behaviour.gzipsForTakers = true }
        ask(world, ["Accept-Encoding": "gzip"], coding: nil)
        first.leave()
        #expect(codings(world).allSatisfy { $0 == "identity" })
    }

    @Test func `a range that is all of a coded body is handed on as that, and not asked for again`() throws {
        let world = try World {
            $0.freshness = .http
        } through: {
            HeadChangingClient($1) { _, head in
                if head.status == 206 { head.fields["Content-Encoding"] = "gzip" }
            }
        }
        world.put("/a", length: 5000) { $0.extraFields["Cache-Control"] = "max-age=60" }
        for _ in 0..<2 {
            let client = AnswerClient(world, "/a", ["Accept-Encoding": "gzip"])
            client.finish()
            #expect(client.status == 200 && client.fields["Content-Encoding"] == "gzip" && client.body.count == 5000)
            #expect(client.fields["Content-Range"] == nil && world.origin.log.map(\.status) == [206])
        }
    }

    @Test func `a coded body that breaks off is told so, and what comes next is asked for as before`() throws {
        let world = try world(type: Self.page)
        world.origin.change("/a") {
            ($0.behaviour.body, $0.behaviour.faultyRequests) = (.reset(at: 400_000), 1)
        }
        let client = AnswerClient(world, "/a", ["Accept-Encoding": "gzip"])
        client.finish()
        #expect(client.status == 200 && client.failure != nil && client.body.count < Self.length)
        #expect(world.origin.requestCount == 1)
        world.queues.advance(30 * second)
        for _ in 0..<2 { ask(world, ["Accept-Encoding": "gzip"], coding: "gzip") }
        #expect(codings(world) == ["gzip", "gzip"])
    }

    @Test(arguments: ["application/octet-stream", "video/mp2t", "application/zip", "font/woff2", "image/png"])
    func `what servers do not compress is stored once, in parts or whole`(type: String) throws {
        let world = try world(type: type)
        ask(world, ["Accept-Encoding": "gzip"], coding: nil)
        let asked = world.origin.requestCount
        let part = AnswerClient(world, "/a", ["Accept-Encoding": "gzip", "Range": "bytes=100-199"])
        part.finish()
        #expect(part.status == 206 && part.body.count == 100 && world.origin.requestCount == asked)
    }

    @Test func `what is stored without a coding is confirmed without one, and stays for all`() throws {
        let world = try world(type: "audio/mpeg", vary: nil, control: "max-age=1")
        ask(world, [:], coding: nil)
        world.origin.change("/a") { $0.behaviour.gzipsForTakers = true }
        world.queues.advance(100 * second)
        ask(world, ["Accept-Encoding": "gzip"], coding: nil)
        #expect(world.origin.log.last?.status == 304 && codings(world).allSatisfy { $0 == "identity" })
    }

    @Test func `a part is of a body as it is`() throws {
        let world = try world(type: Self.page)
        let client = AnswerClient(world, "/a", ["Accept-Encoding": "gzip", "Range": "bytes=0-9"])
        client.finish()
        #expect(client.status == 206 && client.body.count == 10 && codings(world) == ["identity"])
    }

    @Test func `a coded body is confirmed by its own tag`() throws {
        let world = try world(type: Self.page, control: "max-age=1")
        let first = ask(world, ["Accept-Encoding": "gzip"], coding: "gzip")
        world.queues.advance(100 * second)
        let again = ask(world, ["Accept-Encoding": "gzip"], coding: "gzip")
        #expect(world.origin.log.map(\.status) == [200, 304] && first.fields["ETag"] == again.fields["ETag"])
        #expect(world.origin.log.last?.fields["If-None-Match"] == first.fields["ETag"])
        world.origin.change("/a") { $0.content = PositionCodedContent(length: Self.length, generation: 2) }
        world.queues.advance(100 * second)
        let new = ask(world, ["Accept-Encoding": "gzip"], coding: "gzip")
        #expect(new.fields["ETag"] != first.fields["ETag"])
    }

    @Test func `a reader of bytes asks for none, in whatever company`() throws {
        let world = try world(type: "audio/mpeg", vary: nil)
        world.origin.change("/a") { $0.behaviour.gzipsForTakers = true }
        let player = world.player("/a", fields: ["Accept-Encoding": "gzip"])
        let client = AnswerClient(world, "/a", ["Accept-Encoding": "gzip"])
        player.play()
        client.finish()
        #expect(player.failure == nil && player.received == Self.length && client.body.count == Self.length)
    }

    @Test func `a cache of media asks for bodies as they are`() throws {
        let world = try world(freshness: .immutable, type: Self.page)
        world.origin.change("/a") { $0.behaviour.contentType = "audio/mpeg" }
        ask(world, ["Accept-Encoding": "gzip"], coding: nil)
        #expect(codings(world).allSatisfy { $0 == "identity" })
    }
}
