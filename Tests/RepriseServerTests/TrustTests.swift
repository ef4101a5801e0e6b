#if Server
    import Foundation
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseTesting
    import Testing

    /// TLS: who cannot prove who they are is not asked for bytes.
    @Suite struct TrustTests {
        @Test func `a self-signed origin is refused as untrusted and the client is told 502, bug19`() async throws {
            let origin = try SecureOrigin()
            let url = "https://127.0.0.1:\(origin.port)/a.mp3"
            // The server itself is in order: who trusts its certificate gets an answer.
            let certificate = origin.directory.path + "/certificate.pem"
            #expect(
                try SecureOrigin.run("curl", ["-sS", "--fail", "--cacert", certificate, url]).contains("s_server"))

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

        /// What is wrong with a secure connection, and what is said of it.
        struct Trouble: Sendable, CustomTestStringConvertible {
            var name = "IP:127.0.0.1"
            var days = 2
            var options: [String] = []
            let words: String
            var error = "tls_certificate_error"

            var testDescription: String { words }
        }

        @Test(arguments: [
            Trouble(name: "DNS:other.test", words: "the certificate of 127.0.0.1 is for another name"),
            Trouble(days: -1, words: "the certificate of 127.0.0.1 is not to be trusted: it has expired, or"),
            Trouble(
                options: ["-tls1_2", "-cipher", "AES256-SHA256"],
                words: "no secure connection to 127.0.0.1 can be made: it offers nothing that is spoken here",
                error: "tls_protocol_error"),
        ])
        func `what is wrong with a secure connection is said in one sentence`(trouble: Trouble) async throws {
            let origin = try SecureOrigin(name: trouble.name, days: trouble.days, options: trouble.options)
            let authorities = try TrustedAuthorities(file: origin.directory.path + "/certificate.pem")
            try await ProxyFixture.run(authorities: authorities) { fixture in
                let answer = try await fixture.send("GET", "/secret/https/127.0.0.1:\(origin.port)/a.mp3")
                #expect(answer.status == 502)
                #expect(answer.text.hasPrefix(trouble.words), "\(answer.text)")
                let status = answer.fields["Proxy-Status"]
                #expect(status?.hasPrefix("reprise; error=\(trouble.error); details=") == true, "\(status ?? "none")")
                #expect(!answer.text.contains("boringssl") && !answer.text.contains(".cc"), "\(answer.text)")
            }
            origin.stop()
        }

        @Test func `an origin that given authorities vouch for is asked, and one that speaks no TLS is told apart`()
            async throws
        {
            let origin = try SecureOrigin()
            let certificate = origin.directory.path + "/certificate.pem"
            try await ProxyFixture.run(authorities: try TrustedAuthorities(file: certificate)) { fixture in
                let answer = try await fixture.send("GET", "/secret/https/127.0.0.1:\(origin.port)/a.mp3")
                #expect(answer.status == 200 && answer.text.contains("s_server"), "\(answer.text)")
                let plain = try await fixture.send("GET", "/secret/https/127.0.0.1:\(fixture.server.port)/a.mp3")
                #expect(plain.status == 502)
                #expect(plain.text.hasPrefix("127.0.0.1 does not speak TLS on that port; is it http, not https?"))
                #expect(plain.fields["Proxy-Status"]?.hasPrefix("reprise; error=tls_protocol_error; details=") == true)
            }
            origin.stop()
        }

        @Test func `a file that names no authorities is refused in one sentence`() throws {
            let directory = TemporaryDirectory()
            let path = directory.path + "/none.pem"
            for bytes in [nil, [], Array("no certificate".utf8)] as [[UInt8]?] {
                if let bytes { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
                let error = #expect(throws: TrustedAuthorities.Unusable.self) { try TrustedAuthorities(file: path) }
                #expect(error?.description.hasPrefix(path + " holds no certificates that can be read;") == true)
            }
        }
    }
#endif
