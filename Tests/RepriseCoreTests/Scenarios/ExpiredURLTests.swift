import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseTesting
import Testing

/// URLs that run out in the middle of playback.
@Suite struct ExpiredURLTests {
    /// Refuses URLs with certain queries.
    private final class Gate: OriginClient {
        struct State {
            var refused: [String: Int] = [:]
            var refusals = 0
            /// URLs that were asked for, where each is good for one request.
            var used: Set<String>?
        }

        let state = Lock(State())
        let client: any OriginClient
        let queues: ManualQueues

        init(_ queues: ManualQueues, _ client: any OriginClient) {
            self.queues = queues
            self.client = client
        }

        func refuse(_ query: String, _ status: Int = 403) { state.withLock { $0.refused[query] = status } }
        func refuseUsed() { state.withLock { $0.used = [] } }
        var refusals: Int { state.withLock { $0.refusals } }

        private struct Refusal: OriginExchange {
            func demand() {}
            func cancel() {}
        }

        func start(
            _ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void
        ) -> any OriginExchange {
            let status = state.withLock { state -> Int? in
                let query = request.url.query ?? ""
                let isUsed = state.used?.insert(query).inserted == false
                let status = isUsed ? 403 : state.refused[query]
                if status != nil { state.refusals += 1 }
                return status
            }
            guard let status else { return client.start(request, onEvent: onEvent) }
            queues.soon { onEvent(.head(OriginResponseHead(status: status, fields: [:]))) }
            return Refusal()
        }
    }

    /// Collects questions, and answers them when the test says so.
    private final class Desk: Sendable {
        typealias Answer = @Sendable (Result<OriginURL?, any Error>) -> Void
        private let open = Lock<[(refused: RefusedURL, answer: Answer)]>([])
        private let count = Lock(0)

        var asked: Int { count.withLock { $0 } }
        var refused: [RefusedURL] { open.withLock { $0.map(\.refused) } }

        var refresher: URLRefresher {
            URLRefresher(asking: { refused, answer in
                self.count.withLock { $0 += 1 }
                self.open.withLock { $0.append((refused, answer)) }
            })
        }

        func answer(_ result: Result<OriginURL?, any Error>) {
            let open = open.withLock { open in
                defer { open = [] }
                return open
            }
            for question in open { question.answer(result) }
        }
    }

    private final class Door: Sendable {
        let gate = Lock<Gate?>(nil)
    }

    private static let length: Int64 = 3_000_000
    private let desk = Desk()
    private let door = Door()

    private func makeWorld(_ change: (inout MediaCache.Configuration) -> Void = { _ in }) throws -> World {
        let (desk, door) = (desk, door)
        let world = try World(configure: {
            $0.urlRefresher = desk.refresher
            change(&$0)
        }) { queues, client in
            let gate = Gate(queues, client)
            door.gate.withLock { $0 = gate }
            return gate
        }
        world.put("/a", length: Self.length)
        return world
    }

    private var gate: Gate { door.gate.withLock { $0! } }
    private func url(_ token: Int) -> OriginURL { OriginURL("http://origin.test/a?__token__=\(token)")! }

    @Test(arguments: [403, 410])
    func `a URL that ran out is replaced, and playback goes on from the first missing byte, bug21`(status: Int) throws {
        let world = try makeWorld()
        let player = world.player("/a?__token__=1")
        player.play(to: 200_000)
        gate.refuse("__token__=1", status)
        player.play(patience: second)
        #expect(player.failure == nil && player.position > 200_000)
        #expect(desk.refused == [RefusedURL(url: url(1), key: player.resource.key, status: status)])
        desk.answer(.success(url(2)))
        player.finish()
        player.expectWhole(Self.length)
        #expect(world.origin.bodyBytes == Self.length, "nothing was fetched twice")
        #expect(world.origin.log.last?.target == "/a?__token__=2")
        #expect(world.origin.log.last?.fields["If-Range"] != nil)
        #expect(desk.asked == 1 && gate.refusals == 1)
    }

