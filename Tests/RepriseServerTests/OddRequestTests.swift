#if Server
    import RepriseHTTP
    import RepriseProxy
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// Requests that are odd, and either legal or refused, over a raw socket.
    @Suite struct OddRequestTests {
        private static let hidden = RawClient.head("/.reprise/health")

        // TARGET stands for a resource's, PORT for the proxy's port.
        private func send(_ text: String, to fixture: ProxyFixture, _ client: RawClient) async throws {
            try await client.send(
                text.replacing("TARGET", with: fixture.target("/a.mp3")).replacing(
                    "PORT", with: "\(fixture.proxy.port)"))
        }

        @Test(arguments: [
            ("two lengths", "Content-Length: 0\r\nContent-Length: 42", 400),
            ("a list of lengths", "Content-Length: 0, 42", 400),
            ("a length and chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked", 400),
            ("a signed length", "Content-Length: +5", 400),
            ("an unknown coding", "Transfer-Encoding: gzip, chunked", 501),
            ("chunks inside of a coding", "Transfer-Encoding: chunked, gzip", 400),
            ("a space before the colon", "Content-Length : 5", 400), ("a folded field", "X: a\r\n b", 400),
            ("a bare LF", "X: a\nContent-Length: 5", 400), ("a bare CR", "X: a\rContent-Length: 5", 400),
            ("a NUL", "X: a\0b", 400), ("a control character", "X: a\u{1}b", 400),
            ("a second Host", "Host: 127.0.0.1", 400),
            ("an unknown expectation", "Expect: 200-ok", 417),
        ])
        func `a field that could hide a request is refused, the connection ends and nothing behind it is answered`(
            name: String, field: String, status: Int
        ) async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/a.mp3")
                let client = try await fixture.connect()
                try await send(
                    "GET TARGET HTTP/1.1\r\nHost: 127.0.0.1\r\n\(field)\r\n\r\n\(Self.hidden)", to: fixture, client)
                let answer = try await client.readAnswer()
                #expect(answer.status == status, "\(name)")
                #expect(answer.fields["Connection"] == "close")
                try await client.waitUntilClosed()
                await #expect(throws: RawClientError.self) { try await client.readHead() }
                #expect(fixture.origin.requestCount == 0)
            }
        }

        @Test(arguments: [
            ("a bare LF", "1\na\r\n0\r\n\r\n"), ("an extension", "1;x=\"y\"\r\na\r\n0\r\n\r\n"),
            ("an extension of the last chunk", "1\r\na\r\n0;x\r\n\r\n"),
            ("too long a chunk", "1\r\nab\r\n0\r\n\r\n"), ("no number", "z\r\n\r\n"),
            ("a trailer that is none", "0\r\nx\r\n\r\n"),
        ])
        func `a chunked body that is not of its form is refused and its request not served`(
            name: String, body: String
        ) async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/a.mp3")
                let client = try await fixture.connect()
                try await send(
                    "GET TARGET HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n\(body)\(Self.hidden)",
                    to: fixture, client)
                #expect(try await client.readAnswer().status == 400, "\(name)")
                try await client.waitUntilClosed()
                await #expect(throws: RawClientError.self) { try await client.readHead() }
                #expect(fixture.origin.requestCount == 0)
            }
        }

        @Test(arguments: [
            "GET TARGET HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 31\r\n\r\nGET /hidden HTTP/1.1\r\nHost: h\r\n\r\n",
            "HEAD TARGET HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\nabcde",
            "POST TARGET HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\nabcde",
            "GET TARGET HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\nX: y\r\n\r\n",
            "OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "GET http://127.0.0.1:PORTTARGET HTTP/1.1\r\nHost: evil.example\r\n\r\n",
            "GET HTTP://LOCALHOSTTARGET HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "GET TARGET HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                + "HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
            "GET TARGET HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\n\r\n",
            "\r\nGET TARGET HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "PROPFIND TARGET HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "GET ftp://127.0.0.1/x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "GET * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "GET http://evil.example/x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "GET x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        ])
        func `what is odd and no doubt of framing is answered, and the next request found behind it`(text: String)
            async throws
        {
            let isHead = text.hasPrefix("HEAD")
            let status: Int =
                switch text.prefix(while: { $0 != " " }) {
                case "OPTIONS": 204
                default:
                    if text.contains("ftp:") || text.contains("http://evil") {
                        403
                    } else if text.hasPrefix("GET *") || text.hasPrefix("GET x") {
                        400
                    } else {
                        200
                    }
                }
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                let client = try await fixture.connect()
                try await send(text + Self.hidden, to: fixture, client)
                let answer = try await client.readAnswer(isBodyless: isHead)
                #expect(answer.status == status)
                if status == 200, !isHead { answer.expect(ByteRange(0, 100_000), of: content, status: 200) }
                #expect(try await client.readAnswer().text == "ok\n")
            }
        }

        @Test func `CONNECT is refused and the connection ends`() async throws {
            try await ProxyFixture.run { fixture in
                let client = try await fixture.connect()
                try await client.send("CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n" + Self.hidden)
                let answer = try await client.readAnswer()
                #expect(answer.status == 405)
                #expect(answer.fields["Allow"] == "GET, HEAD, OPTIONS, POST, PUT, DELETE, PATCH")
                try await client.waitUntilClosed()
                await #expect(throws: RawClientError.self) { try await client.readHead() }
            }
        }

        @Test(arguments: [("Content-Length", "3", "abc"), ("Transfer-Encoding", "chunked", "3\r\nabc\r\n0\r\n\r\n")])
        func `a client that waits with its body is told to go on, after the answers before it`(
            name: String, framing: String, body: String
        ) async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                let client = try await fixture.connect()
                let first = RawClient.head(fixture.target("/a.mp3"), [("Range", "bytes=0-9")])
                let second = RawClient.head(
                    fixture.target("/a.mp3"), [("Range", "bytes=5-9"), ("Expect", "100-Continue"), (name, framing)])
                try await client.send(first + second)
                try await client.readAnswer().expect(ByteRange(0, 10), of: content, status: 206)
                let head = try await client.readHead()
                #expect(head.status == 100)
                #expect(head.fields.lines.isEmpty)
                try await client.send(body)
                try await client.readAnswer().expect(ByteRange(5, 10), of: content, status: 206)
                try await client.send(Self.hidden)
                #expect(try await client.readAnswer().status == 200)
            }
        }

        @Test func `a client that waits with a body nobody wants is answered at once and never told to send it`()
            async throws
        {
            try await ProxyFixture.run { fixture in
                let client = try await fixture.connect()
                try await client.request(
                    fixture.target("/a.mp3"), method: "TRACE", [("Expect", "100-continue"), ("Content-Length", "9")])
                let answer = try await client.readAnswer()
                #expect(answer.status == 405)
                #expect(answer.fields["Connection"] == "close")
                try await client.waitUntilClosed()
            }
        }

        @Test(arguments: ["Content-Length: 1000000", "Transfer-Encoding: chunked"])
        func `a body larger than what is read for nothing is refused, and the client gets to read so`(framing: String)
            async throws
        {
            try await ProxyFixture.run { fixture in
                fixture.put("/a.mp3")
                let client = try await fixture.connect()
                let head = "GET \(fixture.target("/a.mp3")) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(framing)\r\n\r\n"
                let body = String(repeating: "x", count: 100_000)
                try await client.send(head + (framing.hasPrefix("C") ? "" : "186A0\r\n") + body)
                #expect(try await client.readAnswer().status == 413)
                try await client.waitUntilClosed()
                #expect(fixture.proxy.limitsMet == [.bodyLimit: 1])
                #expect(fixture.origin.requestCount == 0)
            }
        }

        @Test func `a target longer than a head may be is 414`() async throws {
            try await ProxyFixture.run { fixture in
                let client = try await fixture.connect()
                try await client.send("GET /" + String(repeating: "a", count: 40_000))
                #expect(try await client.readAnswer().status == 414)
                try await client.waitUntilClosed()
            }
        }
    }
#endif
