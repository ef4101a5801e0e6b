#if Server
    import Foundation
    import NIOCore
    @testable import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import ReprisePlatform
    import RepriseTesting
    import Testing

    @Suite struct OriginClientTests {
        @Test(arguments: OriginClientContract.Rule.allCases)
        func `the async-http-client keeps the contract on real sockets, inv23`(rule: OriginClientContract.Rule)
            async throws
        {
            let origin = ScriptedOrigin()
            let server = try await LoopbackOrigin.start(origin)
            let client = AsyncHTTPOriginClient()
            let contract = OriginClientContract(
                client: client, origin: origin, base: "http://127.0.0.1:\(server.port)",
                unreachable: "http://127.0.0.1:\(try LoopbackPort.unused())/x",
                connections: { server.acceptedConnections }
            )
            let violation = await violation(contract, rule)
            #expect(violation == nil)
            let areGone = await eventually { client.exits.listeners.count == 0 }
            #expect(areGone, "a request that is over is still listened for")
            try await client.shutdown()
            await server.stop()
        }

        @Test(arguments: [
            (ChannelError.ioOnClosedChannel, OriginFailure.Kind.interrupted), (.eof, .interrupted),
            (.alreadyClosed, .interrupted), (.outputClosed, .interrupted), (.connectTimeout(.seconds(1)), .timedOut),
        ])
        func `an origin that closed a connection can be reached all the same`(
            error: ChannelError, kind: OriginFailure.Kind
        ) {
            let failure = OriginFailure(
                error, host: "a.example", exit: .direct(isTrusted: false), rules: UpstreamRules())
            #expect(failure.kind == kind, "\(failure)")
        }

        @Test(arguments: [EMFILE, ENFILE]) func `an origin that no descriptor is left for is not at fault`(code: CInt) {
            let failure = OriginFailure(
                IOError(errnoCode: code, reason: "connect"), host: "a.example", exit: .direct(isTrusted: false),
                rules: UpstreamRules())
            #expect(failure.cause == .connectionLimit && failure.kind == .exhausted)
            #expect(failure.message.contains("ulimit -n"))
            #expect(CircuitBreaker.Outcome(failure.kind) == nil)
        }

        @Test(arguments: OriginClientContract.Rule.allCases)
        func `the in-memory client keeps the same contract`(rule: OriginClientContract.Rule) async throws {
            let origin = ScriptedOrigin()
            let down = rule == .unreachableFails
            origin.setDown(down)
            let client = InMemoryOriginClient(origin: origin, queues: SystemWorkQueues())
            let contract = OriginClientContract(
                client: client, origin: origin, base: "http://origin.test", unreachable: "http://nowhere.test/x")
            let violation = await violation(contract, rule)
            #expect(violation == nil)
        }

        @Test(arguments: OriginClientContract.Rule.allCases)
        func `several origins of which the preferred one is dead keep the contract as one, inv23`(
            rule: OriginClientContract.Rule
        ) async throws {
            let origin = ScriptedOrigin()
            let server = try await LoopbackOrigin.start(origin)
            let dead = "http://127.0.0.1:\(try LoopbackPort.unused())"
            let client = AsyncHTTPOriginClient()
            let origins = [dead, "http://127.0.0.1:\(server.port)"].compactMap { OriginURL($0) }
            let failover = FailoverClient(
                client: client, mirrors: [.bases(origins)], hosts: HostTable(limit: 6), timeout: 5_000_000_000,
                queues: SystemWorkQueues()
            ) { _, _ in }
            let contract = OriginClientContract(
                client: failover, origin: origin, base: dead,
                unreachable: "http://127.0.0.1:\(try LoopbackPort.unused())/x",
                connections: { server.acceptedConnections })
            let violation = await violation(contract, rule)
            #expect(violation == nil)
            try await client.shutdown()
            await server.stop()
        }

        @Test func `chunks of one byte that came together cost few pieces`() async throws {
            let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            let chunks = bytes.flatMap { Array("1\r\n".utf8) + [$0] + Array("\r\n".utf8) }
            let exchange = try await taken(Array(head.utf8) + chunks + Array("0\r\n\r\n".utf8))
            #expect(exchange.bytes == bytes && exchange.isDelimited == true && exchange.violations.isEmpty)
            // 600 kB come in a few dozen reads; each may end in the middle of a piece.
            #expect(exchange.pieces <= 1000, "\(exchange.pieces) pieces")
        }

        @Test func `what comes before and behind an answer is told in its order, and not where it is much`()
            async throws
        {
            func answer(_ value: String) -> [UInt8] {
                let interims = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: \(value)\r\n\r\n"
                let head = "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                return Array((interims + head + "3\r\nabc\r\n0\r\nX: \(value)\r\n\r\n").utf8)
            }
            let told = try await taken(answer("a"))
            #expect(told.interims.map(\.status) == [103, 102] && told.interims[0].fields["Link"] == "a")
            #expect(told.trailers == ["X": "a"] && told.bytes == Array("abc".utf8) && told.violations.isEmpty)
            let much = try await taken(answer(String(repeating: "x", count: 20_000)))
            #expect(much.interims.map(\.status) == [102] && much.trailers.isEmpty)
            #expect(much.bytes == Array("abc".utf8) && much.isDelimited == true)
        }

        @Test(arguments: [(1, 3_000_000), (100_000, 4)])
        func `trailers without end are no answer`(count: Int, length: Int) async throws {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"
            let trailer = Array("X: \(String(repeating: "x", count: length))\r\n".utf8)
            let answer = Array(head.utf8) + (0..<count).flatMap { _ in trailer } + Array("\r\n".utf8)
            let exchange = try await taken(answer)
            #expect(exchange.failure != nil && exchange.isDelimited == nil)
        }

        @Test(arguments: ["", "Content-Length: 10\r\n", "Transfer-Encoding: chunked\r\n"])
        func `a redirect is followed though its body never ends, inv26`(framing: String) async throws {
            let place = try await CannedOrigin(Array("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc".utf8))
            let redirect = "HTTP/1.1 302 Found\r\nLocation: \(place.base)/y\r\n\(framing)\r\n"
            let exchange = try await taken(Array(redirect.utf8))
            #expect(exchange.bytes == Array("abc".utf8) && exchange.violations.isEmpty)
            await place.stop()
        }

        /// An exchange with an origin that answers these bytes, taken to its end.
        private func taken(_ answer: [UInt8]) async throws -> ExchangeRecorder {
            let origin = try await CannedOrigin(answer)
            let client = AsyncHTTPOriginClient()
            let url = try #require(OriginURL(origin.base + "/x"))
            let exchange = ExchangeRecorder(client, OriginRequest(url: url, fields: [:]))
            try await exchange.takeAll()
            try await client.shutdown()
            await origin.stop()
            return exchange
        }

        private func violation(_ contract: OriginClientContract, _ rule: OriginClientContract.Rule) async -> String? {
            do {
                try await contract.check(rule)
                return nil
            } catch {
                return "\(error)"
            }
        }
    }
#endif
