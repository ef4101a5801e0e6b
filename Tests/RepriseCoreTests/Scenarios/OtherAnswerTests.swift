import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// What an origin answers instead of the resource, to readers that tell a client of any answer and to those that do not.
@Suite struct OtherAnswerTests {
    static let length: Int64 = 300_001

    private func world(_ control: String? = "max-age=60") throws -> World {
        let world = try World {
            $0.freshness = .http
            $0.followsRedirects = false
        }
        world.put("/a", length: Self.length) { $0.extraFields["Cache-Control"] = control }
        return world
    }

    /// Has the origin answer with a status.
    private func answer(_ world: World, _ status: Int?, _ fields: [String: String] = [:]) {
        world.origin.change("/a") { resource in
            resource.behaviour.status = status
            resource.behaviour.statusFields = fields
        }
    }

    /// The status that a client is told.
    private func ask(_ world: World, _ fields: HTTPFields = [:]) -> Int? {
        let client = AnswerClient(world, "/a", fields)
        client.finish()
        return client.status
    }

    // MARK: Handed on

    static let all = [
        201, 202, 203, 204, 299, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 410, 418, 451, 499, 500, 501,
        502, 503, 504, 505, 599,
    ]

    @Test(arguments: all) func `status, fields and body go through as they are, and nothing is stored, RFC 9110 §7.7`(
        status: Int
    ) throws {
        let world = try world()
        answer(world, status, ["X-Own": "1", "Location": "/b", "Content-Security-Policy": "default-src 'self'"])
        for asked in 1...2 {
            let client = AnswerClient(world, "/a")
            client.finish()
            #expect(client.status == status && client.failure == nil)
            #expect(client.fields["X-Own"] == "1" && client.fields["Location"] == "/b")
            #expect(client.fields["Content-Security-Policy"] == "default-src 'self'" && client.fields["ETag"] == nil)
            #expect(String(decoding: client.body, as: UTF8.self) == (status == 204 ? "" : "status \(status)\n"))
            #expect(world.origin.requestCount == asked, "each asks for itself, once")
        }
        #expect(!world.memory.paths.contains { $0.contains("/body.") })
    }

    @Test func `who asks for bytes gets an error, as ever`() throws {
        let world = try world()
        answer(world, 404, ["Cache-Control": "max-age=60"])
        #expect(world.play("/a").failure?.code == .originRefused(status: 404))
        let client = AnswerClient(world, "/a")
        client.finish()
        #expect(client.status == 404)
        let stored = world.play("/a")
        #expect(stored.failure?.code == .originRefused(status: 404) && stored.received == 0)
    }

    @Test func `a range is not of what is no resource, RFC 9110 §14.2`() throws {
        let world = try world()
        answer(world, 404, ["Cache-Control": "max-age=60"])
        for _ in 1...2 {
            let client = AnswerClient(world, "/a", ["Range": "bytes=5-6", "If-None-Match": "*"])
            client.finish()
            #expect(client.status == 404 && client.fields["Content-Range"] == nil)
            #expect(String(decoding: client.body, as: UTF8.self) == "status 404\n")
        }
        #expect(world.origin.requestCount == 1)
    }

    @Test func `who waits for the same answer asks for itself where it is not to be shared`() throws {
        let world = try world()
        answer(world, 403)
        let clients = ["a", "b", "c"].map { AnswerClient(world, "/a", ["Authorization": $0]) }
        AnswerClient.finish(clients)
        #expect(clients.allSatisfy { $0.status == 403 && $0.failure == nil })
        #expect(world.origin.requestCount == 3)
    }

    @Test(arguments: ["private, max-age=60", "no-store, max-age=60"])
    func `what is one user's is handed to nobody else, inv29`(control: String) throws {
        let world = try world()
        answer(world, 404, ["Cache-Control": control])
        let clients = (1...3).map { _ in AnswerClient(world, "/a") }
        AnswerClient.finish(clients)
        #expect(clients.allSatisfy { $0.status == 404 } && world.origin.requestCount == 3)
    }

    @Test func `a playlist is the resource where an error was stored in its stead`() throws {
        let world = try world("max-age=1")
        answer(world, 503, ["Cache-Control": "max-age=1"])
        let refused = AnswerClient(world, "/a")
        refused.finish()
        #expect(refused.status == 503)
        answer(world, nil)
        world.origin.change("/a") { $0.behaviour.contentType = "application/vnd.apple.mpegurl" }
        world.queues.advance(2 * second)
        world.play("/a").expectWhole(Self.length)
        let client = AnswerClient(world, "/a", ["Range": "bytes=5-6"])
        client.finish()
        #expect(client.body.count == 2, "it has ranges")
    }

