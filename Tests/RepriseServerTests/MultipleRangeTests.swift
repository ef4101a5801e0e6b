#if Server
    import RepriseCore
    import RepriseHTTP
    import RepriseProxy
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// Several ranges in one request over a raw socket (RFC 9110 §14.2, §14.6, §15.3.7.2).
    @Suite struct MultipleRangeTests {
        private static let length: Int64 = 100_000

        /// What an answer of parts must be, byte for byte, from its own boundary.
        private func body(
            of ranges: [ByteRange], _ content: PositionCodedContent, boundary: String
        ) -> [UInt8] {
            let parts = MultipartByteRanges(
                ranges: ranges, total: content.length, partType: "audio/mpeg", boundary: boundary)
            return parts.pieces.reduce(into: []) { body, piece in
                switch piece {
                case .text(let text): body += Array(text.utf8)
                case .bytes(let range): body += content.bytes(in: range)
                }
            }
        }

        private func expect(
            _ answer: RawAnswer, _ ranges: [ByteRange], of content: PositionCodedContent,
            _ location: SourceLocation = #_sourceLocation
        ) throws {
            #expect(answer.status == 206, sourceLocation: location)
            #expect(answer.fields["Content-Range"] == nil, sourceLocation: location)
            let type = try #require(answer.fields["Content-Type"], sourceLocation: location)
            let parts = type.split(separator: "=", maxSplits: 1)
            #expect(parts.first == "multipart/byteranges; boundary", sourceLocation: location)
            let expected = body(of: ranges, content, boundary: String(parts.last ?? ""))
            #expect(answer.fields["Content-Length"] == "\(expected.count)", sourceLocation: location)
            #expect(answer.body == expected, sourceLocation: location)
        }

        @Test(arguments: [
            ("bytes=0-99,200-299", [ByteRange(0, 100), ByteRange(200, 300)]),
            ("bytes=0-0,-1", [ByteRange(0, 1), ByteRange(99_999, 100_000)]),
            (
                "bytes=70000-70009, 10-19 ,, 32767-32768",
                [
                    ByteRange(70_000, 70_010), ByteRange(10, 20), ByteRange(32_767, 32_769),
                ]
            ),
            // Parts that touch are two all the same; one past the end is left out, one that runs past it is clipped.
            ("bytes=0-9,10-19", [ByteRange(0, 10), ByteRange(10, 20)]),
            ("bytes=5-6,999999-,90000-999999", [ByteRange(5, 7), ByteRange(90_000, 100_000)]),
        ])
        func `several ranges come as parts in the order asked for, cold and warm, inv09`(
            field: String, ranges: [ByteRange]
        ) async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                var boundaries: Set<String> = []
                for _ in 0..<2 {
                    let answer = try await fixture.ask("/a.mp3", [("Range", field)])
                    try expect(answer, ranges, of: content)
                    boundaries.insert(answer.fields["Content-Type"] ?? "")
                    await fixture.waitUntilQuiet()
                }
                #expect(boundaries.count == 2, "a boundary was used twice")
                try await fixture.ask("/a.mp3").expect(ByteRange(0, Self.length), of: content, status: 200)
                try expect(await fixture.ask("/a.mp3", [("Range", field)]), ranges, of: content)
            }
        }

        @Test func `sixteen parts are served and seventeen get the whole`() async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                let ranges = (0..<17).map { ByteRange($0 * 3000, $0 * 3000 + 100) }
                func field(_ count: Int) -> String {
                    "bytes="
                        + ranges.prefix(count).map { "\($0.lowerBound)-\($0.upperBound - 1)" }
                        .joined(separator: ",")
                }
                try expect(
                    await fixture.ask("/a.mp3", [("Range", field(16))]), Array(ranges.prefix(16)), of: content)
                let whole = try await fixture.ask("/a.mp3", [("Range", field(17))])
                whole.expect(ByteRange(0, Self.length), of: content, status: 200)
            }
        }

        @Test(arguments: [
            "bytes=0-10,10-20", "bytes=50-60,0-99", "bytes=0-,5-6", "bytes=-100000,0-0", "bytes=-1,-1",
            "bytes=0-49999,50000-",
        ])
        func `overlapping parts, and parts that cost more than the whole, get the whole`(field: String) async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                for _ in 0..<2 {
                    let answer = try await fixture.ask("/a.mp3", [("Range", field)])
                    answer.expect(ByteRange(0, Self.length), of: content, status: 200)
                }
            }
        }

        @Test(arguments: [("bytes=999999-,7-9", 7, 10), ("bytes=-0,7-9", 7, 10), ("bytes=100000-,-1", 99_999, 100_000)])
        func `one part that can be had is a plain 206`(field: String, start: Int64, end: Int64) async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                for _ in 0..<2 {
                    let answer = try await fixture.ask("/a.mp3", [("Range", field)])
                    answer.expect(ByteRange(start, end), of: content, status: 206)
                }
            }
        }

        @Test func `parts of which none can be had are 416, cold and warm`() async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/a.mp3")
                for field in ["bytes=100000-,200000-200001", "bytes=-0,100000-"] {
                    for _ in 0..<2 {
                        let answer = try await fixture.ask("/a.mp3", [("Range", field)])
                        #expect(answer.status == 416)
                        #expect(answer.fields["Content-Range"] == "bytes */100000")
                    }
                }
                fixture.put("/empty.mp3", length: 0)
                let empty = try await fixture.ask("/empty.mp3", [("Range", "bytes=0-1,5-6")])
                #expect(empty.status == 416)
            }
        }

        @Test func `conditions come before parts and HEAD knows none`() async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3")
                let ranges = ("Range", "bytes=0-9,20-29")
                let head = try await fixture.ask("/a.mp3", method: "HEAD", [ranges])
                #expect(head.status == 200)
                #expect(head.fields["Content-Length"] == "100000")
                let tag = try #require(head.fields["ETag"])
                let matching = try await fixture.ask("/a.mp3", [ranges, ("If-Range", tag)])
                try expect(matching, [ByteRange(0, 10), ByteRange(20, 30)], of: content)
                #expect(matching.fields["ETag"] == tag)
                let other = try await fixture.ask("/a.mp3", [ranges, ("If-Range", "\"x\"")])
                other.expect(ByteRange(0, Self.length), of: content, status: 200)
                #expect(try await fixture.ask("/a.mp3", [ranges, ("If-None-Match", tag)]).status == 304)
                #expect(try await fixture.ask("/a.mp3", [ranges, ("If-Match", "\"x\"")]).status == 412)
            }
        }

        @Test func `an unknown length is never cut into parts`() async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3") {
                    $0.framing = .chunked
                    $0.ranges = .ignored
                    // The end, and with it the length, comes after the head has gone out.
                    $0.bytesPerSecond = 200_000
                }
                let answer = try await fixture.ask("/a.mp3", [("Range", "bytes=0-9,20-29")])
                #expect(answer.status == 200)
                #expect(content.firstMismatch(answer.body, at: 0) == nil)
                #expect(answer.body.count == 100_000)
            }
        }

        @Test func `after parts the connection is at the next answer's first byte`() async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/large.mp3", length: 4 << 20)
                let client = try await fixture.connect()
                let head = RawClient.head(
                    fixture.target("/large.mp3"), [("Range", "bytes=3000000-3999999,0-1999999,-70000")])
                let next = RawClient.head(fixture.target("/large.mp3"), [("Range", "bytes=3-5")])
                for _ in 0..<2 {
                    try await client.send(head + next)
                    let ranges = [
                        ByteRange(3_000_000, 4_000_000), ByteRange(0, 2_000_000),
                        ByteRange((4 << 20) - 70_000, 4 << 20),
                    ]
                    try expect(await client.readAnswer(), ranges, of: content)
                    try await client.readAnswer().expect(ByteRange(3, 6), of: content, status: 206)
                }
            }
        }

        @Test func `parts cost the origin little more than their bytes, and nothing the second time, inv10`()
            async throws
        {
            try await ProxyFixture.run { fixture in
                fixture.put("/large.mp3", length: 8 << 20)
                for _ in 0..<2 {
                    let field = "bytes=0-9999,4000000-4009999,8000000-8009999"
                    let answer = try await fixture.ask("/large.mp3", [("Range", field)])
                    #expect(answer.status == 206)
                    await fixture.waitUntilQuiet()
                    // A part begins and ends inside of blocks of 32 KiB.
                    #expect(fixture.origin.bodyBytes < 6 * 32 * 1024, "\(fixture.origin.bodyBytes) bytes")
                    #expect(fixture.origin.requestCount <= 3)
                }
            }
        }
    }
#endif
