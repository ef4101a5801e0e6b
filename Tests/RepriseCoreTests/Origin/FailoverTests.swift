import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseTesting
import Testing

/// Several origins behind one cache: players do not notice which one answers, and bytes of two are never mixed.
@Suite struct FailoverTests {
    private let other = ScriptedOrigin()
    /// What failed, in the order it was told.
    private let failures = Recorder<String>()

    private func makeWorld(_ configure: (inout MediaCache.Configuration) -> Void = { _ in }) throws -> World {
        let (other, failures) = (other, failures)
        let world = try World {
            $0.mirrors = ["http://origin.test", "http://other.test/base/"].compactMap { OriginURL($0) }
            configure(&$0)
        } through: { queues, first in
            HostsClient(["origin.test": first, "other.test": InMemoryOriginClient(origin: other, queues: queues)])
        }
        let subscription = world.cache.onEvent { event in
            if case .originFailed(let origin, let reason) = event { failures.add("\(origin): \(reason)") }
        }
        world.cache.keep(subscription)
        return world
    }

    private func put(_ world: World, generation: Int = 1, _ change: (inout OriginBehaviour) -> Void = { _ in }) {
        world.put("/a", length: 1_000_000) { change(&$0) }
        other.put(.init(PositionCodedContent(length: 1_000_000, generation: generation)), at: "/base/a")
    }

    @Test func `where the preferred origin cannot be reached the next one plays, under the same key`() throws {
        let world = try makeWorld()
        put(world)
        world.origin.setDown(true)
        world.play("/a").expectWhole(1_000_000)
        #expect(other.bodyBytes == 1_000_000)
        #expect(failures.all.first == "http://origin.test: connection refused")
        // Held off: the next request did not try it again.
        #expect(failures.all.count == 1)
        world.origin.setDown(false)
        let requests = other.requestCount
        world.play("/a").expectWhole(1_000_000)
        #expect(other.requestCount == requests && world.origin.requestCount == 0, "what is stored is stored for both")
    }

    @Test func `a mirror's page after a body that broke off is no progress, inv26`() throws {
        let world = try makeWorld()
        put(world) {
            $0.ranges = .ignored
            $0.body = .reset(at: 345)
        }
        other.change("/base/a") { ($0.behaviour.ranges, $0.behaviour.loginPage) = (.ignored, true) }
        let player = world.player("/a", .from(1472))
        world.drive([player], for: 60 * second)
        #expect(player.failure != nil)
        #expect(world.origin.requestCount < 20)
    }

    @Test(arguments: [500, 502, 503, 504]) func `an answer of trouble is not handed on while another can do better`(
        status: Int
    ) throws {
        let world = try makeWorld()
        put(world) { $0.status = status }
        world.play("/a").expectWhole(1_000_000)
        #expect(other.bodyBytes == 1_000_000)
        #expect(world.origin.requestCount == 1, "it is asked once")
    }

    /// A comparison is a whole request that is not the engine's: it goes on to the next by itself.
    @Test func `one that asks to be left alone while the first is silent is no other place`() throws {
        let world = try makeWorld()
        put(world)
        world.play("/a").expectWhole(1_000_000)
        put(world) { $0.firstByteDelay = 200 * second }
        let resource = world.player("/a").resource
        let comparison = Task(executorPreference: world.queues) { try await resource.compareWithOrigin() }
        world.queues.advance(second)
        let wait = CacheError(.originRefused(status: 429), "the origin answered 429", retryAfter: 30)
        world.cache.environment.hosts.noteHoldOff("http://other.test", nil, wait, now: world.queues.now())
        world.queues.advance(20 * second)
        #expect(other.requestCount == 0)
        comparison.cancel()
        world.queues.advance(second)
    }

    @Test func `what all of them refuse is refused, and 404 is an answer`() throws {
        let world = try makeWorld()
        other.put(.init(PositionCodedContent(length: 10)), at: "/base/a")
        let player = world.play("/a")
        #expect(player.failure?.code == .originRefused(status: 404))
        #expect(other.requestCount == 0)
        #expect(failures.all.isEmpty)
    }

    @Test(arguments: [(30, 5), (3, 3)]) func `one that is silent is waited for 5 seconds, or less where all are`(
        originTimeout: Int, seconds: Int64
    ) throws {
        let world = try makeWorld { $0.originTimeout = originTimeout }
        put(world) { $0.firstByteDelay = 3600 * second }
        let begin = world.queues.time
        world.play("/a").expectWhole(1_000_000)
        #expect(world.queues.time - begin < (seconds + 1) * second)
        #expect(failures.all == ["http://origin.test: the origin did not answer within \(seconds) s"])
    }

    @Test func `an answer that breaks off goes on at the other where it stopped, inv01`() throws {
        let world = try makeWorld()
        put(world) {
            $0.body = .reset(at: 100_000)
        }
        let player = world.player("/a")
        player.play(to: 50_000)
        world.origin.setDown(true)
        player.finish()
        player.expectWhole(1_000_000)
        let first = try #require(other.log.first)
        #expect(first.range?.lowerBound == 100_000)
        #expect(first.fields["If-Range"] != nil)
        #expect(other.bodyBytes == 900_000)
    }

