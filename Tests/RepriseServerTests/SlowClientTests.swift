#if Server
    import RepriseHTTP
    import ReprisePlatform
    import RepriseProxy
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// Clients that send slowly, do nothing, or are too many of either.
    @Suite struct SlowClientTests {
        @Test(arguments: [
            "G", "GET /a HTTP/1.1\r\nHost: 127.", "\r\n",
            "GET TARGET HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\nab",
            "GET TARGET HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n",
            "POST TARGET HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\nabcd",
        ])
        func `a request that does not come to its end is told 408 and let go, first and later ones`(beginning: String)
            async throws
        {
            try await ProxyFixture.run(proxy: { $0.requestTimeout = 1 }) { fixture in
                fixture.put("/a.mp3", length: 10)
                for isFirst in [true, false] {
                    let client = try await fixture.connect()
                    if !isFirst {
                        try await client.request("/.reprise/health")
                        #expect(try await client.readAnswer().status == 200)
                    }
                    try await client.send(beginning.replacing("TARGET", with: fixture.target("/a.mp3")))
                    let answer = try await client.readAnswer()
                    #expect(answer.status == 408)
                    #expect(answer.fields["Connection"] == "close")
                    try await client.waitUntilClosed()
                }
                #expect(fixture.origin.requestCount == 0)
                #expect(fixture.proxy.limitsMet == [.requestTimeout: 2])
            }
        }

        @Test func `what keeps coming does not buy time: the whole request has one limit`() async throws {
            try await ProxyFixture.run(proxy: {
                $0.requestTimeout = 1
                $0.headLimit = 1 << 30
            }) { fixture in
                let client = try await fixture.connect()
                try await client.send("GET / HTTP/1.1\r\n")
                // Line after line until the connection ends.
                let lines = Task {
                    while !client.isClosed { try await client.send("X: y\r\n") }
                }
                #expect(try await client.readAnswer().status == 408)
                try await client.waitUntilClosed()
                _ = await lines.result
            }
        }

        @Test func `a slow client's answer under way is not cut by the request's limit`() async throws {
            try await ProxyFixture.run(proxy: { $0.requestTimeout = 1 }) { fixture in
                let content = fixture.put("/a.mp3", length: 600_000) { $0.bytesPerSecond = 200_000 }
                let client = try await fixture.connect()
                // The beginning of the next request comes with this one; its time begins when its turn has come.
                try await client.send(RawClient.head(fixture.target("/a.mp3")) + "GET ")
                try await client.readAnswer().expect(ByteRange(0, 600_000), of: content, status: 200)
                #expect(try await client.readAnswer().status == 408)
            }
        }

        @Test func `the idle time begins anew with each answer, however fast it leaves`() async throws {
            // Long enough for a busy machine to bring the request in time.
            try await ProxyFixture.run(proxy: { $0.idleTimeout = 5 }) { fixture in
                let client = try await fixture.connect()
                try await client.request("/.reprise/health")
                #expect(try await client.readAnswer().status == 200)
                try await client.waitUntilClosed()
            }
        }

        @Test func `past the limit who waits longest without a request gives way, and who is served does not`()
            async throws
        {
            try await ProxyFixture.run(proxy: { $0.connectionLimit = 3 }) { fixture in
                fixture.put("/slow.mp3") { $0.body = .stall(at: 0) }
                let proxy = fixture.proxy
                let served = try await fixture.connect()
                try await served.request(fixture.target("/slow.mp3"))
                #expect(try await served.readHead().status == 200)
                let oldest = try await fixture.connect()
                #expect(await eventually { proxy.connectionCount == 2 })
                var waiting = [oldest, try await fixture.connect()]
                try await waiting[1].send("GET / HT")
                #expect(await eventually { proxy.connectionCount == 3 })
                for _ in 0..<4 {
                    let next = try await fixture.connect()
                    try await next.request("/.reprise/health")
                    #expect(try await next.readAnswer().status == 200)
                    waiting.append(next)
                    try await waiting.removeFirst().waitUntilClosed()
                }
                #expect(waiting.allSatisfy { !$0.isClosed })
                #expect(!served.isClosed)
                #expect(proxy.connectionCount <= 3)
            }
        }

        @Test(arguments: [
            ([ConnectionStanding.answering, .waiting(since: 5), .waiting(since: 3)], 2),
            ([.stalled(since: 1), .waiting(since: 90_000_000_000)], 1),
            ([.stalled(since: 2), .stalled(since: 1), .answering], 1),
            ([.answering, .stalled(since: 95_000_000_000), .answering], nil), ([.answering], nil), ([], nil),
        ])
        func `who waits gives way first, then who has taken nothing for ten seconds, never who is served`(
            standings: [ConnectionStanding], expected: Int?
        ) {
            let connections = standings.enumerated().map { (id: $0.offset, standing: $0.element) }
            #expect(ConnectionLimit.leastNeeded(of: connections, now: 100_000_000_000)?.id == expected)
            for standing in standings { #expect(SharedStanding(standing).value == standing) }
        }

        /// A connection costs two descriptors here, as both its ends are in this process.
        @Test func `a thousand idle connections are borne, and the next is served`() async throws {
            try #require(SystemCalls.raiseDescriptorLimit() > 2500, "ulimit -Hn is too low for this test")
            try await ProxyFixture.run(proxy: {
                $0.connectionLimit = 1100
                $0.idleTimeout = 600
                $0.requestTimeout = 600
            }) { fixture in
                let content = fixture.put("/a.mp3")
                var clients: [RawClient] = []
                for index in 0..<1000 {
                    let client = try await fixture.connect()
                    // Some have never asked, some have and stay, some have begun to ask.
                    if index % 3 == 1 { try await client.send("GET / HTTP/1.1\r\n") }
                    if index % 3 == 2 {
                        try await client.request("/.reprise/health")
                        #expect(try await client.readAnswer().status == 200)
                    }
                    clients.append(client)
                }
                let proxy = fixture.proxy
                #expect(await eventually { proxy.connectionCount == 1000 })
                for _ in 0..<10 {
                    try await fixture.ask("/a.mp3").expect(ByteRange(0, 100_000), of: content, status: 200)
                }
                #expect(clients.allSatisfy { !$0.isClosed })
                for client in clients { await client.close() }
                #expect(await eventually { proxy.connectionCount == 0 })
            }
        }

        @Test func `twice as many idle clients as there are places lock nobody out`() async throws {
            try await ProxyFixture.run(proxy: { $0.connectionLimit = 100 }) { fixture in
                let content = fixture.put("/a.mp3")
                var clients: [RawClient] = []
                for round in 0..<4 {
                    for _ in 0..<50 { clients.append(try await fixture.connect()) }
                    let range = ByteRange(Int64(round) * 1000, Int64(round) * 1000 + 500)
                    let field = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
                    let answer = try await fixture.ask("/a.mp3", [("Range", field)])
                    answer.expect(range, of: content, status: 206)
                }
                #expect(fixture.proxy.connectionCount <= 100)
                for client in clients { await client.close() }
            }
        }
    }
#endif
