#if Server
    import RepriseCore
    import RepriseHTTP
    import RepriseProxy
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// Clients that stall, stop or vanish, and a server that stops.
    @Suite struct LeavingTests {
        private static let large: Int64 = 64 << 20

        @Test func `when the client leaves its reader goes and the origin's bytes stop, inv14 inv26`() async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/large.mp3", length: Self.large)
                let client = try await fixture.connect(receiveBuffer: 16 * 1024)
                try await client.request(fixture.target("/large.mp3"))
                let taken = try await client.takeBytes(atLeast: 100_000).count
                await client.close()
                await fixture.waitUntilQuiet()
                // How much the client has read when it is gone depends on the machine.
                let ahead = fixture.origin.bodyBytes - Int64(taken + client.unreadCount)
                // Read-ahead, one window, and the buffers of four sockets.
                #expect(ahead < 12 << 20, "\(ahead) bytes")
            }
        }

        @Test func `a stalled client bounds what is fetched for it and blocks nobody, inv15 inv23`() async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/large.mp3", length: Self.large)
                let stalled = try await fixture.connect(receiveBuffer: 16 * 1024)
                try await stalled.request(fixture.target("/large.mp3"))
                let first = try await stalled.takeBytes(atLeast: 1).count
                try await stalled.setReading(false)
                let range = ByteRange(Self.large - 70_000, Self.large)
                let other = try await fixture.ask("/large.mp3", [("Range", "bytes=-70000")])
                other.expect(range, of: content, status: 206)
                let cache = fixture.cache
                #expect(await eventually { cache.activity.transfers == 0 }, "the transfer goes on for a stalled client")
                // How much the client takes before it stops depends on the machine.
                let ahead = fixture.origin.bodyBytes - Int64(first + stalled.unreadCount)
                #expect(ahead < 8 << 20, "\(ahead) bytes")
                #expect(cache.activity.readers == 1)
                try await stalled.setReading(true)
                var received = 0
                while received < 8 << 20 { received += try await stalled.takeBytes(atLeast: 1).count }
            }
        }

        @Test func `stopping ends in bounded time although a client stalls, inv26`() async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/large.mp3", length: Self.large)
                let stalled = try await fixture.connect(receiveBuffer: 16 * 1024)
                try await stalled.request(fixture.target("/large.mp3"))
                _ = try await stalled.takeBytes(atLeast: 1)
                try await stalled.setReading(false)
                await fixture.proxy.stop()
                #expect(fixture.proxy.connectionCount == 0)
                let cache = fixture.cache
                #expect(await eventually { cache.activity.readers == 0 })
                await #expect(throws: (any Error).self) { try await fixture.connect() }
            }
        }

        @Test func `stopping lets an answer under way finish`() async throws {
            try await ProxyFixture.run(proxy: { $0.shutdownTimeout = 60 }) { fixture in
                let content = fixture.put("/a.mp3", length: 400_000) { $0.bytesPerSecond = 400_000 }
                let client = try await fixture.connect()
                try await client.request(fixture.target("/a.mp3"))
                let head = try await client.readHead()
                #expect(head.status == 200)
                async let stopped: Void = fixture.proxy.stop()
                var body: [UInt8] = []
                while body.count < 400_000 { body += try await client.takeBytes(atLeast: 1) }
                #expect(content.firstMismatch(body, at: 0) == nil)
                await stopped
            }
        }

        @Test func `a client that takes what it gets is not slow, however long the origin takes`() async throws {
            try await ProxyFixture.run(proxy: { $0.slowClientTimeout = 2 }) { fixture in
                // The first part is stored and fills the client's buffers at once; the rest comes for three seconds.
                let stored: Int64 = 24 << 20
                let length = stored + 600_000
                let content = fixture.put("/a.mp3", length: length)
                let first = try await fixture.ask("/a.mp3", [("Range", "bytes=0-\(stored - 1)")])
                #expect(first.body.count == Int(stored))
                await fixture.waitUntilQuiet()
                fixture.origin.change("/a.mp3") { $0.behaviour.bytesPerSecond = 200_000 }
                let client = try await fixture.connect(receiveBuffer: 16 * 1024)
                try await client.request(fixture.target("/a.mp3"))
                let answer = try await client.readAnswer()
                answer.expect(ByteRange(0, length), of: content, status: 200)
            }
        }

        @Test func `a client that takes nothing for too long is let go, inv26`() async throws {
            try await ProxyFixture.run(proxy: { $0.slowClientTimeout = 1 }) { fixture in
                fixture.put("/large.mp3", length: Self.large)
                let stalled = try await fixture.connect(receiveBuffer: 16 * 1024)
                try await stalled.request(fixture.target("/large.mp3"))
                _ = try await stalled.takeBytes(atLeast: 1)
                try await stalled.setReading(false)
                await fixture.waitUntilQuiet()
                #expect(fixture.proxy.limitsMet == [.clientTimeout: 1])
            }
        }

        @Test func `a connection without a request is closed after the idle time`() async throws {
            try await ProxyFixture.run(proxy: { $0.idleTimeout = 3 }) { fixture in
                fixture.put("/a.mp3")
                let silent = try await fixture.connect()
                try await silent.waitUntilClosed()
                let slow = try await fixture.connect()
                try await slow.send("GET \(fixture.target("/a.mp3")) HTTP/1.1\r\nHost: 127.")
                try await slow.waitUntilClosed()
                let idle = try await fixture.connect()
                try await idle.request(fixture.target("/a.mp3"))
                #expect(try await idle.readAnswer().status == 200)
                try await idle.waitUntilClosed()
                // A request that has begun is told 408.
                #expect(fixture.proxy.limitsMet == [.idleTimeout: 2, .requestTimeout: 1])
            }
        }
    }
#endif
