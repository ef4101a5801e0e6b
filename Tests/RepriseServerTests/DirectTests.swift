#if Server
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// What comes through a server is what comes from the origin itself, whatever the status, but for what a server before it
    /// has to say or may not pass on.
    @Suite struct DirectTests {
        /// Fields that are of one connection, or made by whoever sends the message.
        private static let framing = ["Connection", "Keep-Alive", "Transfer-Encoding", "Content-Length", "Date"]
        /// What an edge adds.
        private static let ofEdge = ["Via", "Cache-Status", "Age"]
        /// What a server before any origin says in place of the origin.
        private static let ofPage = [
            "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "X-Content-Type-Options", "Referrer-Policy",
            "Content-Security-Policy",
        ]
        private static let more = [
            "Content-Type": "application/json", "Content-Language": "de", "ETag": "W/\"1\"", "X-Own": "a, b",
            "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Vary": "X-Own",
            "Cache-Control": "private", "Allow": "GET", "Content-Disposition": "attachment; filename=\"ä.txt\"",
        ]

        private func lines(_ answer: RawAnswer, without names: [String]) -> [String] {
            answer.fields.lines.filter { line in !names.contains { $0.equalsIgnoringCase(line.name) } }
                .map { "\($0.name.lowercased()): \($0.value.trimmingOptionalWhitespace)" }.sorted()
        }

        @Test(arguments: [String?.none, "edge"], ["GET", "HEAD", "POST"])
        func `an answer of any status is what it is without a server`(edge: String?, method: String) async throws {
            try await ProxyFixture.run(edge: edge) { fixture in
                for status in 200...599 where status != 304 && status != 416 {
                    // What a GET of a range means by 206 is media.
                    if status == 206, method != "POST" { continue }
                    let path = "/\(status)"
                    fixture.put(path) {
                        ($0.statuses["POST"], $0.extraFields) = (status, Self.more)
                        ($0.status, $0.statusFields) = (status, Self.more)
                    }
                    let target = edge == nil ? fixture.target(path) : path
                    let body = method == "POST" ? "a=1" : nil
                    let direct = try await fixture.send(method, path, body: body, port: fixture.server.port)
                    let through = try await fixture.send(method, target, body: body)
                    #expect(through.status == direct.status && through.body == direct.body, "\(method) \(status)")
                    var own = Self.framing + (edge == nil ? Self.ofPage : Self.ofEdge)
                    // What is held of an answer can be had in ranges.
                    if status == 200, method != "POST" { own.append("Accept-Ranges") }
                    #expect(lines(through, without: own) == lines(direct, without: own), "\(method) \(status)")
                    if edge == nil { #expect(lines(through, without: []).contains("access-control-allow-origin: *")) }
                }
            }
        }
    }
#endif
