#if Server
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseTesting
    import Testing

    /// Fields behind a body (RFC 9110 §6.5) go through with it where it is not stored.
    @Suite struct TrailerTests {
        private static let trailers = [
            "Server-Timing": "db;dur=1", "X-Checksum": "1f", "Content-Type": "a/b", "Set-Cookie": "a=1",
            "Link": "</a>; rel=preload",
        ]

        private func told(edge: String?) -> HTTPFields {
            var told: HTTPFields = ["Link": "</a>; rel=preload", "Server-Timing": "db;dur=1", "X-Checksum": "1f"]
            if edge == nil { told["Link"] = nil }
            return told
        }

        @Test(arguments: [String?.none, "edge"], [200, 201, 404, 503])
        func `what is not stored is told with its trailers`(edge: String?, status: Int) async throws {
            try await ProxyFixture.run(edge: edge) { fixture in
                fixture.put("/a") { behaviour in
                    // Of a part it is the part's length that is told.
                    (behaviour.trailers, behaviour.ranges) = (Self.trailers, .ignored)
                    behaviour.statuses["POST"] = status
                    if status != 200 { behaviour.status = status }
                    behaviour.statusFields = ["Cache-Control": "no-store"]
                    behaviour.extraFields = ["Cache-Control": "no-store"]
                }
                let target = edge == nil ? fixture.target("/a") : "/a"
                for method in ["GET", "POST"] where edge != nil || status != 200 || method == "POST" {
                    let body = method == "POST" ? "a=1" : nil
                    for _ in 1...2 {
                        let answer = try await fixture.send(method, target, body: body)
                        #expect(answer.status == status && answer.trailers == told(edge: edge), "\(method)")
                        let direct = try await fixture.send(method, "/a", body: body, port: fixture.server.port)
                        #expect(answer.fields["Trailer"] == direct.fields["Trailer"])
                        #expect(answer.body == direct.body && direct.trailers.lines.count == Self.trailers.count)
                    }
                }
                let log = fixture.origin.log
                #expect(!log.isEmpty && log.allSatisfy { !$0.fields.contains("Reprise-Listener") })
            }
        }

        @Test(arguments: [String?.none, "edge"])
        func `what is stored is told without them, with its length`(edge: String?) async throws {
            try await ProxyFixture.run(edge: edge) { fixture in
                let content = fixture.put("/a") { behaviour in
                    behaviour.trailers = Self.trailers
                    behaviour.extraFields = ["Cache-Control": "max-age=60"]
                }
                let target = edge == nil ? fixture.target("/a") : "/a"
                let first = try await fixture.send("GET", target)
                #expect(first.trailers.isEmpty && first.fields["Trailer"] == nil)
                await fixture.waitUntilQuiet()
                let again = try await fixture.send("GET", target)
                #expect(again.fields["Trailer"] == nil)
                #expect(again.trailers.isEmpty && again.fields["Content-Length"] == "\(content.length)")
                #expect(fixture.origin.requestCount == 1)
            }
        }

        @Test func `a client of HTTP 1.0 gets the body`() async throws {
            try await ProxyFixture.run(edge: "edge") { fixture in
                fixture.put("/a") { ($0.status, $0.trailers) = (404, Self.trailers) }
                let client = try await fixture.connect()
                try await client.send("GET /a HTTP/1.0\r\n\r\n")
                let answer = try await client.readAnswer()
                #expect(answer.text == "status 404\n" && answer.fields["Trailer"] == nil)
                await client.close()
            }
        }
    }
#endif
