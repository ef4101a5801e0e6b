#if Server
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import RepriseProxy
    import RepriseRanges
    import RepriseTesting
    import Testing

    /// Who may ask, and what goes on to the origin.
    @Suite struct AccessTests {
        @Test(arguments: [
            "/http/127.0.0.1/a", "/secreT/http/127.0.0.1/a", "/secret2/http/127.0.0.1/a", "/", "//", "*", "/secre",
        ])
        func `without the token nothing is served and nothing asked, bug20`(target: String) async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/a")
                let client = try await fixture.connect()
                try await client.request(target)
                let answer = try await client.readAnswer()
                #expect([400, 403].contains(answer.status))
                #expect(!answer.text.contains(ProxyFixture.token))
                #expect(fixture.origin.requestCount == 0)
            }
        }

        @Test(arguments: [
            [("Host", "evil.example")], [("Host", "127.0.0.1.evil.example")], [("Host", "evil.example:80")],
            [("Host", "127.0.0.1"), ("Host", "evil.example")], [("Host", "")],
        ])
        func `names of others are refused, bug20`(fields: [(String, String)]) async throws {
            try await ProxyFixture.run { fixture in
                fixture.put("/a.mp3")
                let client = try await fixture.connect()
                try await client.request(fixture.target("/a.mp3"), fields)
                let answer = try await client.readAnswer()
                #expect([400, 403].contains(answer.status))
                #expect(fixture.origin.requestCount == 0)
            }
        }

        @Test(arguments: [
            [("Host", "127.0.0.1:8080")], [("Host", "LOCALHOST")], [("Host", "[::1]:80")], [("Host", "music.test:80")],
            [("Sec-Fetch-Site", "same-origin")], [("Sec-Fetch-Site", "none")],
            [("Sec-Fetch-Site", "cross-site"), ("Origin", "https://friend.example")],
            [("Sec-Fetch-Site", "cross-site"), ("Origin", "null"), ("Referer", "https://page.example/")],
        ])
        func `our own names and friends are served`(fields: [(String, String)]) async throws {
            try await ProxyFixture.run(proxy: {
                $0.allowedHosts = ["music.test"]
                $0.allowedOrigins = ["https://friend.example"]
            }) { fixture in
                fixture.put("/a.mp3")
                let answer = try await fixture.ask("/a.mp3", fields)
                #expect(answer.status == 200)
            }
        }

        @Test func `it listens on loopback alone unless told otherwise, bug20`() {
            let configuration = ProxyConfiguration()
            #expect(configuration.host == "127.0.0.1")
            #expect(configuration.token?.utf8.count == 32)
            #expect(configuration.token != ProxyConfiguration().token)
        }

        @Test func `the same port can be asked for again after a stop, so players' addresses stay good, bug20`()
            async throws
        {
            try await ProxyFixture.run { fixture in
                fixture.put("/a.mp3")
                #expect(try await fixture.ask("/a.mp3").status == 200)
                let port = fixture.proxy.port
                await fixture.proxy.stop()
                var configuration = ProxyConfiguration()
                configuration.port = port
                configuration.token = ProxyFixture.token
                configuration.threads = 1
                let again = try await MediaProxy.start(cache: fixture.cache, configuration: configuration)
                #expect(again.port == port)
                let client = try await RawClient.connect(port: port)
                try await client.request(fixture.target("/a.mp3"))
                #expect(try await client.readAnswer().status == 200)
                await again.stop()
            }
        }

        @Test(arguments: [
            "/a%20b.mp3", "/%C3%BC.mp3", "/a+b.mp3", "/a%2Bb.mp3", "/a;v=1.mp3", "/a%252Fb.mp3", "/a.mp3?",
            "/a%2fb.mp3",
            "/a.mp3?q=a+b%20c;d&e=%252F", "//double//slash.mp3", "/a/./b/../c.mp3", "/%7Etilde~.mp3",
            "/a.mp3?url=http%3A%2F%2Fh%2F", "/a:b@c!$&'()*,.mp3", "/?", "/a.mp3??",
        ])
        func `a URL reaches the origin byte for byte`(target: String) async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put(String(target.prefix { $0 != "?" }), length: 1000)
                let answer = try await fixture.ask(target)
                #expect(fixture.origin.log.map(\.target) == [target])
                answer.expect(ByteRange(0, 1000), of: content, status: 200)
            }
        }

        @Test(arguments: [
            ("/a%20b[1].mp3", "/a%20b%5B1%5D.mp3"), ("/a%2Fb|c.mp3?x={y}&z=%20", "/a%2Fb%7Cc.mp3?x=%7By%7D&z=%20"),
            ("/100%.mp3?a=%41", "/100%25.mp3?a=%41"), ("/%zz%20\"^`.mp3", "/%25zz%20%22%5E%60.mp3"),
        ])
        func `what no URL may hold is escaped, and nothing else is escaped twice`(target: String, sent: String)
            async throws
        {
            try await ProxyFixture.run { fixture in
                let content = fixture.put(String(sent.prefix { $0 != "?" }), length: 1000)
                let answer = try await fixture.ask(target)
                #expect(fixture.origin.log.map(\.target) == [sent])
                answer.expect(ByteRange(0, 1000), of: content, status: 200)
            }
        }

        @Test func `the query form serves the same resource as the path form`() async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a%20b.mp3", length: 1000)
                let client = try await fixture.connect()
                try await client.request(
                    "/secret/?url=http%3A%2F%2F127.0.0.1%3A\(fixture.server.port)%2Fa%2520b.mp3%3Fx%3D1&other=2")
                try await client.readAnswer().expect(ByteRange(0, 1000), of: content, status: 200)
                #expect(fixture.origin.log.map(\.target) == ["/a%20b.mp3?x=1"])
                _ = try await fixture.ask("/a%20b.mp3?x=1")
                #expect(fixture.origin.requestCount == 1)
            }
        }

        @Test func `Icy-MetaData and the client's codings stay here, its credentials go on`() async throws {
            try await ProxyFixture.run { fixture in
                let content = fixture.put("/a.mp3") { $0.icyMetadata = true }
                let answer = try await fixture.ask(
                    "/a.mp3",
                    [
                        ("Icy-MetaData", "1"), ("Accept-Encoding", "gzip, br"), ("Authorization", "Bearer x"),
                        ("Cookie", "a=b"),
                        ("User-Agent", "Lavf/59"), ("Accept-Language", "en_US"), ("Connection", "keep-alive, X-Hop"),
                        ("X-Hop", "1"), ("Referer", "http://127.0.0.1/secret/page"), ("X-Forwarded-For", "10.0.0.1"),
                    ])
                answer.expect(ByteRange(0, 100_000), of: content, status: 200)
                let sent = try #require(fixture.origin.log.first).fields
                #expect(sent.values(of: "Accept-Encoding") == ["identity"])
                #expect(sent["User-Agent"] == "Lavf/59")
                #expect(sent["Authorization"] == "Bearer x")
                #expect(sent["Cookie"] == "a=b")
                #expect(sent["Accept-Language"] == "en_US")
                for name in ["Icy-MetaData", "X-Hop", "Referer", "X-Forwarded-For"] { #expect(sent[name] == nil) }
                #expect(!sent.lines.contains { $0.value.contains(ProxyFixture.token) })
            }
        }
    }
#endif
