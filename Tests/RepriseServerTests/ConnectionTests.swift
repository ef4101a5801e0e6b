#if Server
    import Foundation
    import RepriseCore
    import RepriseHTTP
    import RepriseProxy
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// What a connection bears: many requests, too many, slow clients, clients that leave.
    @Suite struct ConnectionTests {
        @Test func `one connection serves request after request`() async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                let client = try await fixture.connect()
                for start in stride(from: Int64(0), to: 90_000, by: 10_000) {
                    try await client.request(fixture.target("/a.mp3"), [("Range", "bytes=\(start)-\(start + 9_999)")])
                    let answer = try await client.readAnswer()
                    answer.expect(ByteRange(start, start + 10_000), of: content, status: 206)
                }
                #expect(fixture.proxy.connectionCount == 1)
            }
        }

        @Test(arguments: [5, 40])
        func `requests sent ahead are answered in order`(count: Int) async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                let client = try await fixture.connect()
                let starts = (0..<count).map { Int64($0) * 1000 }
                let heads = starts.map {
                    RawClient.head(fixture.target("/a.mp3"), [("Range", "bytes=\($0)-\($0 + 499)")])
                }
                try await client.send(heads.joined())
                for start in starts {
                    try await client.readAnswer().expect(ByteRange(start, start + 500), of: content, status: 206)
                }
            }
        }

        @Test(arguments: ["GET", "HEAD"])
        func `after any answer the connection is at the next one's first byte`(method: String) async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                fixture.put("/gone.mp3") { $0.status = 404 }
                let client = try await fixture.connect()
                for path in ["/gone.mp3", "/a.mp3"] {
                    let conditions = [
                        [], [("If-None-Match", "*")], [("If-Match", "\"x\"")], [("Range", "bytes=900000-")],
                    ]
                    for fields in conditions {
                        try await client.request(fixture.target(path), method: method, fields)
                        _ = try await client.readAnswer(isBodyless: method == "HEAD")
                        try await client.request(fixture.target("/a.mp3"), [("Range", "bytes=3-5")])
                        try await client.readAnswer().expect(ByteRange(3, 6), of: content, status: 206)
                    }
                }
                for target in ["/wrong/http/h/", "/secret/nonsense", "/.reprise/health"] {
                    try await client.request(target, method: method)
                    _ = try await client.readAnswer(isBodyless: method == "HEAD")
                }
                try await client.request(fixture.target("/a.mp3"), [("Range", "bytes=3-5")])
                try await client.readAnswer().expect(ByteRange(3, 6), of: content, status: 206)
            }
        }

        @Test(arguments: ["close", "keep-alive", ""])
        func `HTTP/1.0 is understood and never sent chunks`(connection: String) async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                fixture.put("/radio.mp3") {
                    $0.framing = .chunked
                    $0.ranges = .ignored
                }
                let line = connection.isEmpty ? "" : "Connection: \(connection)\r\n"
                for path in ["/a.mp3", "/radio.mp3"] {
                    let client = try await fixture.connect()
                    try await client.send("GET \(fixture.target(path)) HTTP/1.0\r\nHost: 127.0.0.1\r\n\(line)\r\n")
                    let answer = try await client.readAnswer()
                    #expect(answer.status == 200)
                    #expect(answer.fields["Transfer-Encoding"] == nil)
                    #expect(answer.body.count == 100_000)
                    #expect(content.firstMismatch(answer.body, at: 0) == nil)
                    // The radio's length may be known by the time its head goes out.
                    if connection == "keep-alive", answer.fields.contains("Content-Length") {
                        #expect(answer.fields["Connection"]?.lowercased() == "keep-alive")
                    } else {
                        try await client.waitUntilClosed()
                    }
                }
            }
        }

        @Test(arguments: [true, false])
        func `a client of HTTP 1.0 does not take a part for the whole, RFC 9112 §8`(isBroken: Bool) async throws {
            try await ProxyFixture.run(cache: { $0.originTimeout = 1 }, edge: "edge") { fixture in
                fixture.put("/a") {
                    $0.framing = .chunked
                    if isBroken { $0.body = .stall(at: 50_000) }
                }
                let client = Process()
                client.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
                let target = "http://127.0.0.1:\(fixture.proxy.port)/a"
                client.arguments = ["--http1.0", "-sS", "-o", "/dev/null", "-X", "POST", "-d", "", target]
                let status = try await withCheckedThrowingContinuation { done in
                    client.terminationHandler = { done.resume(returning: $0.terminationStatus) }
                    do { try client.run() } catch { done.resume(throwing: error) }
                }
                // 56: the connection was reset.
                #expect(status == (isBroken ? 56 : 0))
            }
        }

        @Test func `Connection close is heeded, and nothing behind it is answered`() async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/a.mp3")
                let client = try await fixture.connect()
                let head = RawClient.head(fixture.target("/a.mp3"), [("Connection", "close")])
                try await client.send(head + RawClient.head("/.reprise/health"))
                let answer = try await client.readAnswer()
                #expect(answer.fields["Connection"] == "close")
                try await client.waitUntilClosed()
                await #expect(throws: RawClientError.self) { try await client.readHead() }
            }
        }

        @Test func `the head goes out before a byte of the body is there`() async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/a.mp3") { $0.body = .stall(at: 0) }
                let client = try await fixture.connect()
                try await client.request(fixture.target("/a.mp3"))
                let head = try await client.readHead()
                #expect(head.status == 200)
                #expect(head.fields["Content-Length"] == "100000")
            }
        }

        @Test func `a head that is too large is refused and the connection closed`() async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/a.mp3")
                for size in [40_000, 200_000] {
                    let client = try await fixture.connect()
                    try? await client.request(
                        fixture.target("/a.mp3"), [("X-Large", String(repeating: "x", count: size))])
                    let answer = try await client.readAnswer()
                    #expect(answer.status == 431)
                    try await client.waitUntilClosed()
                }
                #expect(fixture.proxy.limitsMet == [.headLimit: 2])
                #expect(fixture.origin.requestCount == 0)
            }
        }

        @Test func `HEAD of an unknown length sends a head and not one byte more`() async throws {
            try await ProxyFixture.run { fixture in
                _ = fixture.put("/a.mp3") {
                    $0.framing = .chunked
                    $0.ranges = .ignored
                }
                let client = try await fixture.connect()
                let target = fixture.target("/a.mp3")
                let head = RawClient.head(target, method: "HEAD")
                try await client.send(head + RawClient.head("/.reprise/health"))
                #expect(try await client.readAnswer(isBodyless: true).status == 200)
                #expect(try await client.readAnswer().status == 200)
            }
        }

        @Test func `nothing behind a refused head is answered, and what stood before it is`() async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3") { $0.firstByteDelay = 50_000_000 }
                let client = try await fixture.connect()
                let padding = String(repeating: "x", count: 40_000)
                let large = RawClient.head(fixture.target("/a.mp3"), [("X-Large", padding)])
                let good = RawClient.head(fixture.target("/a.mp3"))
                try await client.send(good + large + RawClient.head("/.reprise/health"))
                try await client.readAnswer().expect(ByteRange(0, 100_000), of: content, status: 200)
                let refusal = try await client.readAnswer()
                #expect(refusal.status == 431)
                try await client.waitUntilClosed()
                await #expect(throws: RawClientError.self) { try await client.readHead() }
            }
        }

        @Test(arguments: [
            "\r\n\r\nnonsense\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\nHost 127.0.0.1\r\n\r\n",
            "\u{16}\u{3}\u{1}\u{2}\0",
        ])
        func `what is not HTTP is told so and the connection closed`(text: String) async throws {
            try await ProxyFixture.run { fixture in
                let client = try await fixture.connect()
                try await client.send(text)
                let answer = try await client.readAnswer()
                #expect(answer.status == 400)
                try await client.waitUntilClosed()
            }
        }

        @Test func `past the limit and all busy a connection is told 503, and a place given back is used again`()
            async throws
        {
            try await ProxyFixture.run(proxy: { $0.connectionLimit = 3 }) { fixture in
                fixture.put("/a.mp3")
                fixture.put("/slow.mp3") { $0.body = .stall(at: 0) }
                var clients: [RawClient] = []
                for _ in 0..<3 {
                    let client = try await fixture.connect()
                    try await client.request(fixture.target("/slow.mp3"))
                    #expect(try await client.readHead().status == 200)
                    clients.append(client)
                }
                let fourth = try await fixture.connect()
                try await fourth.request(fixture.target("/a.mp3"))
                #expect(try await fourth.readAnswer().status == 503)
                try await fourth.waitUntilClosed()
                let silent = try await fixture.connect()
                #expect(try await silent.readAnswer().status == 503)
                // A body that still comes does not take the answer back.
                let sending = try await fixture.connect()
                let head = RawClient.head(fixture.target("/a.mp3"), method: "PUT", [("Content-Length", "1000000")])
                try await sending.send(head + String(repeating: "x", count: 300_000))
                #expect(try await sending.readAnswer().status == 503)
                await sending.close()
                let met = fixture.proxy.limitsMet
                #expect(met[.connections] == 3 && met[.displaced] == nil)
                await clients.removeFirst().close()
                let proxy = fixture.proxy
                #expect(await eventually { proxy.connectionCount == 2 })
                #expect(try await fixture.ask("/a.mp3").status == 200)
            }
        }
    }
#endif
