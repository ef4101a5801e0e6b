#if Server
    import RepriseCore
    import RepriseHTTP
    import RepriseProxy
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// A shared cache in front of one origin, over real sockets.
    @Suite struct EdgeServerTests {
        private func withEdge(_ body: (ProxyFixture) async throws -> Void) async throws {
            try await ProxyFixture.run(edge: "node-1", body)
        }

        private func ask(
            _ fixture: ProxyFixture, _ target: String, method: String = "GET", _ fields: [(String, String)] = []
        ) async throws -> RawAnswer {
            try await fixture.send(method, target, fields)
        }

        @Test func `a path is fetched once, then a hit with its age, to any name it is asked by, RFC 9111 §4`()
            async throws
        {
            try await withEdge { fixture in
                let content = fixture.put("/a.mp4", length: 100_000) { $0.extraFields["Cache-Control"] = "max-age=600" }
                let first = try await ask(fixture, "/a.mp4", [("Host", "media.example")])
                first.expect(ByteRange(0, 100_000), of: content, status: 200)
                #expect(first.fields["Via"] == "1.1 node-1")
                #expect(first.fields["Cache-Status"]?.hasPrefix("node-1; fwd=uri-miss") == true)
                await fixture.waitUntilQuiet()
                let requests = fixture.origin.requestCount
                let second = try await ask(fixture, "/a.mp4", [("Range", "bytes=5-99"), ("Host", "other.example")])
                second.expect(ByteRange(5, 100), of: content, status: 206)
                #expect(second.fields["Cache-Status"]?.hasPrefix("node-1; hit; ttl=") == true)
                #expect(second.fields["Age"] != nil)
                #expect(fixture.origin.requestCount == requests)
            }
        }

        @Test func `a private answer reaches nobody else, inv29`() async throws {
            try await withEdge { fixture in
                fixture.put("/mine.mp4", length: 1000) { $0.extraFields["Cache-Control"] = "private" }
                for _ in 0..<2 {
                    let answer = try await ask(fixture, "/mine.mp4")
                    #expect(answer.status == 200)
                }
                await fixture.waitUntilQuiet()
                #expect(fixture.origin.requestCount >= 2)
                #expect(await fixture.cache.entries().isEmpty)
            }
        }

        @Test func `what is signed differently is not shared, and only-if-cached asks nobody, RFC 9111 §5.2.1.7`()
            async throws
        {
            try await withEdge { fixture in
                fixture.put("/a.mp4", length: 1000) { $0.extraFields["Cache-Control"] = "max-age=600" }
                let first = try await ask(fixture, "/a.mp4?Signature=1")
                #expect(first.status == 200)
                await fixture.waitUntilQuiet()
                let requests = fixture.origin.requestCount
                let only = [("Cache-Control", "only-if-cached")]
                let stored = try await ask(fixture, "/a.mp4?Signature=1", only)
                #expect(stored.status == 200)
                let unknown = try await ask(fixture, "/a.mp4?Signature=2", only)
                #expect(unknown.status == 504)
                #expect(fixture.origin.requestCount == requests)
            }
        }

        @Test func `a circle is told, and health is the node's own`() async throws {
            try await withEdge { fixture in
                let loop = try await ask(fixture, "/a.mp4", [("Via", "1.1 other, 1.1 node-1")])
                #expect(loop.status == 508)
                let health = try await ask(fixture, "/.reprise/health")
                #expect(health.text == "ok\n")
                let other = try await ask(fixture, "/a.mp4", method: "TRACE")
                #expect(other.status == 405)
                #expect(other.fields["Allow"] == "GET, HEAD, OPTIONS, POST, PUT, DELETE, PATCH")
                #expect(fixture.origin.requestCount == 0)
            }
        }

        @Test(arguments: [201, 204, 301, 404, 418, 503, 599], ["GET", "HEAD"])
        func `what is not media goes through as it is, RFC 9110 §7.7`(status: Int, method: String) async throws {
            try await withEdge { fixture in
                fixture.put("/page") {
                    $0.status = status
                    $0.statusFields = [
                        "Content-Type": "text/html", "Content-Security-Policy": "default-src 'self'", "Location": "/b",
                        "Set-Cookie": "a=b", "X-Own": "1",
                    ]
                }
                let answer = try await ask(fixture, "/page", method: method, [("Range", "bytes=0-3")])
                #expect(answer.status == status && answer.fields["X-Own"] == "1" && answer.fields["Location"] == "/b")
                #expect(answer.fields["Content-Security-Policy"] == "default-src 'self'")
                #expect(answer.fields["Set-Cookie"] == "a=b" && answer.fields["Content-Type"] == "text/html")
                for name in ["Access-Control-Allow-Origin", "X-Content-Type-Options", "ETag", "Accept-Ranges"] {
                    #expect(answer.fields[name] == nil)
                }
                #expect(answer.text == (status == 204 || method == "HEAD" ? "" : "status \(status)\n"))
                #expect(answer.fields["Content-Length"] == (status == 204 ? nil : "11"))
                // A GET's answer ends in 0 seconds, or in -1 where the clock's second ends meanwhile.
                let miss = "node-1; fwd=uri-miss; fwd-status=\(status)"
                let possible = method == "HEAD" ? [miss] : [miss + "; ttl=0", miss + "; ttl=-1"]
                #expect(possible.contains(answer.fields["Cache-Status"] ?? ""))
                #expect(fixture.origin.requestCount == 1)
                #expect(await fixture.cache.entries().isEmpty)
            }
        }

        @Test(arguments: [301, 404, 501]) func `what says how long it is good is a hit, whatever it is, RFC 9111 §3`(
            status: Int
        ) async throws {
            try await withEdge { fixture in
                fixture.put("/page") {
                    $0.status = status
                    $0.statusFields = ["Cache-Control": "max-age=60", "Content-Type": "text/html"]
                }
                _ = try await ask(fixture, "/page")
                await fixture.waitUntilQuiet()
                let answer = try await ask(fixture, "/page")
                #expect(answer.status == status && answer.text == "status \(status)\n")
                #expect(answer.fields["Cache-Status"]?.hasPrefix("node-1; hit; ttl=") == true)
                #expect(fixture.origin.requestCount == 1)
            }
        }

        @Test func `fields that are for the one who asked go to nobody else, RFC 9111 §5.2.2.4 and §5.2.2.7`()
            async throws
        {
            try await withEdge { fixture in
                fixture.put("/a.mp4", length: 1000) {
                    $0.extraFields = [
                        "Cache-Control": "max-age=60, private=\"x-user\", no-cache=x-b", "X-User": "1", "X-B": "2",
                    ]
                }
                let first = try await ask(fixture, "/a.mp4")
                #expect(first.fields["X-User"] == "1" && first.fields["X-B"] == "2")
                await fixture.waitUntilQuiet()
                let next = try await ask(fixture, "/a.mp4")
                #expect(next.fields["Cache-Status"]?.contains("hit") == true)
                #expect(next.fields["X-User"] == nil && next.fields["X-B"] == nil)
            }
        }

        @Test func `the origin's own tag is told and compared, weak or none, RFC 9110 §13.1.2`() async throws {
            try await withEdge { fixture in
                fixture.put("/a.mp4", length: 1000) {
                    $0.tag = .weak
                    $0.extraFields = ["Cache-Control": "max-age=60"]
                }
                let first = try await ask(fixture, "/a.mp4")
                let tag = try #require(first.fields["ETag"])
                #expect(tag.hasPrefix("W/"))
                await fixture.waitUntilQuiet()
                for condition in [tag, String(tag.dropFirst(2)), "\"x\", " + tag] {
                    #expect(try await ask(fixture, "/a.mp4", [("If-None-Match", condition)]).status == 304)
                }
                #expect(try await ask(fixture, "/a.mp4", [("If-None-Match", "\"x\"")]).status == 200)
                #expect(try await ask(fixture, "/a.mp4", [("If-Match", tag)]).status == 412)
                #expect(fixture.origin.requestCount == 1)
            }
        }

        @Test func `media plays on when the origin is gone and what is stored may stand in, inv18`() async throws {
            try await withEdge { fixture in
                let content = fixture.put("/a.mp4", length: 50_000) {
                    $0.extraFields["Cache-Control"] = "max-age=0, stale-if-error=600"
                }
                _ = try await ask(fixture, "/a.mp4")
                await fixture.waitUntilQuiet()
                fixture.origin.setDown(true)
                let answer = try await ask(fixture, "/a.mp4")
                answer.expect(ByteRange(0, 50_000), of: content, status: 200)
            }
        }
    }
#endif
