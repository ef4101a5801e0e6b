#if Server
    import NIOCore
    import NIOPosix
    import RepriseAsyncHTTPClient
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
                unreachable: "http://127.0.0.1:\(try await unusedPort())/x", connections: { server.acceptedConnections }
            )
            let violation = await violation(contract, rule)
            #expect(violation == nil)
            try await client.shutdown()
            await server.stop()
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
            let dead = "http://127.0.0.1:\(try await unusedPort())"
            let client = AsyncHTTPOriginClient()
            let origins = [dead, "http://127.0.0.1:\(server.port)"].compactMap { OriginURL($0) }
            let failover = FailoverClient(
                client: client, mirrors: [.bases(origins)], hosts: HostTable(limit: 6), timeout: 5_000_000_000,
                queues: SystemWorkQueues()
            ) { _, _ in }
            let contract = OriginClientContract(
                client: failover, origin: origin, base: dead,
                unreachable: "http://127.0.0.1:\(try await unusedPort())/x",
                connections: { server.acceptedConnections })
            let violation = await violation(contract, rule)
            #expect(violation == nil)
            try await client.shutdown()
            await server.stop()
        }

        private func violation(_ contract: OriginClientContract, _ rule: OriginClientContract.Rule) async -> String? {
            do {
                try await contract.check(rule)
                return nil
            } catch {
                return "\(error)"
            }
        }

        /// A port on which nobody listens: one that was just given back.
        private func unusedPort() async throws -> Int {
            let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(host: "127.0.0.1", port: 0).get()
            let port = listener.localAddress?.port ?? 1
            try await listener.close()
            return port
        }
    }
#endif
