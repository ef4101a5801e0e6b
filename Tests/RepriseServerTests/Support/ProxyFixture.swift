#if Server
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseProxy
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// An origin, a cache and a proxy, all on sockets of this machine, for one test.
    struct ProxyFixture {
        static let token = "secret"

        let origin: ScriptedOrigin
        let server: LoopbackOrigin
        let cache: MediaCache
        let proxy: MediaProxy
        private let client: AsyncHTTPOriginClient
        private let directory: TemporaryDirectory

        /// Runs `body` with a fixture and takes it down afterwards.
        /// - Parameters:
        ///   - cache: Changes the cache's configuration.
        ///   - proxy: Changes the proxy's configuration.
        ///   - edge: Name of the node, where it is a shared cache in front of the origin.
        ///   - base: Another origin for that cache than the fixture's.
        ///   - mirrors: Further origins of that cache.
        ///   - connections: Connections to one host at a time.
        ///   - authorities: Who vouches for origins, in place of the system's.
        static func run(
            cache change: (inout MediaCache.Configuration) -> Void = { _ in },
            proxy changeProxy: (inout ProxyConfiguration) -> Void = { _ in },
            edge: String? = nil,
            origin base: OriginURL? = nil,
            mirrors: [OriginURL] = [],
            connections: Int = 16,
            authorities: TrustedAuthorities? = nil,
            _ body: (ProxyFixture) async throws -> Void
        ) async throws {
            var cacheConfiguration = MediaCache.Configuration()
            change(&cacheConfiguration)
            var configuration = ProxyConfiguration()
            configuration.token = token
            configuration.threads = 1
            configuration.shutdownTimeout = 1
            changeProxy(&configuration)
            let origin = ScriptedOrigin()
            let directory = TemporaryDirectory()
            let server = try await LoopbackOrigin.start(origin)
            if let edge, let base = base ?? OriginURL(server.url("")) {
                configuration.token = nil
                configuration.edge = EdgeRole(origin: base, name: edge, mirrors: mirrors)
                cacheConfiguration.mirrors = [base] + mirrors
                cacheConfiguration.freshness = .http
                cacheConfiguration.followsRedirects = false
                cacheConfiguration.keys = .exact
            }
            let client = AsyncHTTPOriginClient(connections: connections, authorities: authorities)
            let cache = try MediaCache(directory: directory.path, client: client, configuration: cacheConfiguration)
            let proxy = try await MediaProxy.start(cache: cache, configuration: configuration)
            let fixture = ProxyFixture(
                origin: origin, server: server, cache: cache, proxy: proxy, client: client, directory: directory)
            let result: Result<Void, any Error>
            do {
                try await body(fixture)
                result = .success(())
            } catch {
                let sessions = cache.openEntries.map(\.explanation).joined(separator: "\n")
                Issue.record("open when it failed:\n\(sessions)\n\(origin.requestCount) requests")
                result = .failure(error)
            }
            await proxy.stop()
            await cache.close()
            try? await client.shutdown()
            await server.stop()
            try result.get()
        }

        /// Puts position-coded content at `path`.
        @discardableResult
        func put(
            _ path: String, length: Int64 = 100_000, _ change: (inout OriginBehaviour) -> Void = { _ in }
        ) -> PositionCodedContent {
            var behaviour = OriginBehaviour()
            change(&behaviour)
            let content = PositionCodedContent(length: length)
            origin.put(.init(content, behaviour), at: path)
            return content
        }

        /// The proxy's target for a path at the origin.
        func target(_ path: String) -> String { "/\(ProxyFixture.token)/http/127.0.0.1:\(server.port)\(path)" }

        func connect(receiveBuffer: Int? = nil) async throws -> RawClient {
            try await RawClient.connect(port: proxy.port, receiveBuffer: receiveBuffer)
        }

        /// One request on a connection of its own.
        func ask(_ path: String, method: String = "GET", _ fields: [(String, String)] = []) async throws -> RawAnswer {
            try await send(method, target(path), fields)
        }

        /// The same by its target, with a body or none, to the proxy or to what listens on another port.
        func send(
            _ method: String, _ target: String, _ fields: [(String, String)] = [], body: String? = nil, port: Int? = nil
        ) async throws -> RawAnswer {
            let client = try await RawClient.connect(port: port ?? proxy.port)
            let framing = body.map { [("Content-Length", "\($0.utf8.count)")] } ?? []
            try await client.send(RawClient.head(target, method: method, fields + framing) + (body ?? ""))
            let answer = try await client.readAnswer(isBodyless: method == "HEAD")
            await client.close()
            return answer
        }

        /// Waits until the cache has neither readers nor transfers, and what they brought is on the disk.
        func waitUntilQuiet(_ location: SourceLocation = #_sourceLocation) async {
            let cache = cache
            let isQuiet = await eventually {
                cache.activity == (0, 0) && !cache.openEntries.contains(where: \.isStoring)
            }
            #expect(isQuiet, "readers and transfers are left: \(cache.activity)", sourceLocation: location)
        }
    }

    extension RawAnswer {
        /// Checks that the body is `range` of `content` and that the head says so.
        func expect(
            _ range: ByteRange, of content: PositionCodedContent, status expected: Int,
            _ location: SourceLocation = #_sourceLocation
        ) {
            #expect(status == expected, "\(text.prefix(200))", sourceLocation: location)
            #expect(Int64(body.count) == range.count, sourceLocation: location)
            #expect(content.firstMismatch(body, at: range.lowerBound) == nil, sourceLocation: location)
            #expect(fields["Content-Length"] == "\(range.count)", sourceLocation: location)
            let field = ContentRange.satisfied(range, total: content.length).field
            #expect(fields["Content-Range"] == (expected == 206 ? field : nil), sourceLocation: location)
        }
    }
#endif