    @Test func `it is asked once however many wait, and those with the old URL are given the new one`() throws {
        let world = try makeWorld()
        gate.refuse("__token__=1")
        let players = [0, 700_000, 2_000_000].map { world.player("/a?__token__=1", .from($0)) }
        for player in players { player.play(patience: second) }
        // Requests that were under way together are refused together.
        let refusals = gate.refusals
        #expect(desk.asked == 1 && refusals <= 3)
        desk.answer(.success(url(2)))
        for player in players {
            player.play(to: player.position + 100_000)
            player.leave()
        }
        #expect(players.allSatisfy { $0.failure == nil && $0.violation == nil && $0.received == 100_000 })
        world.queues.advance(60 * second)
        #expect(world.cache.openEntries.isEmpty)
        world.play("/a?__token__=1").expectWhole(Self.length)
        #expect(desk.asked == 1 && gate.refusals == refusals)
    }

    @Test func `a second refusal is the error readers see, and what is stored still plays, inv18`() throws {
        let world = try makeWorld()
        let player = world.player("/a?__token__=1")
        player.play(to: 200_000)
        for token in 1...2 { gate.refuse("__token__=\(token)") }
        player.play(patience: second)
        let stored = player.position
        desk.answer(.success(url(2)))
        player.finish()
        #expect(player.failure?.code == .originRefused(status: 403))
        #expect(desk.asked == 1 && gate.refusals == 2)
        #expect(player.position == stored && player.violation == nil)
        let again = world.play("/a?__token__=1", ByteRange(0, stored))
        again.expectWhole(stored)
        // The next failure is a new one.
        let last = world.player("/a?__token__=1", .from(stored))
        last.play(patience: second)
        #expect(desk.asked == 2)
        desk.answer(.success(url(3)))
        last.finish()
        last.expectWhole(Self.length, from: stored)
    }

    @Test func `no fresh URL, an error and silence are the refusal that was`() throws {
        struct Trouble: Error {}
        for answer in [.success(nil), .failure(Trouble()), nil] as [Result<OriginURL?, any Error>?] {
            let world = try makeWorld()
            gate.refuse("__token__=1")
            let player = world.player("/a?__token__=1")
            let begin = world.queues.time
            player.play(patience: second)
            if let answer { desk.answer(answer) }
            player.finish()
            #expect(player.failure?.code == .originRefused(status: 403))
            #expect(world.queues.time - begin <= 21 * second)
            // Whatever comes late changes nothing.
            desk.answer(.success(nil))
        }
        #expect(desk.asked == 3)
    }

    @Test func `an origin that is silent under each fresh URL is told of in time, inv26`() throws {
        let asked = Shared(1)
        let world = try makeWorld {
            $0.urlRefresher = URLRefresher { _, answer in
                asked.change { $0 += 1 }
                answer(.success(self.url(asked.value)))
            }
        }
        world.origin.change("/a") { $0.behaviour.body = .stall(at: 200_000) }
        gate.refuseUsed()
        let player = world.player("/a?__token__=1")
        player.play(to: 200_000)
        let begin = world.queues.time
        player.play(patience: 300 * second)
        #expect(player.failure?.code == .originTimedOut && player.position == 200_000)
        #expect(world.queues.time - begin <= 60 * second)
    }

    @Test func `without a fresh URL who still has bytes is told at their end, and the origin is asked seldom, inv26`()
        throws
    {
        let asked = Shared(0)
        let world = try makeWorld {
            $0.urlRefresher = URLRefresher { _, answer in
                asked.change { $0 += 1 }
                answer(.success(nil))
            }
        }
        world.queues.tellCircles(after: 10_000, inAll: 1_000_000)
        let player = world.player("/a?__token__=1")
        player.play(to: 200_000)
        gate.refuse("__token__=1")
        // It takes some, so that more is to be fetched ahead of it, and then nothing for a minute.
        player.play(to: 210_000)
        world.queues.advance(60 * second)
        #expect(!world.queues.goesInCircles)
        #expect(player.failure == nil && asked.value > 0 && asked.value == gate.refusals)
        #expect(gate.refusals == 1)
        player.finish()
        #expect(player.failure?.code == .originRefused(status: 403))
        #expect(player.position > 250_000)
    }

    @Test func `a newer URL that a reader brings is not replaced by the answer`() throws {
        let world = try makeWorld()
        gate.refuse("__token__=1")
        let player = world.player("/a?__token__=1")
        player.play(patience: second)
        let newer = world.player("/a?__token__=3")
        desk.answer(.success(url(2)))
        player.finish()
        player.expectWhole(Self.length)
        newer.finish()
        newer.expectWhole(Self.length)
        #expect(Set(world.origin.log.map(\.target)) == ["/a?__token__=3"])
    }

