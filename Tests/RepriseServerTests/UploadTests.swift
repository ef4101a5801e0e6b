#if Server
    import NIOCore
    import NIOPosix
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseProxy
    import RepriseTesting
    import ReprisePlatform
    import Testing

    /// Requests with long bodies, which are passed on as they come.
    @Suite struct UploadTests {
        private static let piece = String(repeating: "0123456789abcdef", count: 4096)

        private func chunk(_ text: String) -> String { "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n" }

        @Test(arguments: [1 << 20, (1 << 20) + 1, 5_000_000], [false, true])
        func `a body of any length reaches the origin whole, and the connection goes on, RFC 9110 §7.6`(
            length: Int, isChunked: Bool
        ) async throws {
            try await ProxyFixture.run(edge: "edge") { fixture in
                fixture.put("/a") { $0.statuses["PUT"] = 201 }
                let body = (0..<length).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) & 0x7F }
                let text = String(decoding: body, as: UTF8.self)
                let client = try await fixture.connect()
                if isChunked {
                    try await client.send(RawClient.head("/a", method: "PUT", [("Transfer-Encoding", "chunked")]))
                    for start in stride(from: 0, to: length, by: 70_000) {
                        try await client.send(
                            chunk(String(decoding: body[start..<min(start + 70_000, length)], as: UTF8.self)))
                    }
                    try await client.send("0\r\n\r\n")
                } else {
                    try await client.send(RawClient.head("/a", method: "PUT", [("Content-Length", "\(length)")]) + text)
                }
                #expect(try await client.readAnswer().status == 201)
                let request = try #require(fixture.origin.log.last)
                #expect(request.method == "PUT" && request.body == body)
                let isFramedByLength = request.fields["Content-Length"] == "\(length)"
                #expect(isFramedByLength == (!isChunked || length <= 1 << 20))
                try await client.request("/.reprise/health")
                #expect(try await client.readAnswer().status == 200)
                #expect(fixture.origin.requestCount == 1)
            }
        }

        @Test func `the user's own server passes long bodies on as well`() async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/a") { $0.statuses["POST"] = 200 }
                let text = String(repeating: UploadTests.piece, count: 40)
                let answer = try await fixture.send("POST", fixture.target("/a"), body: text)
                #expect(answer.status == 200 && fixture.origin.log.last?.body.count == text.utf8.count)
            }
        }

        @Test func `requests behind a long body wait for it`() async throws {
            try await ProxyFixture.run(edge: "edge") { fixture in
                fixture.put("/a") { $0.statuses["PUT"] = 201 }
                fixture.put("/b", length: 10)
                let text = String(repeating: UploadTests.piece, count: 20)
                let client = try await fixture.connect()
                let put = RawClient.head("/a", method: "PUT", [("Content-Length", "\(text.utf8.count)")]) + text
                try await client.send(RawClient.head("/b") + put + RawClient.head("/b") + put + RawClient.head("/b"))
                var statuses: [Int] = []
                for _ in 0..<5 { statuses.append(try await client.readAnswer().status) }
                #expect(statuses == [200, 201, 200, 201, 200])
            }
        }

        @Test func `a slow upload takes as long as it takes`() async throws {
            try await ProxyFixture.run(
                cache: { $0.originTimeout = 1 }, proxy: { $0.requestTimeout = 2 }, edge: "edge"
            ) { fixture in
                fixture.put("/a") { $0.statuses["PUT"] = 201 }
                let text = String(repeating: UploadTests.piece, count: 20)
                let client = try await fixture.connect()
                let head = RawClient.head("/a", method: "PUT", [("Content-Length", "\(text.utf8.count)")])
                // Four seconds.
                try await client.send(
                    [head] + Array(repeating: UploadTests.piece, count: 20), every: .milliseconds(200))
                #expect(try await client.readAnswer().status == 201)
            }
        }

        @Test func `a client that sends a byte now and then is told 408 as well`() async throws {
            try await ProxyFixture.run(proxy: { $0.requestTimeout = 1 }, edge: "edge") { fixture in
                fixture.put("/a") { $0.statuses["PUT"] = 201 }
                let client = try await fixture.connect()
                let head = RawClient.head("/a", method: "PUT", [("Content-Length", "2000000")])
                let sending = Task {
                    try await client.send([head] + Array(repeating: "x", count: 100), every: .milliseconds(100))
                }
                #expect(try await client.readAnswer().status == 408)
                await client.close()
                _ = await sending.result
            }
        }

        @Test func `a client that does not send on is told 408, and the origin does not take the beginning for all`()
            async throws
        {
            try await ProxyFixture.run(proxy: { $0.requestTimeout = 1 }, edge: "edge") { fixture in
                fixture.put("/a") { $0.statuses["PUT"] = 201 }
                for framing in [("Content-Length", "2000000"), ("Transfer-Encoding", "chunked")] {
                    let client = try await fixture.connect()
                    let piece = framing.1 == "chunked" ? chunk(UploadTests.piece) : UploadTests.piece
                    let head = RawClient.head("/a", method: "PUT", [framing])
                    try await client.send(head + String(repeating: piece, count: 20))
                    #expect(try await client.readAnswer().status == 408)
                    try await client.waitUntilClosed()
                }
                await fixture.waitUntilQuiet()
                #expect(fixture.origin.requestCount == 0)
                #expect(fixture.proxy.limitsMet == [.requestTimeout: 2])
            }
        }

        @Test func `a body that breaks off or cannot be understood is not passed on as whole`() async throws {
            try await ProxyFixture.run(edge: "edge") { fixture in
                fixture.put("/a") { $0.statuses["PUT"] = 201 }
                let bad = try await fixture.connect()
                try await bad.send(RawClient.head("/a", method: "PUT", [("Transfer-Encoding", "chunked")]))
                for _ in 0..<20 { try await bad.send(chunk(UploadTests.piece)) }
                try await bad.send("nonsense\r\n")
                #expect(try await bad.readAnswer().status == 400)
                try await bad.waitUntilClosed()
                let gone = try await fixture.connect()
                try await gone.send(RawClient.head("/a", method: "PUT", [("Content-Length", "2000000")]))
                for _ in 0..<20 { try await gone.send(UploadTests.piece) }
                await gone.close()
                let proxy = fixture.proxy
                #expect(await eventually { proxy.connectionCount == 0 })
                #expect(fixture.origin.requestCount == 0)
                #expect(try await fixture.send("PUT", "/a", body: "x").status == 201)
            }
        }

        @Test func `an origin that answers before it has all is heard, and the connection ends`() async throws {
            let early = try await CannedOrigin(
                Array("HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\n\r\nbig\n".utf8))
            try await ProxyFixture.run(edge: "edge", origin: OriginURL(early.base)) { fixture in
                let client = try await fixture.connect()
                try await client.send(RawClient.head("/a", method: "PUT", [("Content-Length", "2000000")]))
                // The answer may be there before.
                try? await client.send(UploadTests.piece)
                let answer = try await client.readAnswer()
                #expect(answer.status == 413 && answer.text == "big\n" && answer.fields["Connection"] == "close")
                try await client.waitUntilClosed()
            }
            await early.stop()
        }

        @Test(arguments: [0, 4, 20_000_000])
        func `a client that reads only when it has sent all gets its answer`(length: Int) async throws {
            let head = "HTTP/1.1 413 Content Too Large\r\nContent-Length: \(length)\r\n\r\n"
            let early = try await CannedOrigin(Array(head.utf8) + [UInt8](repeating: 0x78, count: length))
            let origin = length == 0 ? "http://127.0.0.1:1" : early.base
            try await ProxyFixture.run(edge: "edge", origin: OriginURL(origin)) { fixture in
                let client = try await RawClient.connect(port: fixture.proxy.port, sendsOn: true)
                try await client.send(RawClient.head("/a", method: "PUT", [("Content-Length", "16777216")]))
                try await client.setReading(false)
                for _ in 0..<256 { try await client.send(UploadTests.piece) }
                try await client.setReading(true)
                let answer = try await client.readAnswer()
                #expect(answer.status == (length == 0 ? 502 : 413))
                #expect(length == 0 || answer.body.count == length)
                await client.close()
            }
            await early.stop()
        }

        @Test func `an origin that answers all before it has all is not left waiting for the rest`() async throws {
            let early = try await CannedOrigin(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone".utf8))
            try await ProxyFixture.run(edge: "edge", origin: OriginURL(early.base)) { fixture in
                for _ in 0..<4 {
                    let client = try await fixture.connect()
                    try await client.send(RawClient.head("/a", method: "PUT", [("Content-Length", "100000000")]))
                    try? await client.send(UploadTests.piece)
                    let answer = try await client.readAnswer()
                    #expect(answer.status == 200 && answer.text == "done")
                    await client.close()
                }
                #expect(await eventually { early.openCount == 0 })
            }
            await early.stop()
        }

        @Test(arguments: ["HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\n\r\nbig\n", ""])
        func `nothing is left of a body whose exchange is over`(answer: String) async throws {
            let origin = try await CannedOrigin(Array(answer.utf8))
            let client = AsyncHTTPOriginClient()
            let trace: Trace
            do {
                let upload = OriginUpload(length: 100_000_000) {}
                trace = Trace(upload)
                let url = try #require(OriginURL(origin.base + "/a"))
                let exchange = ExchangeRecorder(
                    client, OriginRequest(url: url, fields: [:], method: "PUT", body: .upload(upload)))
                // More than sockets take.
                for _ in 0..<512 { upload.append(UploadTests.piece.utf8) }
                #expect(await eventually { upload.hasBegun })
                if !answer.isEmpty { try await exchange.takeAll() }
                exchange.cancel()
            }
            #expect(await eventually { origin.openCount == 0 })
            #expect(await eventually { trace.upload == nil })
            try await client.shutdown()
            await origin.stop()
        }

        @Test func `a change whose origin vanished goes to no other`() async throws {
            let vanishing = try await CannedOrigin([], lost: 1, thenGone: true)
            let other = try await CannedOrigin(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
            let mirrors = [OriginURL(other.base)].compactMap { $0 }
            try await ProxyFixture.run(edge: "edge", origin: OriginURL(vanishing.base), mirrors: mirrors) { fixture in
                let answer = try await fixture.send("PUT", "/a", body: "x")
                #expect(answer.status == 502 && other.requestCount == 0, "it may have had it")
            }
            await other.stop()
        }

        @Test(arguments: [0, 200]) func `an origin that begins to answer early gets the rest all the same`(
            pause: Int64
        ) async throws {
            let count = 20
            let early = try await EarlyOrigin(bytes: count * UploadTests.piece.utf8.count)
            try await ProxyFixture.run(
                cache: { $0.originTimeout = 1 }, edge: "edge", origin: OriginURL(early.base)
            ) { fixture in
                let client = try await fixture.connect()
                let length = "\(count * UploadTests.piece.utf8.count)"
                try await client.send(RawClient.head("/a", method: "PUT", [("Content-Length", length)]))
                try await client.send(UploadTests.piece)
                #expect(try await client.readHead().status == 200)
                let rest = Array(repeating: UploadTests.piece, count: count - 1)
                try await client.send(rest, every: .milliseconds(pause))
                #expect(try await client.takeBytes(atLeast: 4) == Array("done".utf8))
                try await client.waitUntilClosed()
            }
            await early.stop()
        }

        @Test func `an origin that cannot be reached is 502 while the client still sends`() async throws {
            let dead = OriginURL("http://127.0.0.1:1")
            try await ProxyFixture.run(edge: "edge", origin: dead) { fixture in
                let client = try await fixture.connect()
                try await client.send(RawClient.head("/a", method: "PUT", [("Content-Length", "2000000")]))
                // The answer may be there before.
                try? await client.send(UploadTests.piece)
                #expect(try await client.readAnswer().status == 502)
                try await client.waitUntilClosed()
            }
        }

        @Test func `where the first of several origins cannot be reached a long body goes to the next, whole`()
            async throws
        {
            let dead = OriginURL("http://127.0.0.1:1")
            let origin = ScriptedOrigin()
            let server = try await LoopbackOrigin.start(origin)
            origin.put(.init(PositionCodedContent(length: 10)), at: "/a")
            origin.change("/a") { $0.behaviour.statuses["PUT"] = 201 }
            let mirrors = [OriginURL(server.url(""))].compactMap { $0 }
            try await ProxyFixture.run(edge: "edge", origin: dead, mirrors: mirrors) { fixture in
                let text = String(repeating: UploadTests.piece, count: 20)
                let answer = try await fixture.send("PUT", "/a", body: text)
                #expect(answer.status == 201)
                #expect(origin.log.last?.body.count == text.utf8.count)
            }
            await server.stop()
        }

        @Test func `what an origin does not take is not read, so that memory is bounded`() async throws {
            let origin = try await DeafOrigin()
            try await ProxyFixture.run(cache: { $0.originTimeout = 1 }, edge: "edge", origin: OriginURL(origin.base)) {
                fixture in
                let client = try await fixture.connect()
                try await client.send(RawClient.head("/a", method: "PUT", [("Content-Length", "1000000000")]))
                let sent = Lock(0)
                let sending = Task {
                    for _ in 0..<4096 {
                        try await client.send(UploadTests.piece)
                        sent.withLock { $0 += 1 }
                    }
                }
                // Sockets take what they take; then the origin has been silent for too long.
                #expect(try await client.readAnswer().status == 504)
                let count = sent.withLock { $0 }
                #expect(count < 512, "\(count * 64) KiB were taken")
                await client.close()
                _ = await sending.result
            }
            await origin.stop()
        }

        /// Sends a head at the first byte of a request, and the body when it has had so many.
        private final class EarlyOrigin: Sendable {
            private let channel: any Channel

            init(bytes: Int) async throws {
                channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .childChannelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandler(Answerer(bytes: bytes))
                        }
                    }
                    .bind(host: "127.0.0.1", port: 0).get()
            }

            var base: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

            func stop() async { try? await channel.close() }

            private final class Answerer: ChannelInboundHandler {
                typealias InboundIn = ByteBuffer
                typealias OutboundOut = ByteBuffer

                private let wanted: Int
                private var received = 0

                init(bytes: Int) { wanted = bytes }

                func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                    let isFirst = received == 0
                    received += unwrapInboundIn(data).readableBytes
                    var text = isFirst ? "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n" : ""
                    if received > wanted { text += "done" }
                    if !text.isEmpty {
                        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
                    }
                }
            }
        }

        /// Tells whether a body is still held by something.
        private final class Trace: Sendable {
            weak let upload: OriginUpload?

            init(_ upload: OriginUpload) { self.upload = upload }
        }

        /// Takes connections and reads nothing.
        private final class DeafOrigin: Sendable {
            private let channel: any Channel

            init() async throws {
                channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .childChannelOption(.autoRead, value: false)
                    .bind(host: "127.0.0.1", port: 0).get()
            }

            var base: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

            func stop() async { try? await channel.close() }
        }
    }
#endif
