#if Server
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseProxy
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// Requests that may change something, through a shared cache in front of one origin.
    @Suite struct RelayTests {
        private func withEdge(_ body: (ProxyFixture) async throws -> Void) async throws {
            try await ProxyFixture.run(edge: "node-1", body)
        }

        @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "REPORT", "PURGE"])
        func `a request that may change something reaches the origin whole, and its answer comes back, RFC 9110 §7.6`(
            method: String
        ) async throws {
            try await withEdge { fixture in
                fixture.put("/notes") {
                    $0.statuses[method] = 201
                    $0.extraFields = ["X-Number": "7", "Location": "/notes/7"]
                }
                let fields = [("X-Own", "1"), ("Connection", "X-Hop"), ("X-Hop", "2"), ("Content-Type", "text/plain")]
                let answer = try await fixture.send(method, "/notes?a=1", fields, body: "héllo")
                #expect(answer.status == 201 && answer.text == method + "\n")
                #expect(answer.fields["X-Number"] == "7" && answer.fields["Location"] == "/notes/7")
                #expect(answer.fields["Via"] == "1.1 node-1")
                #expect(answer.fields["Cache-Status"] == "node-1; fwd=method")
                let request = try #require(fixture.origin.log.last)
                #expect(request.method == method && request.target == "/notes?a=1")
                #expect(request.body == Array("héllo".utf8))
                #expect(request.fields["X-Own"] == "1" && request.fields["Content-Type"] == "text/plain")
                #expect(request.fields["X-Hop"] == nil && request.fields["Via"] == "1.1 node-1")
                #expect(await fixture.cache.entries().isEmpty)
            }
        }

        @Test func `a body in chunks is passed on, with 100 where the client waits for it, RFC 9110 §10.1.1`()
            async throws
        {
            try await withEdge { fixture in
                fixture.put("/notes") { $0.statuses["PUT"] = 204 }
                let client = try await fixture.connect()
                let fields = [("Transfer-Encoding", "chunked"), ("Expect", "100-continue")]
                try await client.send(RawClient.head("/notes", method: "PUT", fields))
                let interim = try await client.readHead()
                #expect(interim.status == 100)
                try await client.send("3\r\nabc\r\n")
                try await client.send("4\r\nde")
                try await client.send("fg\r\n0\r\nTrailer: z\r\n\r\n")
                #expect(try await client.readAnswer().status == 204)
                #expect(fixture.origin.log.last?.body == Array("abcdefg".utf8))
                #expect(fixture.origin.log.last?.fields["Expect"] == nil)
                // The connection goes on.
                fixture.put("/a.mp4", length: 1000)
                try await client.request("/a.mp4")
                #expect(try await client.readAnswer().body.count == 1000)
                await client.close()
            }
        }

        @Test func `requests sent ahead are passed on one after the other, each with its own body, RFC 9112 §9.3.2`()
            async throws
        {
            try await withEdge { fixture in
                fixture.put("/notes") { $0.statuses = ["PUT": 200, "POST": 200] }
                let content = fixture.put("/a.mp4", length: 1000)
                let client = try await fixture.connect()
                let framing = [("Content-Length", "3")]
                try await client.send(
                    RawClient.head("/notes", method: "PUT", framing) + "abc" + RawClient.head("/a.mp4")
                        + RawClient.head("/notes", method: "POST", framing) + "def" + RawClient.head("/a.mp4"))
                var bodies: [String] = []
                for number in 0..<4 {
                    let answer = try await client.readAnswer()
                    #expect(answer.status == 200)
                    if number % 2 == 0 {
                        bodies.append(answer.text)
                    } else {
                        answer.expect(ByteRange(0, 1000), of: content, status: 200)
                    }
                }
                #expect(bodies == ["PUT\n", "POST\n"])
                let writes = fixture.origin.log.filter { $0.path == "/notes" }
                #expect(writes.map(\.body) == [Array("abc".utf8), Array("def".utf8)])
                await client.close()
            }
        }

        @Test(arguments: ["POST", "PUT", "DELETE", "PATCH"])
        func `what is stored is confirmed before it is used again after such a request, RFC 9111 §4.4`(method: String)
            async throws
        {
            try await withEdge { fixture in
                let content = fixture.put("/a.mp4", length: 50_000) {
                    $0.extraFields["Cache-Control"] = "max-age=600"
                    $0.statuses[method] = 204
                }
                _ = try await fixture.send("GET", "/a.mp4")
                await fixture.waitUntilQuiet()
                let again = try await fixture.send("GET", "/a.mp4")
                #expect(again.fields["Cache-Status"]?.contains("hit") == true)
                #expect(try await fixture.send(method, "/a.mp4").status == 204)
                let requests = fixture.origin.requestCount
                let answer = try await fixture.send("GET", "/a.mp4")
                answer.expect(ByteRange(0, 50_000), of: content, status: 200)
                #expect(fixture.origin.log.dropFirst(requests).map(\.status) == [304])
            }
        }

        @Test func `so is what Location and Content-Location name on the same origin, RFC 9111 §4.4`() async throws {
            try await withEdge { fixture in
                for path in ["/a.mp4", "/b.mp4"] {
                    fixture.put(path, length: 1000) { $0.extraFields["Cache-Control"] = "max-age=600" }
                    _ = try await fixture.send("GET", path)
                    await fixture.waitUntilQuiet()
                }
                fixture.put("/upload") {
                    $0.statuses["POST"] = 201
                    $0.extraFields["Location"] = "/a.mp4"
                }
                #expect(try await fixture.send("POST", "/upload", body: "x").status == 201)
                let requests = fixture.origin.requestCount
                for path in ["/a.mp4", "/b.mp4"] { _ = try await fixture.send("GET", path) }
                #expect(fixture.origin.log.dropFirst(requests).map(\.path) == ["/a.mp4"])
            }
        }

        @Test(arguments: [400, 403, 409, 500, 503])
        func `an error invalidates nothing, RFC 9111 §4.4`(status: Int) async throws {
            try await withEdge { fixture in
                fixture.put("/a.mp4", length: 1000) {
                    $0.extraFields["Cache-Control"] = "max-age=600"
                    $0.statuses["DELETE"] = status
                }
                _ = try await fixture.send("GET", "/a.mp4")
                await fixture.waitUntilQuiet()
                #expect(try await fixture.send("DELETE", "/a.mp4").status == status)
                let requests = fixture.origin.requestCount
                _ = try await fixture.send("GET", "/a.mp4")
                #expect(fixture.origin.requestCount == requests)
            }
        }

        @Test func `a redirect is the client's to follow, RFC 9110 §15.4`() async throws {
            try await withEdge { fixture in
                fixture.put("/old") { $0.redirect = "/new" }
                let answer = try await fixture.send("POST", "/old", body: "x")
                #expect(answer.status == 302 && answer.fields["Location"] == "/new")
                #expect(fixture.origin.requestCount == 1)
            }
        }

        @Test(arguments: ["GET", "HEAD"])
        func `where a redirect leads is each client's own, and it is asked anew, inv29`(method: String) async throws {
            try await withEdge { fixture in
                fixture.put("/me") {
                    $0.redirect = "/of/alice"
                    $0.extraFields = ["Cache-Control": "no-store, private", "Vary": "Cookie"]
                }
                fixture.put("/of/alice") { $0.extraFields = ["Cache-Control": "public, max-age=60"] }
                for user in ["alice", "bob", "bob"] {
                    let answer = try await fixture.send(method, "/me", [("Cookie", "user=\(user)")])
                    #expect(answer.status == 302 && answer.fields["Location"] == "/of/alice")
                    #expect(answer.fields["Cache-Control"] == nil, "as it came")
                }
                #expect(fixture.origin.log.map(\.target) == ["/me", "/me", "/me"])
                #expect(await fixture.cache.entries().isEmpty)
            }
        }

        @Test func `an open redirect leads a shared cache nowhere, and takes no field along`() async throws {
            try await withEdge { fixture in
                let secret = ScriptedOrigin()
                let inside = try await LoopbackOrigin.start(secret)
                secret.put(.init(PositionCodedContent(length: 1000), OriginBehaviour()), at: "/x.js")
                fixture.put("/go") { $0.redirect = inside.url("/x.js") }
                let answer = try await fixture.send("GET", "/go", [("X-Api-Key", "k")])
                #expect(answer.status == 302 && answer.fields["Location"] == inside.url("/x.js"))
                #expect(secret.requestCount == 0)
                await inside.stop()
            }
        }

        @Test func `a stored answer whose origin redirects now is not given any more, RFC 9111 §4.3.3`() async throws {
            try await withEdge { fixture in
                fixture.put("/a") { $0.extraFields = ["Cache-Control": "max-age=0"] }
                #expect(try await fixture.send("GET", "/a").status == 200)
                fixture.origin.change("/a") { $0.behaviour.redirect = "/b" }
                let answer = try await fixture.send("GET", "/a")
                #expect(answer.status == 302 && answer.fields["Location"] == "/b")
            }
        }

        @Test func `what is stored in part and redirected now is confirmed before the next client gets it`()
            async throws
        {
            try await withEdge { fixture in
                fixture.put("/film", length: 3_000_000) { $0.extraFields = ["Cache-Control": "max-age=600"] }
                #expect(try await fixture.send("GET", "/film", [("Range", "bytes=0-99999")]).status == 206)
                fixture.origin.change("/film") { $0.behaviour.redirect = "/elsewhere" }
                let client = try await fixture.connect()
                try await client.send(RawClient.head("/film", method: "GET", [("Range", "bytes=2000000-")]))
                _ = try? await client.readAnswer()
                await client.close()
                let next = try await fixture.send("GET", "/film", [("Range", "bytes=2000000-")])
                #expect(next.status == 302 && next.fields["Location"] == "/elsewhere")
            }
        }

        @Test func `an answer without a body says nothing of its length, RFC 9110 §8.6`() async throws {
            let bytes = "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n"
            let canned = try await CannedOrigin(Array(bytes.utf8))
            let base = try #require(OriginURL(canned.base))
            try await ProxyFixture.run(proxy: {
                $0.edge = EdgeRole(origin: base, name: "n"); $0.token = nil
            }) { fixture in
                let answer = try await fixture.send("POST", "/a", body: "x")
                #expect(answer.status == 204 && answer.fields["Content-Length"] == nil)
            }
            await canned.stop()
        }

        @Test func `an answer of any length comes through, at the client's pace`() async throws {
            try await withEdge { fixture in
                let length: Int64 = 8 << 20
                let content = fixture.put("/report", length: length)
                let client = try await fixture.connect(receiveBuffer: 64 * 1024)
                try await client.setReading(false)
                try await client.request("/report", method: "POST")
                let origin = fixture.origin
                #expect(await eventually { origin.bodyBytes > 0 })
                try await client.setReading(true)
                let answer = try await client.readAnswer()
                answer.expect(ByteRange(0, length), of: content, status: 200)
                #expect(await fixture.cache.entries().isEmpty)
            }
        }

        @Test func `answers that clients do not read leave shared transfers their connections`() async throws {
            try await ProxyFixture.run(edge: "node-1", connections: 2) { fixture in
                fixture.put("/report", length: 8 << 20)
                let content = fixture.put("/a.mp3")
                let origin = fixture.origin
                var clients: [RawClient] = []
                for count in 1...3 {
                    let client = try await fixture.connect(receiveBuffer: 64 * 1024)
                    try await client.setReading(false)
                    try await client.request("/report", method: "POST")
                    #expect(await eventually { origin.requestCount == count })
                    clients.append(client)
                }
                let answer = try await fixture.send("GET", "/a.mp3")
                answer.expect(ByteRange(0, 100_000), of: content, status: 200)
                for client in clients { await client.close() }
            }
        }

        @Test func `an origin that is gone is 502`() async throws {
            try await withEdge { fixture in
                fixture.origin.setDown(true)
                let answer = try await fixture.send("POST", "/a", body: "x")
                #expect(answer.status == 502)
            }
        }

        @Test(arguments: [String?.none, "edge"])
        func `a request beyond those that may be forwarded at a time is refused, and counted, RFC 9209 §2.3.12`(
            edge: String?
        ) async throws {
            try await ProxyFixture.run(proxy: { $0.forwardedLimit = 1 }, edge: edge) { fixture in
                fixture.put("/slow") { $0.body = .stall(at: 10) }
                fixture.put("/a") { $0.statuses["POST"] = 201 }
                let path = { edge == nil ? fixture.target($0) : $0 }
                let slow = try await fixture.connect()
                try await slow.request(path("/slow"), method: "POST", [("Content-Length", "0")])
                #expect(try await slow.readHead().status == 200)
                let refused = try await fixture.send("POST", path("/a"), body: "")
                #expect(refused.status == 503 && refused.text.hasPrefix("too many requests are being forwarded"))
                #expect(refused.fields["Proxy-Status"]?.contains("error=connection_limit_reached") == true)
                #expect(fixture.proxy.limitsMet == [.forwarded: 1])
                await slow.close()
                #expect(await eventually { fixture.proxy.forwardedCount == 0 })
                #expect(try await fixture.send("POST", path("/a"), body: "").status == 201)
                #expect(fixture.origin.requestCount == 2 && fixture.proxy.limitsMet == [.forwarded: 1])
            }
        }
    }
#endif
