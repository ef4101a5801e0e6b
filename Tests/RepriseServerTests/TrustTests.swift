#if Server
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import RepriseTesting
    import Testing

    /// TLS: who cannot prove who they are is not asked for bytes.
    @Suite struct TrustTests {
        @Test func `a self-signed origin is refused as untrusted and the client is told 502, bug19`() async throws {
            let origin = try SelfSignedOrigin()
            let url = "https://127.0.0.1:\(origin.port)/a.mp3"
            // The server itself is in order: who trusts its certificate gets an answer.
            let certificate = origin.directory.path + "/certificate.pem"
            #expect(
                try SelfSignedOrigin.run("curl", ["-sS", "--fail", "--cacert", certificate, url]).contains("s_server"))

            let client = AsyncHTTPOriginClient()
            let exchange = OriginRequest(url: try #require(OriginURL(url)), fields: [:])
            let failure = await withCheckedContinuation { done in
                let once = FirstEvent { done.resume(returning: $0) }
                let started = client.start(exchange) { once.take($0) }
                withExtendedLifetime(started) {}
            }
            guard case .failed(let failure) = failure else {
                Issue.record("an answer came: \(failure)")
                return
            }
            #expect(failure.kind == .untrusted)
            try await client.shutdown()

            try await ProxyFixture.run { fixture in
                let client = try await fixture.connect()
                try await client.request("/secret/https/127.0.0.1:\(origin.port)/a.mp3")
                let answer = try await client.readAnswer()
                #expect(answer.status == 502)
                #expect(answer.text.hasPrefix("the certificate of 127.0.0.1 is not to be trusted"))
                #expect(
                    answer.fields["Proxy-Status"]?.hasPrefix("reprise; error=tls_certificate_error; details=") == true)
            }
            origin.stop()
        }
    }
#endif
