#if Server && os(Linux)
    import AVFoundation
    import Foundation
    import RepriseAVFoundation
    import RepriseCore
    import RepriseLoopbackOrigin
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// Two doors on one cache.
    @Suite struct SharedDoorTests {
        @Test func `a player behind the resource loader and one behind the server share one transfer, inv11`()
            async throws
        {
            let length: Int64 = 3_000_000
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3", length: length) { $0.bytesPerSecond = 6_000_000 }
                let url = try #require(URL(string: "http://127.0.0.1:\(fixture.server.port)/a.mp3"))
                let asset = fixture.cache.asset(for: url)
                let whole = ByteRange(0, length)
                async let answer = fixture.ask("/a.mp3")
                let probe = asset.resourceLoader.simulateRequest(offset: 0, length: 2)
                _ = try await probe.completion
                let request = asset.resourceLoader.simulateRequest(offset: 0)
                #expect(try await request.completion == .finished)
                #expect(content.firstMismatch(request.consume(), at: 0) == nil)
                try await answer.expect(whole, of: content, status: 200)
                await fixture.waitUntilQuiet()
                #expect(fixture.origin.bodyBytes <= length + 256 * 1024)
                // What one door paid for is free for the other.
                fixture.origin.resetLog()
                try await fixture.ask("/a.mp3", [("Range", "bytes=1000-")])
                    .expect(ByteRange(1000, length), of: content, status: 206)
                #expect(fixture.origin.requestCount == 0)
            }
        }
    }
#endif
