import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseTesting
import Testing

@Suite struct ScriptedOriginTests {
    private let origin = ScriptedOrigin()
    private let queues = ManualQueues()
    private let content = PositionCodedContent(length: 1000)

    private func put(_ change: (inout OriginBehaviour) -> Void = { _ in }) {
        var behaviour = OriginBehaviour()
        change(&behaviour)
        origin.put(.init(content, behaviour), at: "/a")
    }

    private func answer(_ fields: HTTPFields = [:]) -> ScriptedAnswer {
        origin.answer(method: "GET", target: "/a?x=1", fields: fields)
    }

    @Test func `ranges are answered as RFC 9110 says`() {
        put()
        #expect(answer().status == 200)
        let part = answer(["Range": "bytes=10-19"])
        #expect(part.status == 206)
        #expect(part.fields["Content-Range"] == "bytes 10-19/1000")
        #expect(part.fields["Content-Length"] == "10")
        #expect(part.range == ByteRange(10, 20))
        #expect(answer(["Range": "bytes=-5"]).range == ByteRange(995, 1000))
        #expect(answer(["Range": "bytes=990-2000"]).range == ByteRange(990, 1000))
        let past = answer(["Range": "bytes=1000-"])
        #expect(past.status == 416)
        #expect(past.fields["Content-Range"] == "bytes */1000")
        #expect(origin.answer(method: "GET", target: "/none", fields: [:]).status == 404)
    }

    @Test func `conditions are heeded, unless the script says otherwise`() throws {
        put()
        let tag = try #require(answer().fields["ETag"])
        #expect(answer(["Range": "bytes=0-1", "If-Range": tag]).status == 206)
        #expect(answer(["Range": "bytes=0-1", "If-Range": "\"other\""]).status == 200)
        #expect(answer(["If-None-Match": tag]).status == 304)
        #expect(answer(["If-None-Match": "\"other\""]).status == 200)
        put { $0.heedsIfRange = false }
        #expect(answer(["Range": "bytes=0-1", "If-Range": "\"other\""]).status == 206)
        put { $0.heedsIfNoneMatch = false }
        #expect(answer(["If-None-Match": tag]).status == 200)
        put { $0.tag = .weak }
        #expect(answer(["Range": "bytes=0-1", "If-Range": "W/" + tag]).status == 200)
    }

    @Test func `a fault is met by so many requests, and the log has them all`() {
        put {
            $0.status = 503
            $0.faultyRequests = 2
        }
        #expect((0..<3).map { _ in answer().status } == [503, 503, 200])
        #expect(origin.log.map(\.status) == [503, 503, 200])
        #expect(origin.log.allSatisfy { $0.path == "/a" && $0.method == "GET" })
    }

    // MARK: The client in memory

    private enum Seen: Equatable { case interim(Int), head(Int), body(Int), end(Bool), failed(OriginFailure.Kind) }

    private final class Collector: Sendable {
        private let events = Lock<[Seen]>([])
        private let bytes = Lock<[UInt8]>([])
        func take(_ event: OriginEvent) {
            let seen: Seen =
                switch event {
                case .interim(let head): .interim(head.status)
                case .head(let head): .head(head.status)
                case .body(let piece): .body(piece.count)
                case .end(let isDelimited, _): .end(isDelimited)
                case .failed(let failure): .failed(failure.kind)
                }
            if case .body(let piece) = event { bytes.withLock { $0 += piece } }
            events.withLock { $0.append(seen) }
        }
        var all: [Seen] { events.withLock { $0 } }
        var body: [UInt8] { bytes.withLock { $0 } }
    }

    private func start(_ collector: Collector, pieceSize: Int = 400, path: String = "/a") -> any OriginExchange {
        let client = InMemoryOriginClient(origin: origin, queues: queues, pieceSize: pieceSize)
        let url = OriginURL("http://origin.test" + path)!
        return client.start(OriginRequest(url: url, fields: [:])) { collector.take($0) }
    }

    @Test func `a piece comes for each demand and none unasked, the end by itself`() {
        put()
        let collector = Collector()
        let exchange = start(collector)
        #expect(collector.all.isEmpty, "nothing is called from inside start")
        queues.advance(1_000_000_000)
        #expect(collector.all == [.head(200)])
        exchange.demand()
        #expect(collector.all == [.head(200)], "nothing is called from inside demand")
        queues.advance(1_000_000_000)
        #expect(collector.all == [.head(200), .body(400)])
        for _ in 0..<2 {
            exchange.demand()
            queues.settle()
        }
        #expect(collector.all == [.head(200), .body(400), .body(400), .body(200), .end(true)])
        #expect(content.firstMismatch(collector.body, at: 0) == nil)
        #expect(origin.bodyBytes == 1000)
    }

    @Test func `a cancelled exchange says nothing more`() {
        put()
        let collector = Collector()
        let exchange = start(collector)
        queues.settle()
        exchange.demand()
        exchange.cancel()
        exchange.cancel()
        queues.advance(1_000_000_000)
        #expect(collector.all == [.head(200)])
    }

    @Test func `faults come where the script puts them`() {
        let cases: [(OriginBehaviour.BodyFault, OriginBehaviour.Framing, [Seen])] = [
            (.reset(at: 500), .length, [.head(200), .body(400), .body(100), .failed(.interrupted)]),
            (.short(by: 300), .length, [.head(200), .body(400), .body(300), .failed(.interrupted)]),
            (.stall(at: 400), .length, [.head(200), .body(400)]),
            (.long(by: 50), .length, [.head(200), .body(400), .body(400), .body(200), .end(true)]),
            (.none, .chunked, [.head(200), .body(400), .body(400), .body(200), .end(true)]),
            (.none, .close, [.head(200), .body(400), .body(400), .body(200), .end(false)]),
        ]
        for (fault, framing, expected) in cases {
            put {
                $0.body = fault
                $0.framing = framing
            }
            let collector = Collector()
            let exchange = start(collector)
            queues.settle()
            for _ in 0..<5 {
                exchange.demand()
                queues.settle()
            }
            #expect(Array(collector.all.prefix(expected.count)) == expected, "\(fault) \(framing)")
            let rest = collector.all.dropFirst(expected.count)
            #expect(rest.allSatisfy { $0 == expected.last }, "\(fault) \(framing): \(rest)")
        }
    }

    @Test func `rate and first byte take their time`() {
        put {
            $0.firstByteDelay = 5_000_000
            $0.bytesPerSecond = 400_000
        }
        let collector = Collector()
        let exchange = start(collector)
        queues.advance(4_999_999)
        #expect(collector.all.isEmpty)
        queues.advance(1)
        exchange.demand()
        queues.advance(999_999)
        #expect(collector.all == [.head(200)])
        queues.advance(1)
        #expect(collector.all == [.head(200), .body(400)])
    }

    @Test func `redirects are followed, but not for ever, and a host that is down refuses`() {
        put { $0.redirect = "/b" }
        origin.put(.init(PositionCodedContent(length: 5)), at: "/b")
        let followed = Collector()
        _ = start(followed)
        queues.settle()
        #expect(followed.all == [.head(200)])
        put { $0.redirect = "/a" }
        let circling = Collector()
        _ = start(circling)
        queues.settle()
        #expect(circling.all == [.failed(.malformed)])
        origin.setDown(true)
        let refused = Collector()
        _ = start(refused)
        queues.settle()
        #expect(refused.all == [.failed(.unreachable)])
    }
}
