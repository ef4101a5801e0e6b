#if Server
    import Foundation
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import RepriseProxy
    import RepriseRanges

    func doorProxy(cache: MediaCache, origin: OriginURL) async throws -> (MediaProxy, String) {
        // snippet: door-proxy
        let proxy = try await MediaProxy.start(cache: cache)
        let address = proxy.address(for: origin)
        // end
        return (proxy, address)
    }

    func readmeReader(url: URL, use: (ArraySlice<UInt8>) -> Void) async throws {
        // snippet: readme-reader
        let cache = try MediaCache(directory: "/var/tmp/media", client: AsyncHTTPOriginClient())
        var reader = try cache.resource(for: url).reader(in: ByteRange(0, 1 << 20))
        while let chunk = try await reader.next() { use(chunk.bytes) }
        // end
    }
#endif