    @Test(arguments: [302, 404], ["no-store", "private"])
    func `what may not be stored shows that what is stored is another, which is asked about from then on`(
        status: Int, control: String
    ) throws {
        let world = try world(control)
        answer(world, status, ["Cache-Control": "max-age=1000", "Location": "/b"])
        for _ in 1...2 {
            let client = AnswerClient(world, "/a")
            client.finish()
            #expect(client.status == status && world.origin.requestCount == 1)
        }
        answer(world, nil)
        world.play("/a", fields: ["Cache-Control": "no-cache"]).expectWhole(Self.length)
        world.play("/a").expectWhole(Self.length)
    }

    @Test func `an error stays outdated over a restart where what took its place was not stored`() throws {
        let world = try world("max-age=1")
        answer(world, 500, ["Expires": HTTPDate.format(world.queues.wallClock() + 7000)])
        let client = AnswerClient(world, "/a")
        client.finish()
        #expect(client.status == 500)
        answer(world, nil)
        // Of a body that ends with its connection it is not known that all of it came.
        world.origin.change("/a") { $0.behaviour.framing = .close }
        world.play("/a", fields: ["Cache-Control": "no-cache"]).expectWhole(Self.length)
        world.queues.advance(60 * second)
        try world.restart()
        world.play("/a").expectWhole(Self.length)
    }

    @Test(arguments: [true, false], ["max-age=1000", "max-age=1000, stale-if-error=10"])
    func `a version stays outdated over a restart where the next one came in part, and stands in for a dead origin`(
        isOriginThere: Bool, control: String
    ) throws {
        let world = try world(control)
        world.play("/a").expectWhole(Self.length)
        world.put("/a", length: Self.length, generation: 2) { $0.extraFields["Cache-Control"] = "max-age=1000" }
        world.play("/a", ByteRange(0, 1000), fields: ["Cache-Control": "no-cache"]).expectWhole(1000)
        world.queues.advance(60 * second)
        try world.restart()
        world.origin.setDown(!isOriginThere)
        let player = world.play("/a")
        #expect(player.violation == nil && player.isAtEnd)
        #expect(player.generation == (isOriginThere ? 2 : 1))
    }

    @Test(arguments: [nil, "s=1"])
    func `one user's own answer says nothing of what others are given`(cookie: String?) throws {
        let world = try world()
        world.play("/a").expectWhole(Self.length)
        world.put("/a", length: Self.length, generation: 2) { $0.extraFields["Cache-Control"] = "max-age=60" }
        var fields: HTTPFields = ["Cache-Control": "no-cache"]
        fields["Cookie"] = cookie
        world.play("/a", fields: fields).expectWhole(Self.length)
        let other = world.play("/a")
        other.expectWhole(Self.length)
        #expect(other.generation == (cookie == nil ? 2 : 1))
    }

    @Test func `a coded body goes through whole with its coding`() throws {
        let world = try world()
        world.origin.change("/a") { $0.behaviour.gzipsAnyway = true }
        let client = AnswerClient(world, "/a", ["Range": "bytes=0-9"])
        // Of a part of a coded body nothing can be told.
        world.origin.change("/a") { $0.behaviour.ranges = .ignored }
        client.finish()
        #expect(client.status == 200 && client.fields["Content-Encoding"] == "gzip" && client.body.count == Self.length)
        #expect(world.play("/a").failure?.code == .originInvalid)
    }

    @Test func `where only a part of a coded body came, the whole is asked for`() throws {
        let world = try world()
        world.origin.change("/a") { $0.behaviour.gzipsAnyway = true }
        let client = AnswerClient(world, "/a")
        client.finish()
        #expect(client.status == 200 && client.fields["Content-Encoding"] == "gzip" && client.body.count == Self.length)
        #expect(world.origin.log.map(\.status) == [206, 200])
    }

    @Test func `an origin that answers any request with a part of a coded body is not asked as fast as it answers`()
        throws
    {
        let world = try World {
            $0.freshness = .http
        } through: {
            HeadChangingClient($1) { _, head in
                head.status = 206
                head.fields["Content-Encoding"] = "gzip"
            }
        }
        world.put("/a", length: Self.length) { $0.longestRange = 1000 }
        let client = AnswerClient(world, "/a")
        client.finish()
        #expect(client.failure?.code == .originInvalid && world.origin.requestCount < 20)
    }

