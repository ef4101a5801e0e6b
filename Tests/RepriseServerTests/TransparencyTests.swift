#if Server
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseProxy
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// Before any origin: what is no media goes through as it is, but for what a browser would take for this server's own word.
    @Suite struct TransparencyTests {
        private static let siteWide = [
            "WWW-Authenticate", "Clear-Site-Data", "Service-Worker-Allowed", "Set-Cookie", "Reporting-Endpoints",
            "Content-Security-Policy-Report-Only",
        ]
        private static let ownFields = Dictionary(uniqueKeysWithValues: siteWide.map { ($0, "x") }).merging(
            ["Referrer-Policy": "unsafe-url", "Content-Security-Policy": "report-uri https://its.example"]
        ) { old, _ in old }

        private func expectGuarded(_ answer: RawAnswer) {
            #expect(answer.fields["Access-Control-Allow-Origin"] == "*")
            #expect(answer.fields["X-Content-Type-Options"] == "nosniff")
            #expect(answer.fields["Referrer-Policy"] == "no-referrer", "its URL has the token")
            #expect(answer.fields["Content-Security-Policy"] == "default-src 'none'; sandbox")
            for name in Self.siteWide { #expect(answer.fields[name] == nil, "\(name)") }
        }

        @Test(arguments: [201, 202, 203, 204, 299, 400, 401, 403, 404, 410, 418, 451, 499, 501, 599])
        func `status, fields and body of an answer are the origin's, RFC 9110 §7.7`(status: Int) async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/page") {
                    ($0.status, $0.contentType) = (status, "text/html")
                    $0.statusFields = Self.ownFields
                    $0.statusFields["X-Own"] = "1"
                    $0.statusFields["Content-Type"] = "text/html"
                }
                for method in ["GET", "HEAD"] {
                    let answer = try await fixture.send(method, fixture.target("/page"))
                    #expect(answer.status == status && answer.fields["X-Own"] == "1")
                    #expect(answer.text == (method == "HEAD" || status == 204 ? "" : "status \(status)\n"))
                    expectGuarded(answer)
                }
                let part = try await fixture.send("GET", fixture.target("/page"), [("Range", "bytes=2-3")])
                #expect(part.status == status && part.fields["Content-Range"] == nil)
                #expect(part.text == (status == 204 ? "" : "status \(status)\n"))
                #expect(await fixture.cache.entries().isEmpty)
            }
        }

        @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "PROPFIND", "REPORT"])
        func `a request that may change something reaches the origin whole, and its answer comes back`(
            method: String
        ) async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/notes") {
                    $0.statuses[method] = 303
                    $0.extraFields = Self.ownFields
                    $0.extraFields["Location"] = "/notes/7?a=b#c"
                }
                let fields = [
                    ("X-Own", "1"), ("Connection", "X-Hop"), ("X-Hop", "2"), ("Content-Type", "text/plain"),
                    ("X-Forwarded-For", "1.2.3.4"), ("Referer", "http://127.0.0.1/\(ProxyFixture.token)/x"),
                ]
                let target = fixture.target("/notes?a=1")
                let answer = try await fixture.send(method, target, fields, body: "héllo")
                #expect(answer.status == 303 && answer.text == method + "\n")
                #expect(answer.fields["Location"] == fixture.target("/notes/7?a=b#c"), "a place below this server")
                expectGuarded(answer)
                let request = try #require(fixture.origin.log.last)
                #expect(request.method == method && request.target == "/notes?a=1")
                #expect(request.body == Array("héllo".utf8) && request.fields["Content-Type"] == "text/plain")
                #expect(request.fields["X-Own"] == "1" && request.fields["X-Hop"] == nil)
                for name in ["X-Forwarded-For", "Referer", "Via"] { #expect(request.fields[name] == nil, "\(name)") }
                #expect(
                    !fixture.origin.log.contains { $0.fields.lines.contains { $0.value.contains(ProxyFixture.token) } })
                #expect(await fixture.cache.entries().isEmpty)
            }
        }

        @Test(arguments: [201, 300]) func `a place that an answer names is below this server`(status: Int) async throws
        {
            try await ProxyFixture.run { fixture in
                fixture.put("/page/x") { ($0.status, $0.statusFields["Location"]) = (status, "../a b#c") }
                let answer = try await fixture.send("GET", fixture.target("/page/x"))
                #expect(answer.status == status)
                #expect(answer.fields["Location"] == fixture.target("/a%20b#c"))
            }
        }

        @Test(arguments: [
            ("/x#f", "/T/https/a.test/x#f" as String?), ("//b.test/x", "/T/https/b.test/x"),
            ("http://b.test:8/x?y", "/T/http/b.test:8/x?y"), ("x y", "/T/https/a.test/d/x%20y"),
            ("rtsp://b.test/x", "rtsp://b.test/x"), ("", "/T/https/a.test/d/e"), ("//", nil), ("/\u{1}", nil),
            ("#f", "/T/https/a.test/d/e#f"), ("http://b.test/../x", "/T/http/b.test/x"), ("http:/x", nil),
            ("HTTPS:x", nil), ("http://b.test//../x", "/T/http/b.test/x"),
        ]) func `places of any form`(place: String, told: String?) {
            let role = ServerRole.anyOrigin(AnyOriginRole(token: "T"))
            let fields = role.relayed(
                ["Location": place], from: OriginURL("https://a.test/d/e")!, outcome: CacheStatus(forward: .method))
            #expect(fields["Location"] == told)
        }

        @Test func `what is moved is moved to where the origin knows it`() async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/a") { $0.statuses["MOVE"] = 201 }
                let (here, there) = ("http://127.0.0.1", fixture.server.url("/b?c"))
                for (place, told) in [
                    (here + fixture.target("/b?c"), there as String?), (fixture.target("/b?c"), there),
                    (here + "/elsewhere", nil), ("http://other.test/b", "http://other.test/b"),
                ] {
                    let condition = "<\(place)> ([\"1\"]) <http://other.test/c> (Not <urn:x>)"
                    let fields = [("Destination", place), ("If", condition)]
                    let answer = try await fixture.send("MOVE", fixture.target("/a"), fields)
                    let request = try #require(fixture.origin.log.last)
                    #expect(answer.status == 201 && request.fields["Destination"] == told)
                    #expect(request.fields["If"] == condition.replacing(place, with: told ?? place))
                }
            }
        }

        @Test func `an origin that cannot be reached is told as ever`() async throws {
            try await ProxyFixture.run { fixture in
                let answer = try await fixture.send("POST", "/\(ProxyFixture.token)/http/127.0.0.1:1/x", body: "a")
                #expect(answer.status == 502 && answer.text.hasPrefix("127.0.0.1 cannot be reached"))
                #expect(answer.fields["Proxy-Status"]?.hasPrefix("reprise; error=connection_refused") == true)
                let denied = try await fixture.send("POST", "/\(ProxyFixture.token)/http/169.254.169.254/x", body: "a")
                #expect(denied.status == 403, "\(denied.text)")
            }
        }

        @Test func `without the token nothing is passed on, nor its body read`() async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/notes") { $0.statuses["POST"] = 200 }
                let foreign = fixture.target("/notes").replacing(ProxyFixture.token, with: "guess")
                #expect(try await fixture.send("POST", foreign, body: "a").status == 403)
                let client = try await fixture.connect()
                try await client.request(foreign, method: "POST", [("Content-Length", "1000000")])
                let answer = try await client.readAnswer()
                #expect(answer.status == 403 && answer.fields["Connection"] == "close")
                #expect(fixture.origin.requestCount == 0)
            }
        }

        @Test(arguments: [nil, "http://127.0.0.1:3000", "null", "https://its.example"])
        func `without tokens no page may change anything, but those that are named`(page: String?) {
            let rules = AccessRules(allowedHosts: [], allowedOrigins: ["https://its.example"])
            var fields: HTTPFields = ["Host": "127.0.0.1"]
            fields["Origin"] = page
            let refusal = rules.refusal(fields, authority: "127.0.0.1", hasToken: false, mayChange: true)
            #expect((refusal == nil) == (page == nil || page == "https://its.example"))
            #expect(rules.refusal(fields, authority: "127.0.0.1", hasToken: false) == nil)
            #expect(rules.refusal(fields, authority: "127.0.0.1", hasToken: true, mayChange: true) == nil)
        }

        @Test(arguments: ["POST", "OPTIONS", "TRACE"], [true, false])
        func `methods that the origin's client cannot send are none of this server's`(
            method: String, sendsEveryMethod: Bool
        ) throws {
            let head = try RequestHead(
                Array("\(method) /T/http/a.test/x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)[...])
            let route = RequestRoute(
                head, rules: AccessRules(allowedHosts: [], allowedOrigins: []),
                role: .anyOrigin(AnyOriginRole(token: "T")), sendsEveryMethod: sendsEveryMethod, now: 0)
            guard case .answer(let answer) = route else {
                #expect(method == "POST" && sendsEveryMethod)
                return
            }
            #expect(answer.status == (method == "OPTIONS" ? 204 : 405))
            let more = sendsEveryMethod ? ", POST, PUT, DELETE, PATCH" : ""
            #expect(answer.fields["Allow"] == "GET, HEAD, OPTIONS" + more)
        }

        @Test func `a coded body goes through with its coding`() async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3") { $0.gzipsAnyway = true }
                let answer = try await fixture.ask("/a.mp3")
                #expect(answer.status == 200 && answer.fields["Content-Encoding"] == "gzip")
                #expect(content.firstMismatch(answer.body, at: 0) == nil && answer.body.count == 100_000)
                #expect(await fixture.cache.entries().isEmpty)
            }
        }
    }
#endif
