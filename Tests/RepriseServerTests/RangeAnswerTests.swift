#if Server
    import RepriseCore
    import RepriseHTTP
    import RepriseProxy
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// Ranges, lengths and methods over a raw socket.
    @Suite struct RangeAnswerTests {
        private static let length: Int64 = 100_000

        @Test func `a plain GET is answered 200 with length and Accept-Ranges, cold and warm`() async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                for _ in 0..<2 {
                    let answer = try await fixture.ask("/a.mp3")
                    answer.expect(ByteRange(0, Self.length), of: content, status: 200)
                    #expect(answer.fields["Accept-Ranges"] == "bytes")
                    #expect(answer.fields["Content-Type"] == "audio/mpeg")
                }
            }
        }

        @Test(arguments: [
            ("bytes=0-", 0, 100_000), ("bytes=0-0", 0, 1), ("bytes=32767-32768", 32_767, 32_769),
            ("bytes=99999-", 99_999, 100_000), ("bytes=500-999999", 500, 100_000), ("bytes=-1", 99_999, 100_000),
            ("bytes=-40000", 60_000, 100_000), ("bytes=-999999", 0, 100_000),
            ("bytes=0-9223372036854775807", 0, 100_000),
            ("bytes=7-99999999999999999999", 7, 100_000), ("BYTES=1-2", 1, 3),
        ])
        func `a range is clipped as RFC 9110 says and equals its Content-Range, cold and warm, inv09 bug29 bug06`(
            field: String, start: Int64, end: Int64
        ) async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                for _ in 0..<2 {
                    let answer = try await fixture.ask("/a.mp3", [("Range", field)])
                    answer.expect(ByteRange(start, end), of: content, status: 206)
                }
                try await fixture.ask("/a.mp3").expect(ByteRange(0, Self.length), of: content, status: 200)
                let again = try await fixture.ask("/a.mp3", [("Range", field)])
                again.expect(ByteRange(start, end), of: content, status: 206)
            }
        }

        @Test(arguments: ["bytes=5-4", "bytes=a-b", "seconds=1-2", "bytes=", "bytes=0-1,x", "bytes=0-,0-,0-"])
        func `a range that is not to be heeded gives the whole`(field: String) async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                let answer = try await fixture.ask("/a.mp3", [("Range", field)])
                answer.expect(ByteRange(0, Self.length), of: content, status: 200)
            }
        }

        @Test(arguments: ["bytes=100000-", "bytes=100000-100001", "bytes=9223372036854775807-", "bytes=-0"])
        func `a range from the end on is 416 with the length and costs no request once the length is known, inv09`(
            field: String
        ) async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/a.mp3")
                let cold = try await fixture.ask("/a.mp3", [("Range", field)])
                #expect(cold.status == 416)
                #expect(cold.fields["Content-Range"] == "bytes */100000")
                _ = try await fixture.ask("/a.mp3", [("Range", "bytes=0-0")])
                await fixture.waitUntilQuiet()
                let requests = fixture.origin.requestCount
                let warm = try await fixture.ask("/a.mp3", [("Range", field)])
                #expect(warm.status == 416)
                #expect(warm.fields["Content-Range"] == "bytes */100000")
                for name in ["Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "X-Content-Type-Options"] {
                    #expect(warm.fields[name] != nil && warm.fields[name] == cold.fields[name], "\(name)")
                }
                await fixture.waitUntilQuiet()
                #expect(fixture.origin.requestCount == requests)
            }
        }

        @Test(arguments: [1, 2, 9, 15, 16, 17])
        func `a first range of a few bytes costs one request, and a tiny resource too, inv10 inv26`(count: Int64)
            async throws
        {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                let probe = try await fixture.ask("/a.mp3", [("Range", "bytes=0-\(count - 1)")])
                probe.expect(ByteRange(0, count), of: content, status: 206)
                await fixture.waitUntilQuiet()
                #expect(fixture.origin.requestCount == 1)
                for framing in [OriginBehaviour.Framing.length, .chunked, .close] {
                    let path = "/tiny-\(framing).mp3"
                    let tiny = fixture.put(path, length: count) {
                        $0.framing = framing
                        $0.ranges = framing == .length ? .served : .ignored
                    }
                    let requests = fixture.origin.requestCount
                    let answer = try await fixture.ask(path)
                    #expect(Int64(answer.body.count) == count)
                    #expect(tiny.firstMismatch(answer.body, at: 0) == nil)
                    await fixture.waitUntilQuiet()
                    #expect(fixture.origin.requestCount == requests + 1)
                }
            }
        }

        @Test func `an empty resource is 200 with no bytes, and any range of it 416`() async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/empty.mp3", length: 0)
                for _ in 0..<2 {
                    let answer = try await fixture.ask("/empty.mp3")
                    #expect(answer.status == 200)
                    #expect(answer.fields["Content-Length"] == "0")
                    let ranged = try await fixture.ask("/empty.mp3", [("Range", "bytes=0-")])
                    #expect(ranged.status == 416)
                    #expect(ranged.fields["Content-Range"] == "bytes */0")
                }
            }
        }

        @Test func `HEAD is the head of GET, without a body, cold and warm`() async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/a.mp3")
                let cold = try await fixture.ask("/a.mp3", method: "HEAD")
                let get = try await fixture.ask("/a.mp3")
                let warm = try await fixture.ask("/a.mp3", method: "HEAD")
                for head in [cold, warm] {
                    #expect(head.status == 200)
                    #expect(head.body.isEmpty)
                    #expect(stable(head.fields) == stable(get.fields))
                }
            }
        }

        @Test func `OPTIONS answers without asking the origin, and TRACE is refused`() async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/a.mp3")
                let options = try await fixture.ask("/a.mp3", method: "OPTIONS", [("Origin", "http://localhost:1")])
                #expect(options.status == 204)
                #expect(
                    options.fields["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS, POST, PUT, DELETE, PATCH")
                let answer = try await fixture.ask("/a.mp3", method: "TRACE", [("Content-Length", "0")])
                #expect(answer.status == 405)
                #expect(answer.fields["Allow"] == "GET, HEAD, OPTIONS, POST, PUT, DELETE, PATCH")
                #expect(fixture.origin.requestCount == 0)
            }
        }

        @Test func `a warm answer equals the cold one but for Date and Age, inv13`() async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/a.mp3") { $0.extraFields = ["Cache-Control": "max-age=60", "X-Custom": "a, b"] }
                for fields in [[], [("Range", "bytes=10-19")]] {
                    let cold = try await fixture.ask("/a.mp3", fields)
                    await fixture.waitUntilQuiet()
                    let requests = fixture.origin.requestCount
                    let warm = try await fixture.ask("/a.mp3", fields)
                    #expect(warm.status == cold.status)
                    #expect(stable(warm.fields) == stable(cold.fields))
                    #expect(warm.fields["X-Custom"] == "a, b")
                    #expect(fixture.origin.requestCount == requests)
                }
            }
        }

        @Test(arguments: [OriginBehaviour.Framing.chunked, .close])
        func `an unknown length is chunked to the client and never guessed, inv09`(framing: OriginBehaviour.Framing)
            async throws
        {
            try await ProxyFixture.run { fixture in
                // More than a window holds: the end has not come, and so is not known, when the head leaves.
                let content = fixture.put("/a.mp3", length: 3_000_000) {
                    $0.framing = framing
                    $0.ranges = .ignored
                }
                let client = try await fixture.connect()
                try await client.request(fixture.target("/a.mp3"))
                let answer = try await client.readAnswer()
                #expect(answer.status == 200)
                #expect(answer.fields["Content-Length"] == nil)
                #expect(answer.fields["Transfer-Encoding"] == "chunked")
                #expect(answer.body.count == 3_000_000)
                #expect(content.firstMismatch(answer.body, at: 0) == nil)
                // The connection is still good.
                try await client.request(fixture.target("/a.mp3"), [("Range", "bytes=5-9")])
                #expect([200, 206].contains(try await client.readAnswer().status))
            }
        }

        @Test func `an origin without ranges still gives a range to the client`() async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3") { $0.ranges = .ignored }
                let answer = try await fixture.ask("/a.mp3", [("Range", "bytes=90000-90009")])
                answer.expect(ByteRange(90_000, 90_010), of: content, status: 206)
            }
        }

        private func stable(_ fields: HTTPFields) -> [String] {
            fields.lines.filter { !["date", "age"].contains($0.name.lowercased()) }.map { "\($0.name): \($0.value)" }
                .sorted()
        }
    }
#endif
