#if Server
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import RepriseProxy
    import RepriseTesting
    import Testing

    /// A fresh cache and a proxy in front of it.
    struct PlayStack {
        let cache: MediaCache
        let proxy: MediaProxy

        /// Runs `body` with a stack and takes it down afterwards.
        /// - Parameter change: Changes the proxy's configuration.
        static func run(
            proxy change: (inout ProxyConfiguration) -> Void = { _ in }, _ body: (PlayStack) async throws -> Void
        ) async throws {
            let directory = TemporaryDirectory()
            let client = AsyncHTTPOriginClient()
            let cache = try MediaCache(directory: directory.path, client: client)
            var configuration = ProxyConfiguration()
            configuration.threads = 1
            configuration.shutdownTimeout = 1
            change(&configuration)
            let proxy = try await MediaProxy.start(cache: cache, configuration: configuration)
            let result: Result<Void, any Error>
            do {
                try await body(PlayStack(cache: cache, proxy: proxy))
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await proxy.stop()
            await cache.close()
            try? await client.shutdown()
            withExtendedLifetime(directory) {}
            try result.get()
        }

        func address(_ url: String) throws -> String { proxy.address(for: try #require(OriginURL(url))) }

        /// Waits until the last play has let go of everything.
        func waitUntilQuiet(_ location: SourceLocation = #_sourceLocation) async {
            let cache = cache
            let isQuiet = await eventually {
                cache.activity == (0, 0) && !cache.openEntries.contains(where: \.isStoring)
            }
            #expect(isQuiet, "readers and transfers are left: \(cache.activity)", sourceLocation: location)
        }
    }
#endif