    @Test(
        arguments: [OriginBehaviour.BodyFault.reset(at: 100_000), .stall(at: 100_000), .reset(at: 0), .stall(at: 0)],
        [OriginBehaviour.Ranges.served, .ignored])
    func `an origin that begins each answer well and never ends it is left for the other, inv26`(
        fault: OriginBehaviour.BodyFault, ranges: OriginBehaviour.Ranges
    ) throws {
        let world = try makeWorld()
        put(world) {
            $0.body = fault
            $0.ranges = ranges
        }
        let (player, begin) = (world.player("/a"), world.queues.time)
        player.finish()
        player.expectWhole(1_000_000)
        #expect(other.bodyBytes >= 900_000)
        // It was waited for once; without ranges no second transfer is begun beside it meanwhile.
        #expect(world.queues.time - begin < (ranges == .served ? 15 : 25) * second)
    }

    @Test(arguments: [(OriginBehaviour.Ranges.served, Int64(0)), (.ignored, 100_000)])
    func `origins that all begin well and bring nothing are not asked in circles, inv26`(
        ranges: OriginBehaviour.Ranges, end: Int64
    ) throws {
        let world = try makeWorld()
        put(world) { $0.body = .reset(at: end) }
        other.change("/base/a") { $0.behaviour.body = .reset(at: end) }
        let player = world.player("/a")
        player.play(to: end / 2)
        // What ignores ranges begins each answer with what there is already.
        world.origin.change("/a") { $0.behaviour.ranges = ranges }
        other.change("/base/a") { $0.behaviour.ranges = ranges }
        player.finish()
        #expect(player.failure != nil)
        #expect(world.origin.requestCount + other.requestCount < 60)
    }

    @Test func `bytes of origins that disagree are never mixed, inv01`() throws {
        let world = try makeWorld()
        put(world, generation: 2) { $0.body = .reset(at: 400_000) }
        let player = world.player("/a")
        player.play(to: 50_000)
        world.origin.setDown(true)
        player.finish()
        #expect(player.violation == nil)
        #expect(player.failure != nil, "it has begun with bytes of the one that is gone")
        let next = world.play("/a")
        next.expectWhole(1_000_000)
        #expect(next.generation == 2)
    }

    @Test func `media stays stored and plays while all origins are gone, inv18`() throws {
        let world = try makeWorld()
        put(world)
        world.play("/a").expectWhole(1_000_000)
        world.origin.setDown(true)
        other.setDown(true)
        try world.restart()
        world.play("/a").expectWhole(1_000_000)
        #expect(other.requestCount == 0)
    }

    @Test func `stale media is confirmed by whichever origin is there, RFC 9111 §4.3.1`() throws {
        let world = try makeWorld { $0.freshness = .http }
        put(world) { $0.extraFields["Cache-Control"] = "max-age=5" }
        world.play("/a").expectWhole(1_000_000)
        world.queues.advance(60 * second)
        world.origin.setDown(true)
        world.play("/a").expectWhole(1_000_000)
        #expect(other.log.map(\.status) == [304])
        #expect(other.bodyBytes == 0)
    }

    @Test func `the preferred one is asked again once its time is up, and keeps its place`() throws {
        let world = try makeWorld()
        for path in ["/a", "/b", "/c"] {
            world.put(path, length: 1000)
            other.put(.init(PositionCodedContent(length: 1000)), at: "/base" + path)
        }
        world.origin.setDown(true)
        world.play("/a").expectWhole(1000)
        world.origin.setDown(false)
        world.play("/b").expectWhole(1000)
        #expect(other.log.map(\.path) == ["/base/a", "/base/b"])
        world.queues.advance(2 * second)
        world.play("/c").expectWhole(1000)
        #expect(world.origin.log.map(\.path) == ["/c"])
    }

    @Test func `what may have changed something is sent elsewhere only if nobody can have got it`() throws {
        let world = try makeWorld()
        put(world) { $0.status = 503 }
        let client = world.cache.environment.failover
        let url = try #require(OriginURL("http://origin.test/a"))
        let statuses = Lock<[Int]>([])
        func post() {
            _ = client.start(OriginRequest(url: url, fields: [:], method: "POST", body: .whole([1]))) { event in
                if case .head(let head) = event { statuses.withLock { $0.append(head.status) } }
            }
            world.queues.advance(10 * second)
        }
        post()
        #expect(statuses.withLock { $0 } == [503])
        #expect(other.requestCount == 0)
        world.origin.setDown(true)
        post()
        #expect(statuses.withLock { $0 } == [503, 200])
        #expect(other.log.map(\.method) == ["POST"])
    }

    @Test(arguments: [false, true]) func `a body that is there once is not sent elsewhere, whatever the method`(
        isUpload: Bool
    ) throws {
        let world = try makeWorld()
        put(world) { $0.status = 503 }
        let url = try #require(OriginURL("http://origin.test/a"))
        let upload = OriginUpload(length: 1) {}
        upload.append([1])
        upload.end()
        let statuses = Recorder<Int>()
        let request = OriginRequest(
            url: url, fields: [:], method: "REPORT", body: isUpload ? .upload(upload) : .whole([1]))
        _ = world.cache.environment.failover.start(request) { event in
            if case .head(let head) = event { statuses.add(head.status) }
        }
        world.queues.advance(10 * second)
        #expect(statuses.all == [isUpload ? 503 : 200] && other.requestCount == (isUpload ? 0 : 1))
    }
}
