#if Server
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseProxy
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// What a client is told when the origin will not or cannot.
    @Suite struct OriginTroubleTests {
        private static let second: Int64 = 1_000_000_000

        @Test(arguments: [401, 403, 404, 410, 416, 451, 500, 503])
        func `the origin's refusal is passed on, with words, and forgotten, bug03`(status: Int) async throws {
            try await ProxyFixture.run(cache: { $0.tuning.openDeadline = Self.second }) { fixture in
                let content = fixture.put("/a.mp3") { $0.status = status }
                let answer = try await fixture.ask("/a.mp3", [("Range", "bytes=0-")])
                #expect(answer.status == status)
                #expect(answer.text.count > 10)
                if status == 416 { #expect(answer.fields["Content-Range"] == "bytes */100000") }
                fixture.origin.change("/a.mp3") { $0.behaviour.status = nil }
                let again = try await fixture.ask("/a.mp3", [("Range", "bytes=0-")])
                again.expect(ByteRange(0, 100_000), of: content, status: 206)
            }
        }

        @Test(arguments: [429, 503])
        func `Retry-After is passed on`(status: Int) async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/a.mp3") {
                    $0.status = status
                    $0.retryAfter = 120
                }
                let answer = try await fixture.ask("/a.mp3")
                #expect(answer.status == status)
                #expect(answer.fields["Retry-After"] == "120")
                #expect(fixture.origin.requestCount == 1)
            }
        }

        @Test func `a dead origin is 502 with a plain explanation`() async throws {
            try await ProxyFixture.run { fixture in
                let client = try await fixture.connect()
                // A port nobody is given: one that was let go may be another test's by now.
                try await client.request("/\(ProxyFixture.token)/http/127.0.0.1:1/a.mp3")
                let answer = try await client.readAnswer()
                #expect(answer.status == 502)
                #expect(answer.text.hasPrefix("127.0.0.1 cannot be reached: nothing listens there"))
                #expect(answer.fields["Proxy-Status"]?.hasPrefix("reprise; error=connection_refused; details=") == true)
                #expect(answer.fields["Content-Type"] == "text/plain; charset=utf-8")
            }
        }

        @Test func `a name that does not exist is 502 with a plain explanation`() async throws {
            try await ProxyFixture.run { fixture in
                let client = try await fixture.connect()
                try await client.request("/secret/http/no-such-host.invalid/a.mp3")
                let answer = try await client.readAnswer()
                #expect(answer.status == 502)
                #expect(answer.text.hasPrefix("no-such-host.invalid cannot be reached: its name is not known"))
                #expect(answer.fields["Proxy-Status"]?.hasPrefix("reprise; error=dns_error; details=") == true)
            }
        }

        @Test func `a silent origin is 504, inv26`() async throws {
            try await ProxyFixture.run(cache: {
                $0.tuning.headTimeout = Self.second / 5
                $0.tuning.openDeadline = Self.second / 5
            }) { fixture in
                fixture.put("/a.mp3") { $0.firstByteDelay = 3600 * Self.second }
                let answer = try await fixture.ask("/a.mp3")
                #expect(answer.status == 504)
                #expect(answer.text.contains("did not answer"))
            }
        }

        @Test(arguments: [
            ("099 X", "which is none"), ("000 X", "which is none"), ("042 No", "which is none"),
            ("100 Go on", "is not HTTP"), ("199 X", "is not HTTP"), ("101 Switching Protocols", "no final answer"),
        ])
        func `a status that answers nothing is 502, and the next request is served`(line: String, words: String)
            async throws
        {
            try await expectRefused("HTTP/1.1 \(line)\r\nContent-Length: 5\r\n\r\nhello", words)
        }

        @Test(arguments: [
            ("PUT", 2, 200), ("DELETE", 2, 200), ("OPTIONS", 2, 200), ("HEAD", 2, 200), ("PROPFIND", 2, 200),
            ("POST", 1, 502), ("PATCH", 1, 502),
        ])
        func `a request whose connection was lost is sent once more where that does what once does, RFC 9110 §9.2.2`(
            method: String, requests: Int, status: Int
        ) async throws {
            let canned = try await CannedOrigin(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8), lost: 1)
            try await ProxyFixture.run(edge: "edge", origin: OriginURL(canned.base)) { fixture in
                let answer = try await fixture.send(method, "/a", body: method == "PUT" ? "a=1" : nil)
                #expect(answer.status == status, "\(answer.text)")
                #expect(canned.requestCount == requests)
            }
            let down = try await CannedOrigin([], lost: .max)
            try await ProxyFixture.run(edge: "edge", origin: OriginURL(down.base)) { fixture in
                let refused = try await fixture.send(method, "/a")
                #expect(refused.status == 502)
                #expect(down.requestCount == requests, "it is not asked for ever")
            }
            await canned.stop()
            await down.stop()
        }

        @Test(
            arguments: [
                ("DELETE", [], 1, 404, 2), ("PUT", [], Int.max, 502, 2), ("PUT", [("If-Match", "\"a\"")], 1, 502, 1),
                ("DELETE", [("If-None-Match", "*")], 1, 502, 1), ("PUT", [("If", "([\"a\"])")], 1, 502, 1),
                ("POST", [], 1, 502, 1),
            ] as [(String, [(String, String)], Int, Int, Int)])
        func `what a request may have changed is asked for again, also where its answer was lost, RFC 9111 §4.4`(
            method: String, fields: [(String, String)], lost: Int, status: Int, tries: Int
        ) async throws {
            let bytes =
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=1000\r\nConnection: close\r\nContent-Length: 1\r\n\r\na"
            // What was done by the first try is not there for the second.
            let gone = "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            let canned = try await CannedOrigin(Array(bytes.utf8), lost: lost, of: method, answered: Array(gone.utf8))
            try await ProxyFixture.run(edge: "edge", origin: OriginURL(canned.base)) { fixture in
                for _ in 0..<2 { #expect(try await fixture.send("GET", "/a").status == 200) }
                await fixture.waitUntilQuiet()
                #expect(canned.requestCount == 1, "it is stored")
                let answer = try await fixture.send(method, "/a", fields, body: "x")
                #expect(answer.status == status, "\(answer.text)")
                #expect(canned.requestCount == 1 + tries)
                #expect(try await fixture.send("GET", "/a").status == 200)
                #expect(canned.requestCount == 2 + tries)
            }
            await canned.stop()
        }

        @Test func `a request is sent again where its connection was lost, not elsewhere`() async throws {
            let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
            let first = try await CannedOrigin(answer, lost: 1)
            let second = try await CannedOrigin(answer)
            let mirrors = [OriginURL(second.base)].compactMap { $0 }
            try await ProxyFixture.run(edge: "edge", origin: OriginURL(first.base), mirrors: mirrors) { fixture in
                let answer = try await fixture.send("PUT", "/a", body: "x")
                #expect(answer.status == 200, "\(answer.text)")
                #expect(first.requestCount == 2 && second.requestCount == 0)
            }
            await first.stop()
            await second.stop()
        }

        @Test(arguments: [("OPTIONS", 200), ("HEAD", 200), ("GET", 200), ("DELETE", 504)])
        func `however short an answer is waited for, a silent origin leaves time for the next`(
            method: String, status: Int
        ) async throws {
            let silent = try await CannedOrigin([])
            let second = try await CannedOrigin(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
            let mirrors = [OriginURL(second.base)].compactMap { $0 }
            try await ProxyFixture.run(
                cache: { $0.originTimeout = 1 }, edge: "edge", origin: OriginURL(silent.base), mirrors: mirrors
            ) { fixture in
                let answer = try await fixture.send(method, "/a")
                #expect(answer.status == status, "\(answer.text)")
                #expect(silent.requestCount == 1 && second.requestCount == (status == 200 ? 1 : 0))
            }
            await silent.stop()
            await second.stop()
        }

        @Test(arguments: ["gzip, chunked", "gzip", "br, chunked"])
        func `a transfer coding that was not asked for is 502, and nothing of it is served`(coding: String) async throws
        {
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\nTransfer-Encoding: \(coding)\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
            try await expectRefused(head, "which was not asked for")
        }

        /// An answer of these bytes is 502, whose text has the words; the server goes on.
        private func expectRefused(_ bytes: String, _ words: String) async throws {
            let canned = try await CannedOrigin(Array(bytes.utf8))
            try await ProxyFixture.run(cache: { $0.tuning.openDeadline = Self.second }) { fixture in
                let client = try await fixture.connect()
                try await client.request("/\(ProxyFixture.token)/http/\(canned.base.dropFirst(7))/a.mp3")
                let answer = try await client.readAnswer()
                #expect(answer.status == 502)
                #expect(answer.text.contains(words) && !answer.text.contains("hello"), "\(answer.text)")
                let content = fixture.put("/b.mp3")
                let next = try await fixture.ask("/b.mp3", [("Range", "bytes=0-")])
                next.expect(ByteRange(0, 100_000), of: content, status: 206)
            }
            await canned.stop()
        }

        @Test(arguments: [
            OriginBehaviour.ContentRangeFault.absent, .wrongStart, .wrongEnd, .garbage,
        ])
        func `an answer that contradicts itself is 502 and nothing of it is served, inv19 bug01`(
            fault: OriginBehaviour.ContentRangeFault
        ) async throws {
            try await ProxyFixture.run(cache: { $0.tuning.openDeadline = Self.second / 5 }) { fixture in
                fixture.put("/a.mp3") { $0.contentRange = fault }
                let answer = try await fixture.ask("/a.mp3", [("Range", "bytes=10-")])
                #expect(answer.status == 502)
            }
        }

        @Test(arguments: [
            OriginBehaviour.BodyFault.reset(at: 50_000), .short(by: 50_000), .reset(at: 1), .reset(at: 99_999),
        ])
        func `a body that breaks off once is gone on with, and the client does not notice, bug09`(
            fault: OriginBehaviour.BodyFault
        ) async throws {
            // A busy machine is silent for seconds at times; that must not look like a stalled origin here.
            try await ProxyFixture.run(cache: { $0.tuning.takeover = 60 * Self.second }) { fixture in
                let content = fixture.put("/a.mp3") {
                    $0.body = fault
                    $0.faultyRequests = 1
                }
                try await fixture.ask("/a.mp3").expect(ByteRange(0, 100_000), of: content, status: 200)
                // What came before the break was kept: it goes on with ranges, not from the start.
                let ranges = fixture.origin.log.compactMap(\.range)
                #expect(fixture.origin.bodyBytes <= 100_000 + 32_768, "\(fixture.origin.bodyBytes) bytes by \(ranges)")
            }
        }

        @Test func `a body that always breaks off closes the connection instead of lying, inv26`() async throws {
            try await ProxyFixture.run(cache: { $0.tuning.retryDeadline = Self.second / 5 }) { fixture in
                let content = fixture.put("/a.mp3") { $0.body = .reset(at: 50_000) }
                let client = try await fixture.connect()
                try await client.request(fixture.target("/a.mp3"))
                #expect(try await client.readHead().status == 200)
                try await client.waitUntilClosed()
                let body = (try? await client.takeBytes(atLeast: 0)) ?? []
                #expect(body.count <= 50_000)
                #expect(content.firstMismatch(body, at: 0) == nil)
            }
        }

        @Test func `what is stored plays when the origin is gone, inv13 inv18`() async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                _ = try await fixture.ask("/a.mp3")
                await fixture.waitUntilQuiet()
                let target = fixture.target("/a.mp3")
                await fixture.server.stop()
                let client = try await fixture.connect()
                for range in ["bytes=0-", "bytes=99000-", "bytes=-5"] {
                    try await client.request(target, [("Range", range)])
                    #expect(try await client.readAnswer().status == 206)
                }
                try await client.request(target)
                try await client.readAnswer().expect(ByteRange(0, 100_000), of: content, status: 200)
            }
        }

        @Test func `a page of a foreign origin cannot run as one of ours`() async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/a.mp3") { $0.loginPage = true }
                let answer = try await fixture.ask("/a.mp3")
                #expect(answer.fields["X-Content-Type-Options"] == "nosniff")
                let policy = answer.fields["Content-Security-Policy"]
                #expect(answer.status != 200 || policy == "default-src 'none'; sandbox")
            }
        }

        @Test(arguments: [
            ("image/svg+xml", true), ("text/html, audio/mpeg", true), ("application/x-unknown", true),
            ("text/vtt", true), ("audio/mpeg", false), ("image/png", false), ("application/octet-stream", false),
        ])
        func `what a browser may run of a foreign origin is in a sandbox`(type: String, isSandboxed: Bool) async throws
        {
            try await ProxyFixture.run { fixture in
                fixture.put("/a", length: 100) { $0.contentType = type }
                let answer = try await fixture.ask("/a")
                #expect(answer.status == 200 && answer.fields["X-Content-Type-Options"] == "nosniff")
                #expect(answer.fields["Content-Security-Policy"] == (isSandboxed ? "default-src 'none'; sandbox" : nil))
            }
        }

        @Test func `early hints and redirects of the origin do not show`() async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/real.mp3") { $0.earlyHints = true }
                fixture.put("/a.mp3") { $0.redirect = "/real.mp3" }
                let answer = try await fixture.ask("/a.mp3", [("Range", "bytes=5-")])
                answer.expect(ByteRange(5, 100_000), of: content, status: 206)
            }
        }
    }
#endif