    @Test func `what was asked for by one who has left is another's who asks the same`() throws {
        let world = try world()
        answer(world, 401, ["WWW-Authenticate": "Basic realm=a"])
        world.origin.change("/a") { $0.behaviour.firstByteDelay = second }
        let (first, next) = (AnswerClient(world, "/a"), AnswerClient(world, "/a"))
        for client in [first, next] { client.take() }
        world.queues.advance(second / 2)
        first.leave()
        next.finish()
        #expect(next.status == 401 && next.fields["WWW-Authenticate"] == "Basic realm=a")
        #expect(world.origin.requestCount == 1)
    }

    @Test func `a client that takes its time gets all of it`() throws {
        let world = try World {
            $0.freshness = .http
            $0.tuning.readAhead = 32 * 1024
            $0.tuning.windowLimit = 32 * 1024
        }
        world.put("/a", length: Self.length) {
            $0.gzipsAnyway = true
            $0.ranges = .ignored
            $0.extraFields["Cache-Control"] = "private"
        }
        let client = AnswerClient(world, "/a")
        while !client.isAtEnd, client.failure == nil, world.queues.time < 600 * second {
            client.take(client.body.count + 10_000)
            world.queues.advance(5 * second)
        }
        #expect(client.body.count == Self.length && client.failure == nil && world.origin.requestCount == 1)
    }

    // MARK: Stored

    static let storable = [
        203, 204, 299, 300, 301, 302, 303, 307, 308, 400, 404, 405, 410, 414, 451, 500, 501, 502, 599,
    ]

    @Test(arguments: storable) func `what says how long it is good is stored and given to all, RFC 9111 §3`(status: Int)
        throws
    {
        let world = try world()
        answer(world, status, ["Cache-Control": "max-age=600", "X-Own": "1"])
        for _ in 1...2 {
            for _ in 1...2 {
                let client = AnswerClient(world, "/a")
                client.finish()
                #expect(client.status == status && client.fields["X-Own"] == "1" && client.failure == nil)
                #expect(String(decoding: client.body, as: UTF8.self) == (status == 204 ? "" : "status \(status)\n"))
            }
            #expect(world.origin.requestCount == 1)
            world.queues.advance(2 * second)
            try world.restart()
        }
    }