    @Test(arguments: [nil, 60] as [Int64?])
    func `a newer URL that a reader brings is asked where no fresh one can be had`(wait: Int64?) throws {
        let world = try makeWorld()
        gate.refuse("__token__=1")
        let player = world.player("/a?__token__=1")
        player.play(patience: second)
        let newer = world.player("/a?__token__=3")
        if let wait { world.queues.advance(wait * second) } else { desk.answer(.success(nil)) }
        for player in [player, newer] {
            player.finish()
            player.expectWhole(Self.length)
        }
    }

    @Test(arguments: [403, 404]) func `a URL that a newcomer brings and is refused takes no other reader's place`(
        status: Int
    ) throws {
        let world = try makeWorld { $0.urlRefresher = nil }
        let player = world.player("/a?__token__=2")
        player.play(to: 200_000)
        gate.refuse("__token__=1", status)
        for start in [0, 2_500_000] as [Int64] {
            let other = world.player("/a?__token__=1", .from(start))
            other.play(to: start + 1000, patience: second)
            player.play(to: player.position + 500_000)
            other.play(patience: second)
            #expect(other.failure == nil && other.violation == nil)
            other.leave()
        }
        player.finish()
        player.expectWhole(Self.length)
        #expect(gate.refusals <= 2)
        // Who has no other is refused.
        world.queues.advance(60 * second)
        try world.restart()
        world.put("/b", length: Self.length)
        gate.refuse("__token__=1", status)
        #expect(world.play("/b?__token__=1").failure?.code == .originRefused(status: status))
    }

    @Test(arguments: [nil, 1] as [Int64?])
    func `two URLs that both ran out are asked in turn, once, and the readers are told, inv26`(answers: Int64?) throws {
        let world = try makeWorld()
        let players = [1, 2].map { world.player("/a?__token__=\($0)", .from(Int64($0) * 1_000_000)) }
        for player in players { player.play(to: player.position + 100_000) }
        for token in 1...2 { gate.refuse("__token__=\(token)") }
        let begun = world.queues.time
        for _ in 0..<120 where players.contains(where: { $0.failure == nil && !$0.isAtEnd }) {
            for player in players where player.failure == nil { player.play(patience: second) }
            if answers != nil { desk.answer(.success(nil)) }
        }
        for player in players { #expect(player.failure?.code == .originRefused(status: 403)) }
        #expect(world.queues.time - begun < 100 * second && gate.refusals < 20)
    }

    @Test func `a URL that was refused to one token is asked with another`() throws {
        let world = try makeWorld { $0.urlRefresher = nil }
        let paused = world.player("/a?__token__=2")
        paused.play(to: 200_000)
        world.origin.change("/a") { $0.behaviour.refusals = ["expired": 401] }
        let refused = world.player("/a?__token__=1", .from(2_000_000), fields: ["Authorization": "expired"])
        refused.play(patience: second)
        refused.leave()
        gate.refuse("__token__=2")
        let player = world.player("/a?__token__=1", .from(1_000_000), fields: ["Authorization": "good"])
        player.finish()
        player.expectWhole(Self.length, from: 1_000_000)
    }

    @Test(arguments: [401, 404, 451]) func `other refusals are none that a URL could mend`(status: Int) throws {
        let world = try makeWorld()
        gate.refuse("__token__=1", status)
        #expect(world.play("/a?__token__=1").failure?.code == .originRefused(status: status))
        #expect(desk.asked == 0)
    }

    @Test func `where freshness is HTTP's a refused revalidation asks as well`() throws {
        let world = try makeWorld { $0.freshness = .http }
        world.put("/a", length: Self.length) { $0.extraFields["Cache-Control"] = "max-age=1" }
        world.play("/a?__token__=1").expectWhole(Self.length)
        world.queues.advance(5 * second)
        gate.refuse("__token__=1")
        let player = world.player("/a?__token__=1")
        player.play(patience: second)
        #expect(desk.asked == 1)
        desk.answer(.success(url(2)))
        player.finish()
        player.expectWhole(Self.length)
        #expect(world.origin.bodyBytes == Self.length)
    }
}
