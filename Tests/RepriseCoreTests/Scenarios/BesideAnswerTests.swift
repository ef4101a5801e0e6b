import RepriseHTTP
import RepriseTesting
import Testing

@testable import RepriseCore

/// What comes before an answer and behind it.
@Suite struct BesideAnswerTests {
    private func world(
        _ freshness: FreshnessPolicy = .http, _ change: (inout OriginBehaviour) -> Void
    ) throws -> World {
        let world = try World { $0.freshness = freshness }
        world.put("/a", length: 1000) { behaviour in
            behaviour.earlyHints = true
            behaviour.trailers = ["X-Behind": "1"]
            change(&behaviour)
        }
        return world
    }

    private func clients(_ world: World, _ names: [String], by field: String = "User-Agent") -> [AnswerClient] {
        let clients = names.map { AnswerClient(world, "/a", [field: $0]) }
        AnswerClient.finish(clients)
        return clients
    }

    @Test func `the one whose request it was is told of an interim answer`() throws {
        let world = try world { $0.extraFields["Cache-Control"] = "max-age=60" }
        let clients = clients(world, ["a", "b", "c"])
        #expect(clients.map(\.interims) == [[ScriptedOrigin.earlyHints], [], []])
        #expect(clients.allSatisfy { $0.status == 200 && $0.body.count == 1000 })
        #expect(world.origin.requestCount == 1)
        #expect(self.clients(world, ["a"])[0].interims.isEmpty, "it is stored")
    }

    @Test func `who asks for itself is told by its own request`() throws {
        let world = try world { $0.extraFields["Cache-Control"] = "private" }
        let clients = clients(world, ["user=a", "user=b"], by: "Cookie")
        #expect(clients.map(\.interims) == [[ScriptedOrigin.earlyHints], [ScriptedOrigin.earlyHints]])
        #expect(world.origin.requestCount == 2)
    }

    @Test func `a cache of media tells of none`() throws {
        let world = try world(.immutable) { $0.status = 404 }
        #expect(clients(world, ["a"])[0].interims.isEmpty)
    }

    @Test func `of any number some are held`() throws {
        let caller = Caller([:], for: try #require(OriginURL("http://origin.test/a")))
        let reader = Reader(
            id: ReaderID(number: 1), caller: caller, position: 0, end: .max, priority: .playing,
            outcome: CacheStatus(forward: .uriMiss), now: 0)
        for _ in 1...100 { reader.receive(interim: ScriptedOrigin.earlyHints) }
        var count = 0
        while reader.takeInterim() != nil { count += 1 }
        #expect(count == 16)
    }

    @Test(arguments: [0, second]) func `what comes behind an answer keeps its length from being told`(wait: Int64)
        throws
    {
        let world = try world { ($0.status, $0.statusFields) = (404, ["Cache-Control": "no-store"]) }
        let client = AnswerClient(world, "/a")
        world.queues.advance(wait)
        client.finish()
        #expect(client.status == 404 && client.fields["Content-Length"] == nil && client.trailers == ["X-Behind": "1"])
    }

    @Test func `what is stored has none, and a length`() throws {
        let world = try world { ($0.ranges, $0.extraFields["Cache-Control"]) = (.ignored, "max-age=60") }
        _ = clients(world, ["a"])
        let client = clients(world, ["a"])[0]
        #expect(client.fields["Content-Length"] == "1000" && client.trailers == [:])
    }
}
