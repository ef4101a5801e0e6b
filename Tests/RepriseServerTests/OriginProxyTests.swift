#if Server
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseTesting
    import Testing

    /// Proxies between us and the origin, on real sockets.
    @Suite struct OriginProxyTests {
        private func firstEvent(_ url: String, _ client: AsyncHTTPOriginClient) async throws -> OriginEvent {
            let request = OriginRequest(url: try #require(OriginURL(url)), fields: ["Accept-Encoding": "identity"])
            return await withCheckedContinuation { done in
                let once = FirstEvent { done.resume(returning: $0) }
                let started = client.start(request) { once.take($0) }
                withExtendedLifetime(started) {}
            }
        }

        private func client(_ environment: [String: String], deny: [String] = []) throws -> AsyncHTTPOriginClient {
            AsyncHTTPOriginClient(
                rules: UpstreamRules(denied: deny.compactMap { UpstreamPattern($0) }),
                proxies: try ProxySettings(environment: environment))
        }

        @Test func `plain http is asked of the proxy by whole URLs, redirects and credentials included`() async throws {
            // An origin that knows whole targets is what a proxy looks like from here.
            let proxy = ScriptedOrigin()
            let server = try await LoopbackOrigin.start(proxy)
            var moved = OriginBehaviour()
            moved.redirect = "/b?c=%2B"
            proxy.put(.init(PositionCodedContent(length: 10), moved), at: "http://media.test:8080/a")
            proxy.put(.init(PositionCodedContent(length: 10)), at: "http://media.test:8080/b")
            let client = try client(
                ["http_proxy": "http://user:pass%20word@127.0.0.1:\(server.port)"], deny: ["127.0.0.0/8"])
            guard case .head(let head) = try await firstEvent("http://media.test:8080/a", client) else {
                Issue.record("no answer")
                return
            }
            #expect(head.status == 200)
            #expect(proxy.log.map(\.target) == ["http://media.test:8080/a", "http://media.test:8080/b?c=%2B"])
            for request in proxy.log {
                #expect(request.fields["Host"] == "media.test:8080")
                #expect(request.fields["Proxy-Authorization"] == "Basic dXNlcjpwYXNzIHdvcmQ=")
            }
            try await client.shutdown()
            await server.stop()
        }

        @Test func `https goes through a tunnel, and TLS is with the origin`() async throws {
            let origin = try SecureOrigin()
            let proxy = try await TunnelProxy.start()
            let client = try client(["https_proxy": "http://user:secret@127.0.0.1:\(proxy.port)"])
            guard case .failed(let failure) = try await firstEvent("https://media.test:\(origin.port)/a", client) else {
                Issue.record("an answer came")
                return
            }
            #expect(failure.kind == .untrusted, "\(failure)")
            let head = try #require(proxy.requests.first)
            #expect(head.hasPrefix("CONNECT media.test:\(origin.port) HTTP/1.1\r\n"))
            #expect(head.lowercased().contains("proxy-authorization: basic dxnlcjpzzwnyzxq="))
            try await client.shutdown()
            try await proxy.stop()
            origin.stop()
        }

        @Test func `rules hold before a proxy is asked, and one that fails is named without its password`() async throws
        {
            let proxy = try await TunnelProxy.start()
            let variable = "http://user:secret@127.0.0.1:\(proxy.port)"
            let client = try client(["all_proxy": variable, "no_proxy": "near.test"])
            for url in ["http://169.254.169.254/", "https://metadata.google.internal/"] {
                guard case .failed(let failure) = try await firstEvent(url, client) else { continue }
                #expect(failure.kind == .refused)
            }
            #expect(proxy.requests.isEmpty)
            let port = proxy.port
            try await proxy.stop()
            guard case .failed(let failure) = try await firstEvent("https://media.test/", client) else {
                Issue.record("an answer came")
                return
            }
            #expect(failure == OriginFailure(.unreachable, "the proxy http://127.0.0.1:\(port) cannot be reached"))
            try await client.shutdown()
        }
    }
#endif
