import Foundation
import RepriseCore
import RepriseHTTP
import RepriseTesting
import RepriseURLSession
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Media that their origin delivers encrypted, through an app's own URLSession.
@Suite struct TransformTests {
    private static let length: Int64 = 900_001
    private static let keystream = PositionKeystream()

    /// Keeps these tests' requests apart from those of tests that run beside them.
    private final class Encrypted: CachingURLProtocol {}

    @Test func `what a session loads is decrypted, the first time and without the origin, whole and in ranges, inv13`()
        async throws
    {
        var cached = MediaCache.Configuration()
        cached.contentTransform = { _, url in url.pathExtension == "enc" ? Self.keystream : nil }
        let device = try Device(cache: cached)
        let content = PositionCodedContent(length: Self.length)
        device.origin.put(.init(content, before: Self.keystream), at: "/a.enc")
        let base = device.server.base
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        Encrypted.register(device.cache, in: configuration) { $0.url?.absoluteString.hasPrefix(base) == true }
        let session = URLSession(configuration: configuration)
        for isAgain in [false, true] {
            device.origin.setDown(isAgain)
            let (whole, _) = try await session.data(for: URLRequest(url: device.url("/a.enc")))
            #expect(Int64(whole.count) == Self.length)
            #expect(content.firstMismatch(whole, at: 0) == nil)
            var request = URLRequest(url: try device.url("/a.enc"))
            request.setValue("bytes=100001-500006", forHTTPHeaderField: "Range")
            let (part, response) = try await session.data(for: request)
            #expect((response as? HTTPURLResponse)?.statusCode == 206)
            #expect(part.count == 400_006)
            #expect(content.firstMismatch(part, at: 100_001) == nil)
        }
        #expect(device.origin.bodyBytes == Self.length)
    }
}
