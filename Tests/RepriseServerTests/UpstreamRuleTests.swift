#if Server
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseTesting
    import Testing

    /// The rules of who may be asked, on real connections.
    @Suite struct UpstreamRuleTests {
        private func firstEvent(_ url: String, _ client: AsyncHTTPOriginClient) async throws -> OriginEvent {
            let request = OriginRequest(url: try #require(OriginURL(url)), fields: [:])
            return await withCheckedContinuation { done in
                let once = FirstEvent { done.resume(returning: $0) }
                let started = client.start(request) { once.take($0) }
                withExtendedLifetime(started) {}
            }
        }

        private func refusal(_ event: OriginEvent) throws -> String {
            guard case .failed(let failure) = event else {
                Issue.record("an answer came: \(event)")
                return ""
            }
            #expect(failure.kind == .refused, "\(failure)")
            return failure.message
        }

        private func rules(allow: [String] = [], deny: [String] = []) -> UpstreamRules {
            UpstreamRules(
                allowed: allow.compactMap { UpstreamPattern($0) }, denied: deny.compactMap { UpstreamPattern($0) })
        }

        @Test(arguments: [
            "http://169.254.169.254/latest/meta-data", "http://[::ffff:a9fe:a9fe]/",
            "https://metadata.google.internal/x",
            "http://0xa9fea9fe/", "http://2852039166:8080/", "http://[fe80::1%25lo]/",
        ])
        func `metadata services are refused before anything is connected`(url: String) async throws {
            let client = AsyncHTTPOriginClient()
            let message = try refusal(try await firstEvent(url, client))
            #expect(message.contains("may not be asked: refused by the rule"))
            #expect(message.contains("to allow it: --allow "))
            try await client.shutdown()
        }

        @Test func `a name is judged by the address it is connected to, and no request is sent there`() async throws {
            let origin = ScriptedOrigin()
            origin.put(.init(PositionCodedContent(length: 100)), at: "/a")
            let server = try await LoopbackOrigin.start(origin)
            let url = "http://localhost:\(server.port)/a"
            let client = AsyncHTTPOriginClient(rules: rules(deny: ["127.0.0.0/8", "::1"]))
            for _ in 0..<3 {
                let message = try refusal(try await firstEvent(url, client))
                #expect(message.hasPrefix("localhost, which leads to 127.0.0.1, may not be asked"), "\(message)")
            }
            #expect(origin.requestCount == 0)
            try await client.shutdown()
            // An allowed host is asked whatever its address; an allowed suffix opens names only.
            for (allowed, isAsked) in [("localhost", true), ("*", false)] {
                let client = AsyncHTTPOriginClient(rules: rules(allow: [allowed], deny: ["127.0.0.0/8", "::1"]))
                let event = try await firstEvent(url, client)
                if case .head(let head) = event { #expect(isAsked && head.status == 200) } else { #expect(!isAsked) }
                try await client.shutdown()
            }
            await server.stop()
        }

        @Test func `a redirect to a refused address is not followed, and the player is told 403 and why`() async throws
        {
            try await ProxyFixture.run { fixture in
                fixture.put("/moved") { $0.redirect = "http://169.254.169.254/latest/meta-data" }
                let moved = try await fixture.ask("/moved")
                #expect(moved.status == 403)
                #expect(moved.text.contains("169.254.169.254 may not be asked"), "\(moved.text)")
                let client = try await fixture.connect()
                try await client.request("/secret/http/0xa9fea9fe/x")
                let direct = try await client.readAnswer()
                #expect(direct.status == 403)
                #expect(direct.text.contains("--allow 169.254.169.254"), "\(direct.text)")
            }
        }

        @Test func `a redirect to another origin goes without what proves who asks`() async throws {
            let (first, second) = (ScriptedOrigin(), ScriptedOrigin())
            let other = try await LoopbackOrigin.start(second)
            let server = try await LoopbackOrigin.start(first)
            second.put(.init(PositionCodedContent(length: 100)), at: "/b")
            var behaviour = OriginBehaviour()
            behaviour.redirect = other.url("/b")
            first.put(.init(PositionCodedContent(length: 100), behaviour), at: "/a")
            let client = AsyncHTTPOriginClient()
            let request = OriginRequest(
                url: try #require(OriginURL(server.url("/a"))),
                fields: ["Authorization": "Basic x", "Cookie": "a=b", "X-Api-Key": "k", "User-Agent": "u"])
            let event = await withCheckedContinuation { done in
                let once = FirstEvent { done.resume(returning: $0) }
                let started = client.start(request) { once.take($0) }
                withExtendedLifetime(started) {}
            }
            guard case .head(let head) = event else { throw OriginFailure(.malformed, "\(event)") }
            #expect(head.status == 200)
            let fields = try #require(second.log.first?.fields)
            #expect(fields["Authorization"] == nil && fields["Cookie"] == nil && fields["X-Api-Key"] == nil)
            #expect(fields["User-Agent"] == "u")
            #expect(first.log.first?.fields["Authorization"] == "Basic x")
            try await client.shutdown()
            await server.stop()
            await other.stop()
        }
    }
#endif