    @Test(arguments: [203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
    func `a status that may be fresh without saying so is, RFC 9111 §4.2.2`(status: Int) throws {
        let world = try world()
        answer(world, status, ["Last-Modified": HTTPDate.format(0)])
        for _ in 1...2 { AnswerClient(world, "/a").finish() }
        #expect(world.origin.requestCount == 1)
    }

    @Test(arguments: [201, 302, 303, 307, 400, 403, 500, 502, 503, 504, 599])
    func `another is not, RFC 9111 §4.2.2`(status: Int) throws {
        let world = try world()
        answer(world, status, ["Last-Modified": HTTPDate.format(0)])
        for _ in 1...2 { AnswerClient(world, "/a").finish() }
        #expect(world.origin.requestCount == 2)
    }

    @Test func `once it is stale the origin is asked, and what is there now takes its place`() throws {
        let world = try world()
        answer(world, 404, ["Cache-Control": "max-age=60"])
        AnswerClient(world, "/a").finish()
        world.queues.advance(61 * second)
        answer(world, 410, ["Cache-Control": "max-age=60"])
        for _ in 1...2 {
            let client = AnswerClient(world, "/a")
            client.finish()
            #expect(client.status == 410 && String(decoding: client.body, as: UTF8.self) == "status 410\n")
        }
        #expect(world.origin.requestCount == 2)
        world.queues.advance(61 * second)
        answer(world, nil)
        let client = AnswerClient(world, "/a")
        client.finish()
        #expect(client.status == 200 && client.body.count == Self.length)
        world.play("/a").expectWhole(Self.length)
        let bought = world.origin.bodyBytes
        try world.restart()
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.bodyBytes == bought)
    }

    @Test func `it is renewed behind its back, RFC 5861 §3`() throws {
        let world = try world()
        answer(world, 404, ["Cache-Control": "max-age=60, stale-while-revalidate=600"])
        for wait in [70, 1, 50, 1] {
            let client = AnswerClient(world, "/a")
            client.finish()
            #expect(client.status == 404 && String(decoding: client.body, as: UTF8.self) == "status 404\n")
            world.queues.advance(Int64(wait) * second)
        }
        #expect(world.origin.requestCount == 2)
    }

    @Test func `one of which only a part came is asked for anew`() throws {
        let world = try world("max-age=6000")
        world.origin.change("/a") { resource in
            resource.behaviour.gzipsAnyway = true
            resource.behaviour.ranges = .ignored
            resource.behaviour.body = .reset(at: 50_000)
        }
        AnswerClient(world, "/a").finish()
        world.queues.advance(60 * second)
        world.origin.change("/a") { $0.behaviour.body = .none }
        for _ in 1...2 {
            let client = AnswerClient(world, "/a", ["Range": "bytes=0-9"])
            client.finish()
            #expect(client.failure == nil && client.body.count == Self.length)
        }
    }

    @Test func `one that the disk did not take is asked for anew`() throws {
        let world = try world()
        world.files.setRule { operation, _, _ in operation == .write ? .error(FileError.noSpace) : nil }
        answer(world, 404, ["Cache-Control": "max-age=60"])
        for asked in 1...3 {
            let client = AnswerClient(world, "/a")
            client.finish()
            #expect(client.status == 404 && String(decoding: client.body, as: UTF8.self) == "status 404\n")
            #expect(client.failure == nil && world.origin.requestCount == asked)
            world.queues.advance(second)
        }
    }

    @Test func `who still reads one goes on with it when another has it renewed`() throws {
        let world = try world("max-age=6000")
        world.origin.change("/a") { resource in
            resource.behaviour.gzipsAnyway = true
            resource.behaviour.ranges = .ignored
            resource.behaviour.tag = .none
            resource.behaviour.hasLastModified = false
            resource.behaviour.bytesPerSecond = 30_000
        }
        let first = AnswerClient(world, "/a")
        for _ in 1...3 {
            world.queues.advance(second)
            first.take()
        }
        let next = AnswerClient(world, "/a", ["Cache-Control": "no-cache"])
        for client in [first, next] { client.take() }
        first.finish()
        next.finish()
        for client in [first, next] { #expect(client.failure == nil && client.body.count == Self.length) }
    }

    @Test func `renewing one is no sign of a resource that changes with each answer`() throws {
        let world = try world()
        world.put("/a", length: 0) {
            $0.redirect = "/b"
            $0.statusFields = ["Cache-Control": "max-age=1"]
        }
        for _ in 1...12 {
            let begun = world.queues.time
            let client = AnswerClient(world, "/a", ["Cache-Control": "no-cache"])
            client.finish()
            #expect(client.status == 302 && client.failure == nil && world.queues.time - begun < second / 2)
            world.queues.advance(second / 2)
        }
    }

    @Test func `it is no copy of the resource`() throws {
        let world = try world()
        answer(world, 404, ["Cache-Control": "max-age=6000"])
        AnswerClient(world, "/a").finish()
        try world.memory.makeDirectory("/copies")
        let resource = world.cache.resource(for: OriginURL("http://origin.test/a")!)
        let told = Recorder<String>()
        Task(executorPreference: world.queues) {
            do { told.add("\(try await resource.export(to: URL(fileURLWithPath: "/copies/a.mp4")))") } catch {
                told.add("\(error)")
            }
            do { told.add("\(try await resource.compareWithOrigin())") } catch { told.add("\(error)") }
            do { told.add("\(try await resource.fileURL())") } catch { told.add("\(error)") }
        }
        world.queues.advance(60 * second)
        let stored = "nothing is stored of it but what the origin answered with 404"
        #expect(told.all == [stored, stored, "the origin answered 404"])
        #expect(world.origin.requestCount == 1)
    }

    // MARK: Beside the resource

    static let beside = [301, 302, 401, 403, 404, 410, 500, 503]

    @Test(arguments: beside, ["audio/mpeg", "application/json"])
    func `what is stored of the resource outlives another answer, and is not bought again`(
        status: Int, type: String
    ) throws {
        let world = try world("max-age=60, must-revalidate")
        world.origin.change("/a") { $0.behaviour.contentType = type }
        world.play("/a").expectWhole(Self.length)
        let bought = world.origin.bodyBytes
        world.queues.advance(61 * second)
        answer(world, status, ["Cache-Control": "max-age=600", "Location": "/b"])
        for _ in 1...2 {
            let client = AnswerClient(world, "/a")
            client.finish()
            #expect(client.status == status && String(decoding: client.body, as: UTF8.self) == "status \(status)\n")
        }
        answer(world, nil)
        world.queues.advance(100 * second)
        let asked = world.origin.bodyBytes
        world.play("/a").expectWhole(Self.length)
        #expect(world.origin.bodyBytes == asked && asked < bought + 100, "304 is enough")
    }

    @Test func `a film that cannot be completed outlives it, too, inv28`() throws {
        let world = try world("max-age=6000")
        world.origin.change("/a") { $0.behaviour.tag = .weak }
        AnswerClient(world, "/a", ["Range": "bytes=0-99999"]).finish()
        world.queues.advance(2 * second)
        answer(world, 404, ["Cache-Control": "max-age=10", "Content-Type": "text/html"])
        let client = AnswerClient(world, "/a", ["Range": "bytes=290000-290009"])
        client.finish()
        #expect(client.status == 404)
        world.queues.advance(2 * second)
        try world.restart()
        let resource = world.cache.resource(for: OriginURL("http://origin.test/a")!)
        let told = Recorder<Int64>()
        Task(executorPreference: world.queues) { told.add(await world.cache.entries().first?.stored ?? 0) }
        world.queues.advance(10 * second)
        #expect(told.all.first ?? 0 >= 100_000, "\(resource.key)")
    }

    @Test(arguments: [408, 425, 429]) func `an answer that means no absence is told at once`(status: Int) throws {
        let world = try world()
        world.play("/a").expectWhole(Self.length)
        world.queues.advance(61 * second)
        answer(world, status)
        let requests = world.origin.requestCount
        let client = AnswerClient(world, "/a")
        client.finish()
        #expect(client.status == status && world.origin.requestCount == requests + 1)
    }

    @Test func `an origin that fails is stood in for where that is allowed, RFC 5861 §4`() throws {
        let world = try world("max-age=60, stale-if-error=600")
        world.play("/a").expectWhole(Self.length)
        world.queues.advance(61 * second)
        answer(world, 503)
        let client = AnswerClient(world, "/a")
        client.finish()
        #expect(client.status == 200 && client.body.count == Self.length)
    }

    @Test(arguments: [203, 301, 404])
    func `what is stored of another status stands in for an origin that fails, RFC 5861 §4`(status: Int) throws {
        let world = try world()
        answer(world, status, ["Cache-Control": "max-age=60, stale-if-error=600", "Location": "/b"])
        #expect(ask(world) == status)
        world.queues.advance(61 * second)
        answer(world, 503, ["Cache-Control": "max-age=10"])
        for _ in 0..<2 { #expect(ask(world) == status) }
    }

    @Test(arguments: [200, 203, 299]) func `conditions hold for every success, RFC 9110 §13.2.1`(status: Int) throws {
        let world = try world()
        answer(world, status, ["Cache-Control": "max-age=60", "ETag": "\"a\""])
        _ = ask(world)
        #expect(ask(world, ["If-None-Match": "\"a\""]) == 304)
        #expect(ask(world, ["If-Match": "\"b\""]) == 412)
        #expect(ask(world, ["If-None-Match": "\"b\""]) == status)
    }

    @Test func `who has bytes goes on where the origin fails for a while, and is handed nothing else`() throws {
        let world = try World {
            $0.freshness = .http
            $0.tuning.readAhead = 32 * 1024
        }
        world.put("/a", length: Self.length) {
            $0.extraFields["Cache-Control"] = "max-age=600"
            $0.longestRange = 60_000
        }
        let client = AnswerClient(world, "/a")
        while client.body.isEmpty {
            client.take()
            guard world.queues.runOne(until: 60 * second) else { break }
        }
        answer(world, 503)
        for _ in 1...5 {
            world.queues.advance(second)
            client.take()
        }
        #expect(client.failure == nil && world.origin.log.last?.status == 503)
        answer(world, nil)
        client.finish()
        #expect(client.failure == nil && client.body.count == Self.length)
        #expect(PositionCodedContent(length: Self.length, generation: 1).firstMismatch(client.body[...], at: 0) == nil)
    }

    // MARK: Pages

    @Test(arguments: [
        (nil as String?, 2), ("max-age=60", 1), ("no-cache", 2), ("no-store", 2), ("private, max-age=60", 2),
    ])
    func `a page is stored where it says how long it is good`(control: String?, requests: Int) throws {
        let world = try world(control)
        world.put("/a", length: 1000) {
            $0.contentType = "text/html"
            $0.extraFields["Cache-Control"] = control
        }
        for _ in 1...2 {
            let client = AnswerClient(world, "/a")
            client.finish()
            #expect(client.status == 200 && client.body.count == 1000)
            world.queues.advance(second)
        }
        #expect(world.origin.log.filter { $0.status < 300 }.count == requests)
    }
}
