#if Server
    import NIOCore
    import NIOEmbedded
    import RepriseCore
    import ReprisePlatform
    @testable import RepriseProxy
    import RepriseTesting
    import Synchronization
    import Testing

    /// What connections do with time and with each other, on a clock of the test's own and without sockets.
    @Suite struct ConnectionHandlerTests {
        /// Connections of one server, which share a clock.
        private struct Server {
            let loop = EmbeddedEventLoop()
            let server: ProxyServer
            private let directory = TemporaryDirectory()

            init(_ change: (inout ProxyConfiguration) -> Void) throws {
                var configuration = ProxyConfiguration()
                change(&configuration)
                let client = InMemoryOriginClient(origin: ScriptedOrigin(), queues: SystemWorkQueues())
                let cache = try MediaCache(directory: directory.path, client: client)
                server = ProxyServer(cache: cache, configuration: configuration)
            }

            func connect(isBusy: Bool = false) throws -> Client {
                let handler = ConnectionHandler(server: server)
                let channel = EmbeddedChannel(handler: handler, loop: loop)
                channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
                if isBusy { handler.standing.value = .answering }
                return Client(channel: channel, handler: handler)
            }

            func wait(seconds: Int64) { loop.advanceTime(by: .seconds(seconds)) }
        }

        private struct Client {
            let channel: EmbeddedChannel
            let handler: ConnectionHandler

            var isOpen: Bool { channel.isActive }

            func send(_ text: String) throws { _ = try channel.writeInbound(ByteBuffer(string: text)) }

            func close() { channel.close(promise: nil) }

            /// What was told since the last call.
            func text() throws -> String {
                var text = ""
                while let data = try channel.readOutbound(as: IOData.self) {
                    if case .byteBuffer(let buffer) = data { text += String(buffer: buffer) }
                }
                return text
            }

            /// The same: statuses alone.
            func statuses() throws -> [String] {
                let text = try text()
                let lines = text.split(separator: "\r\n").filter { $0.hasPrefix("HTTP/1.1 ") }
                return lines.map { String($0.dropFirst(9).prefix(3)) }
            }
        }

        private final class Forgotten: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            private let server: ProxyServer

            init(server: ProxyServer) { self.server = server }

            func channelInactive(context: ChannelHandlerContext) { server.forget(context.channel) }
        }

        private static let health = "GET /.reprise/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"

        @Test func `a connection without a request is closed when its time is up, and forgets before`() throws {
            let server = try Server { $0.idleTimeout = 60 }
            let client = try server.connect()
            try client.send(Self.health)
            #expect(try client.statuses() == ["200"])
            server.wait(seconds: 4)
            #expect(client.handler.writer?.last != nil)
            server.wait(seconds: 2)
            #expect(client.handler.writer?.last == nil && client.isOpen)
            server.wait(seconds: 53)
            #expect(client.isOpen)
            server.wait(seconds: 2)
            #expect(!client.isOpen && server.server.limits.all == [.idleTimeout: 1])
            #expect(server.server.connectionCount == 0)
        }

        @Test func `the rest of a request is waited for as long as it may take, and each has that time`() throws {
            let server = try Server { $0.requestTimeout = 10 }
            let client = try server.connect()
            for _ in 0..<3 {
                try client.send(String(Self.health.prefix(10)))
                server.wait(seconds: 9)
                try client.send(String(Self.health.dropFirst(10)))
                #expect(try client.statuses() == ["200"])
            }
            try client.send("GET")
            server.wait(seconds: 9)
            try client.send(" ")
            server.wait(seconds: 2)
            #expect(try client.statuses() == ["408"])
            #expect(server.server.limits.all == [.requestTimeout: 1])
        }

        @Test func `where all are served a further one is told so, or has the place that is free when it asks`() throws
        {
            let server = try Server { $0.connectionLimit = 2 }
            let busy = [try server.connect(isBusy: true), try server.connect(isBusy: true)]
            let third = try server.connect()
            try third.send(Self.health)
            #expect(try third.statuses() == ["503"])
            let fourth = try server.connect()
            busy[0].close()
            try fourth.send(Self.health)
            #expect(try fourth.statuses() == ["200"])
            #expect(server.server.connectionCount == 2 && server.server.limits.all == [.connections: 1])
            let silent = try server.connect(isBusy: true)
            server.loop.run()
            #expect(!fourth.isOpen && silent.isOpen, "who waits gives way")
            #expect(server.server.limits.all == [.connections: 1, .displaced: 1])
        }

        @Test func `who gets a request before giving way keeps the place, one more than there are`() throws {
            let server = try Server { $0.connectionLimit = 1 }
            let first = try server.connect()
            // Its turn on its own loop comes after the other was admitted.
            let admission = server.server.admit(EmbeddedChannel(), SharedStanding(.answering))
            first.handler.standing.value = .answering
            server.loop.run()
            #expect(admission == .admitted && first.isOpen)
            #expect(server.server.connectionCount == 2 && server.server.limits.all == [:])
        }

        @Test func `a client that takes nothing gives its place to another whose request is to be forwarded`() throws {
            let requests = ForwardedRequests(limit: 1)
            func client(_ standing: ConnectionStanding) -> ProxyServer.Client {
                ProxyServer.Client(channel: EmbeddedChannel(), standing: SharedStanding(standing))
            }
            let stalled = client(.stalled(since: 5))
            let first = try #require(requests.begin(for: stalled, now: 5))
            #expect(first.ousted == nil)
            #expect(requests.begin(for: client(.answering), now: 6 + ConnectionLimit.stallLimit - 2) == nil)
            let second = try #require(requests.begin(for: client(.answering), now: 5 + ConnectionLimit.stallLimit))
            #expect(second.ousted?.client.standing === stalled.standing && second.ousted?.seen == .stalled(since: 5))
            #expect(requests.count == 1)
            withExtendedLifetime((first.place, second.place)) {}
            #expect(requests.count == 1 && requests.begin(for: client(.answering), now: .max) == nil)
        }

        @Test(arguments: ["Expect: x", "Content-Length: 70000"])
        func `a HEAD that is refused gets no body, RFC 9110 §9.3.2`(field: String) throws {
            let server = try Server { _ in }
            let client = try server.connect()
            try client.send("HEAD /a HTTP/1.1\r\nHost: 127.0.0.1\r\n\(field)\r\n\r\n")
            let text = try client.text()
            #expect(text.hasPrefix("HTTP/1.1 41") && text.hasSuffix("\r\n\r\n") && text.contains("Content-Length: "))
        }

        @Test func `one that gets a place late has the time of the others`() throws {
            let server = try Server { $0.connectionLimit = 1 }
            let busy = try server.connect(isBusy: true)
            let late = try server.connect()
            try late.send("GET /a HTTP/1.1\r\n")
            server.wait(seconds: 1)
            busy.close()
            try late.send("Host: 127.0.0.1\r\nContent-Length: 3\r\n\r\n")
            server.wait(seconds: 10)
            #expect(try late.statuses().isEmpty)
            try late.send("abc")
            #expect(try late.statuses() == ["403"], "it has no token")
        }

        @Test func `a further one that asks for nothing is told after 2 s`() throws {
            let server = try Server { $0.connectionLimit = 1 }
            let busy = try server.connect(isBusy: true)
            let silent = try server.connect()
            server.wait(seconds: 1)
            #expect(try silent.statuses().isEmpty)
            server.wait(seconds: 2)
            #expect(try silent.statuses() == ["503"])
            #expect(busy.isOpen && server.server.limits.all == [.connections: 1])
        }

        @Test func `as many are told so as there is room for, others are closed at once`() throws {
            let server = try Server { $0.connectionLimit = 1 }
            let busy = try server.connect(isBusy: true)
            for _ in 0..<3 {
                let refused = try (0..<6).map { _ in try server.connect() }
                #expect(refused.map(\.isOpen) == [true, true, true, true, false, false])
                for client in refused { client.close() }
            }
            #expect(busy.isOpen && server.server.limits.all == [.connections: 6])
        }

        @Test func `who was told gives way to others that are to be told, the first first`() throws {
            let server = try Server { $0.connectionLimit = 1 }.server
            func admit() throws -> (channel: EmbeddedChannel, admission: ProxyServer.Admission) {
                // As a connection's own handler, it tells the server when it ends.
                let channel = EmbeddedChannel(handler: Forgotten(server: server))
                channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
                return (channel, server.admit(channel, SharedStanding(.answering)))
            }
            #expect(try admit().admission == .admitted)
            let refused = try (0..<4).map { _ in try admit() }
            #expect(refused.allSatisfy { $0.admission == .refused })
            #expect(try admit().admission == .dropped, "all of them are still to be told")
            for (channel, _) in refused.prefix(2) { server.told(channel) }
            #expect(try admit().admission == .refused && !refused[0].channel.isActive && refused[1].channel.isActive)
            #expect(try admit().admission == .refused && !refused[1].channel.isActive)
            #expect(try admit().admission == .dropped && refused[2].channel.isActive)
        }

        @Test(arguments: [(1024, 20_000, 1024), (1024, 256, 128), (1024, 1, 1), (10, 256, 10)])
        func `places are as many as wanted, and half of the descriptors at most`(
            wanted: Int, descriptors: Int, places: Int
        ) {
            #expect(ConnectionLimit.count(wanted: wanted, descriptors: descriptors) == places)
        }

        @Test(arguments: [(1024, 20_000, 1024), (1024, 256, 32), (1024, 1, 1), (10, 256, 10)])
        func `so many requests are forwarded as wanted, and an eighth of the descriptors at most`(
            wanted: Int, descriptors: Int, count: Int
        ) {
            #expect(ConnectionLimit.originCount(wanted: wanted, descriptors: descriptors) == count)
        }

        @Test func `drained, a connection ends with its answer`() throws {
            let server = try Server { _ in }
            let idle = try server.connect()
            let busy = try server.connect()
            try busy.send(Self.health + "GET")
            server.server.isDraining.store(true, ordering: .relaxed)
            #expect(try busy.statuses() == ["200"])
            try busy.send(String(Self.health.dropFirst(3)))
            // Health says that balancers are to send clients elsewhere.
            #expect(try busy.statuses() == ["503"])
            #expect(!busy.isOpen && idle.isOpen)
            idle.handler.drain()
            #expect(!idle.isOpen)
        }
    }
#endif
