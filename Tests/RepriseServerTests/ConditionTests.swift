#if Server
    import RepriseHTTP
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// Conditional requests over a raw socket (RFC 9110 §13), on a cold and on a warm cache.
    @Suite struct ConditionTests {
        private static let old = "Sun, 06 Nov 1994 08:49:37 GMT"
        private static let future = "Sun, 06 Nov 2094 08:49:37 GMT"

        struct Case: Sendable, CustomTestStringConvertible {
            var fields: [(String, String)]
            var status: Int
            init(_ status: Int, _ fields: (String, String)...) {
                self.fields = fields
                self.status = status
            }
            var testDescription: String { "\(fields.map { "\($0.0): \($0.1)" }) gives \(status)" }
        }

        // TAG and DATE stand for what the resource has.
        @Test(arguments: [
            Case(206, ("If-Match", "TAG"), ("Range", "bytes=10-19")),
            Case(206, ("If-Match", "*"), ("Range", "bytes=10-19")),
            Case(206, ("If-Match", "\"x\", TAG"), ("Range", "bytes=10-19")),
            Case(412, ("If-Match", "\"x\""), ("Range", "bytes=10-19")), Case(412, ("If-Match", "W/TAG")),
            Case(304, ("If-None-Match", "TAG")), Case(304, ("If-None-Match", "W/TAG")),
            Case(304, ("If-None-Match", "*")),
            Case(200, ("If-None-Match", "\"x\"")), Case(206, ("If-None-Match", "\"x\""), ("Range", "bytes=10-19")),
            Case(200, ("If-None-Match", "\"x\""), ("If-Modified-Since", future)),
            Case(304, ("If-Modified-Since", "DATE")), Case(304, ("If-Modified-Since", future)),
            Case(200, ("If-Modified-Since", old)), Case(200, ("If-Modified-Since", "yesterday")),
            Case(412, ("If-Unmodified-Since", old)), Case(200, ("If-Unmodified-Since", "DATE")),
            Case(206, ("If-Range", "TAG"), ("Range", "bytes=10-19")),
            Case(200, ("If-Range", "\"x\""), ("Range", "bytes=10-19")),
            Case(200, ("If-Range", "W/TAG"), ("Range", "bytes=10-19")),
            Case(206, ("If-Range", "DATE"), ("Range", "bytes=10-19")),
            Case(200, ("If-Range", old), ("Range", "bytes=10-19")),
            Case(412, ("If-Match", "\"x\""), ("If-None-Match", "TAG")),
        ])
        func `a condition is judged by what is stored, without asking the origin again`(example: Case) async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                let known = try await fixture.ask("/a.mp3", method: "HEAD")
                let tag = try #require(known.fields["ETag"])
                let date = try #require(known.fields["Last-Modified"])
                let fields = example.fields.map { name, value in
                    (name, value.replacing("TAG", with: tag).replacing("DATE", with: date))
                }
                for _ in 0..<2 {
                    let answer = try await fixture.ask("/a.mp3", fields)
                    switch example.status {
                    case 200: answer.expect(ByteRange(0, 100_000), of: content, status: 200)
                    case 206: answer.expect(ByteRange(10, 20), of: content, status: 206)
                    default: #expect(answer.status == example.status)
                    }
                    #expect(answer.fields["ETag"] == tag)
                    if answer.status == 304 { #expect(answer.fields["Last-Modified"] == date) }
                }
                // Conditions are between the client and the cache.
                for request in fixture.origin.log {
                    #expect(request.fields["If-Match"] == nil && request.fields["If-None-Match"] == nil)
                }
            }
        }

        @Test(arguments: [OriginBehaviour.Tag.weak, .none])
        func `where the origin has no strong tag the proxy's own is good for If-Match and If-Range for ever`(
            tag: OriginBehaviour.Tag
        ) async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3") { $0.tag = tag }
                let first = try await fixture.ask("/a.mp3", [("Range", "bytes=0-9")])
                let own = try #require(first.fields["ETag"])
                #expect(!own.hasPrefix("W/"))
                for name in ["If-Match", "If-Range"] {
                    let answer = try await fixture.ask("/a.mp3", [(name, own), ("Range", "bytes=50000-50009")])
                    answer.expect(ByteRange(50_000, 50_010), of: content, status: 206)
                    #expect(answer.fields["ETag"] == own)
                }
            }
        }
    }
#endif
