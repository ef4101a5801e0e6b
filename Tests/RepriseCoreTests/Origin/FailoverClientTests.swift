import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseTesting
import Testing

/// What a request that ends early says of the origin it was sent to.
@Suite struct FailoverClientTests {
    /// An origin that says what a test has it say.
    private final class SilentClient: OriginClient, OriginExchange {
        let told = Lock<[@Sendable (OriginEvent) -> Void]>([])

        var sendsEveryMethod: Bool { true }

        func start(
            _ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void
        ) -> any OriginExchange {
            told.withLock { $0.append(onEvent) }
            return self
        }

        func demand() {}
        func cancel() {}
    }

    private let queues = ManualQueues()
    private let client = SilentClient()
    private let hosts = HostTable(limit: 6)
    private let origins = ["http://a.test", "http://b.test"].compactMap { OriginURL($0) }

    private func start(_ method: String) throws -> any OriginExchange {
        let failover = FailoverClient(
            client: client, mirrors: [.bases(origins)], hosts: hosts, timeout: 5 * second, queues: queues
        ) { _, _ in }
        let url = try #require(OriginURL("http://a.test/x"))
        return failover.start(OriginRequest(url: url, fields: [:], method: method)) { _ in }
    }

    @Test func `a client that leaves says nothing of an origin that it had something done by`() throws {
        let exchange = try start("POST")
        queues.advance(20 * second)
        exchange.cancel()
        #expect(hosts.breaker(of: "http://a.test") == CircuitBreaker())
    }

    @Test func `an origin that was silent for long counts as unreachable where the caller gives up`() throws {
        let exchange = try start("HEAD")
        queues.advance(11 * second)
        exchange.cancel()
        for origin in ["http://a.test", "http://b.test"] {
            #expect(hosts.breaker(of: origin) != CircuitBreaker())
        }
        #expect(client.told.withLock { $0.count } == 2)
    }

    @Test func `a failure of the last origin is not counted once more when the exchange ends`() throws {
        let exchange = try start("HEAD")
        queues.advance(20 * second)
        client.told.withLock { $0[1] }(.failed(OriginFailure(.interrupted, "")))
        exchange.cancel()
        var expected = CircuitBreaker()
        expected.note(.troubled, now: 0)
        #expect(hosts.breaker(of: "http://b.test") == expected)
    }

    @Test(arguments: [OriginFailure.Kind.interrupted, .exhausted])
    func `a failure counts once, and not where the origin had no part in it`(kind: OriginFailure.Kind) throws {
        let exchange = try start("POST")
        queues.advance(20 * second)
        client.told.withLock { $0[0] }(.failed(OriginFailure(kind, "")))
        exchange.cancel()
        var expected = CircuitBreaker()
        if kind == .interrupted { expected.note(.troubled, now: 0) }
        #expect(hosts.breaker(of: "http://a.test") == expected)
    }
}
