#if Server
    import RepriseCore
    import RepriseHTTP
    import RepriseRanges
    import RepriseStorage
    import RepriseTesting
    import Testing

    /// Media that their origin delivers encrypted, through the server.
    @Suite struct TransformTests {
        private static let length: Int64 = 3_000_001
        private static let keystream = PositionKeystream()
        private let content = PositionCodedContent(length: length)

        private func run(_ isSealed: Bool = false, _ body: (ProxyFixture) async throws -> Void) async throws {
            try await ProxyFixture.run { configuration in
                if isSealed { configuration.seal = Seal(SealKey([UInt8](repeating: 7, count: 32))!) }
                configuration.contentTransform = { _, url in url.pathExtension == "enc" ? Self.keystream : nil }
            } _: { fixture in
                var behaviour = OriginBehaviour()
                behaviour.extraFields["Repr-Digest"] = "sha-256=:AA==:"
                fixture.origin.put(.init(content, before: Self.keystream, behaviour), at: "/song.enc")
                try await body(fixture)
            }
        }

        private static let ranges: [(String, Int64, Int64)] = [
            ("bytes=0-0", 0, 1), ("bytes=0-1", 0, 2), ("bytes=1-", 1, length),
            ("bytes=777777-1888888", 777_777, 1_888_889),
            ("bytes=-3", length - 3, length), ("bytes=262143-262144", 262_143, 262_145),
            ("bytes=2999999-9999999", 2_999_999, length),
        ]

        @Test(arguments: [false, true])
        func `any range is decrypted, cold, warm and without the origin, inv09 inv13`(isSealed: Bool) async throws {
            try await run(isSealed) { fixture in
                for (field, start, end) in Self.ranges {
                    try await fixture.ask("/song.enc", [("Range", field)])
                        .expect(ByteRange(start, end), of: content, status: 206)
                }
                try await fixture.ask("/song.enc").expect(ByteRange(0, Self.length), of: content, status: 200)
                await fixture.waitUntilQuiet()
                fixture.origin.setDown(true)
                for (field, start, end) in Self.ranges {
                    try await fixture.ask("/song.enc", [("Range", field)])
                        .expect(ByteRange(start, end), of: content, status: 206)
                }
                let whole = try await fixture.ask("/song.enc")
                whole.expect(ByteRange(0, Self.length), of: content, status: 200)
                #expect(whole.fields["Repr-Digest"] == nil, "it is of the bytes before")
            }
        }

        @Test(arguments: [false, true])
        func `who asks ahead and takes little at a time gets every head and every byte, inv09`(
            isSealed: Bool
        ) async throws {
            try await run(isSealed) { fixture in
                try await fixture.ask("/song.enc").expect(ByteRange(0, Self.length), of: content, status: 200)
                await fixture.waitUntilQuiet()
                let client = try await fixture.connect(receiveBuffer: 4096)
                let starts = (0..<40).map { Int64($0) * 65_537 }
                let target = fixture.target("/song.enc")
                try await client.send(
                    starts.map { RawClient.head(target, [("Range", "bytes=\($0)-\($0 + 65_535)")]) }.joined())
                for start in starts {
                    try await client.readAnswer().expect(ByteRange(start, start + 65_536), of: content, status: 206)
                }
            }
        }

        @Test func `one beside it without a transform is sent as it is stored`() async throws {
            try await run { fixture in
                let plain = fixture.put("/plain.mp3", length: Self.length)
                for _ in 0..<2 {
                    try await fixture.ask("/plain.mp3").expect(ByteRange(0, Self.length), of: plain, status: 200)
                    try await fixture.ask("/song.enc").expect(ByteRange(0, Self.length), of: content, status: 200)
                    await fixture.waitUntilQuiet()
                }
                #expect(fixture.origin.bodyBytes == 2 * Self.length)
            }
        }

        @Test func `several parts are decrypted each at its place`() async throws {
            try await run { fixture in
                for _ in 0..<2 {
                    let answer = try await fixture.ask("/song.enc", [("Range", "bytes=7-106,2000001-2000100")])
                    #expect(answer.status == 206)
                    for start in [7, 2_000_001] as [Int64] {
                        let part = content.bytes(in: ByteRange(start, start + 100))
                        #expect(!answer.body.ranges(of: part).isEmpty)
                    }
                    await fixture.waitUntilQuiet()
                }
            }
        }
    }
#endif
