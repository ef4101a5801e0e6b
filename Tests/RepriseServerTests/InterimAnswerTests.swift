#if Server
    import RepriseCore
    import RepriseHTTP
    import RepriseProxy
    import RepriseTesting
    import Testing

    /// Interim answers (RFC 9110 §15.2) go through an edge, to the client that its request was sent for.
    @Suite struct InterimAnswerTests {
        private func expectHints(_ answer: RawAnswer, _ location: SourceLocation = #_sourceLocation) {
            let link = ScriptedOrigin.earlyHints.fields["Link"]
            #expect(answer.interims.map(\.status) == [103], sourceLocation: location)
            #expect(answer.interims.first?.fields["Link"] == link, sourceLocation: location)
            #expect(answer.interims.first?.fields["Via"] == "1.1 edge", sourceLocation: location)
            #expect(answer.fields["Link"] == nil, "none of it is the answer's", sourceLocation: location)
        }

        private func put(_ fixture: ProxyFixture, maxAge: Int = 60) {
            fixture.put("/a") { behaviour in
                behaviour.earlyHints = true
                behaviour.statuses["POST"] = 201
                behaviour.extraFields = ["Cache-Control": "max-age=\(maxAge)"]
            }
        }

        @Test func `they come before a miss and a request that is passed on, and not before a hit`() async throws {
            try await ProxyFixture.run(edge: "edge") { fixture in
                put(fixture)
                let first = try await fixture.send("GET", "/a")
                expectHints(first)
                #expect(first.status == 200 && first.body.count == 100_000)
                await fixture.waitUntilQuiet()
                #expect(try await fixture.send("GET", "/a").interims.isEmpty)
                #expect(fixture.origin.requestCount == 1)
                expectHints(try await fixture.send("POST", "/a", body: "a=1"))
                expectHints(try await fixture.send("HEAD", "/a?b"))
            }
        }

        @Test func `they come before an answer that is confirmed`() async throws {
            try await ProxyFixture.run(edge: "edge") { fixture in
                put(fixture, maxAge: 0)
                _ = try await fixture.send("GET", "/a")
                await fixture.waitUntilQuiet()
                let confirmed = try await fixture.send("GET", "/a")
                expectHints(confirmed)
                #expect(confirmed.fields["Cache-Status"]?.contains("fwd-status=304") == true)
            }
        }

        @Test func `a client of HTTP 1.0 gets the answer alone`() async throws {
            try await ProxyFixture.run(edge: "edge") { fixture in
                put(fixture)
                let client = try await fixture.connect()
                try await client.send("GET /a HTTP/1.0\r\n\r\n")
                let answer = try await client.readAnswer()
                #expect(answer.status == 200 && answer.interims.isEmpty && answer.body.count == 100_000)
                await client.close()
            }
        }

        @Test(arguments: ["GET", "POST", "HEAD"])
        func `of any number the answer is told whole, and those before it in their order`(method: String) async throws {
            let much = String(repeating: "y", count: 9000)
            let interims = (0..<300).map { "HTTP/1.1 103 Early Hints\r\nX: \($0)\r\nY: \(much)\r\n\r\n" }
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n" + (method == "HEAD" ? "" : "abc")
            let origin = try await CannedOrigin(Array((interims.joined() + answer).utf8))
            let base = try #require(OriginURL(origin.base))
            try await ProxyFixture.run(edge: "edge", origin: base) { fixture in
                let answer = try await fixture.send(method, "/a")
                #expect(answer.status == 200 && answer.text == (method == "HEAD" ? "" : "abc"))
                let numbers = answer.interims.compactMap { $0.fields["X"].flatMap { Int($0) } }
                #expect(!numbers.isEmpty && numbers == numbers.sorted() && Set(numbers).count == numbers.count)
            }
            await origin.stop()
        }

        @Test func `no field of one says that it has a body`() throws {
            let base = try #require(OriginURL("http://origin.test"))
            let role = ServerRole.edge(EdgeRole(origin: base, name: "edge"))
            let fields: HTTPFields = [
                "Content-Length": "42", "Transfer-Encoding": "chunked", "Content-Type": "a/b",
                "Link": "</a>; rel=preload",
            ]
            #expect(role.interim(fields) == ["Link": "</a>; rel=preload", "Via": "1.1 edge"])
        }

        @Test func `before many origins none is told`() async throws {
            try await ProxyFixture.run { fixture in
                put(fixture)
                for method in ["GET", "HEAD", "POST"] {
                    let answer = try await fixture.ask("/a", method: method)
                    #expect(answer.interims.isEmpty && answer.status == (method == "POST" ? 201 : 200))
                }
            }
        }
    }
#endif
