import RepriseHTTP
import Testing

@Suite struct ProxySettingsTests {
    private func proxy(_ environment: [String: String], _ url: String) throws -> String? {
        try ProxySettings(environment: environment).proxy(for: try #require(OriginURL(url))).map { "\($0)" }
    }

    @Test func `each scheme has its variable, all_proxy stands in, and lower case goes first`() throws {
        let both = ["http_proxy": "http://a:1", "https_proxy": "b:2", "HTTPS_PROXY": "c:3"]
        #expect(try proxy(both, "http://x/") == "http://a:1")
        #expect(try proxy(both, "https://x/") == "http://b:2")
        #expect(try proxy(["HTTPS_PROXY": "c:3"], "https://x/") == "http://c:3")
        #expect(try proxy(["HTTPS_PROXY": "c:3"], "http://x/") == nil)
        let all = ["all_proxy": "socks5h://d", "http_proxy": ""]
        #expect(try proxy(all, "https://x/") == "socks5://d:1080")
        #expect(try proxy(all, "http://x/") == nil)
        #expect(try proxy(["ALL_PROXY": "[::1]:80"], "http://x/") == "http://[::1]:80")
        #expect(try proxy([:], "http://x/") == nil)
    }

    @Test func `HTTP_PROXY in upper case may come from a request's field and is not read`() throws {
        #expect(try proxy(["HTTP_PROXY": "evil:1"], "http://x/") == nil)
    }

    @Test(arguments: [
        ("media.example", "media.example", true), ("media.example", "a.media.example", true),
        (".example", "media.example", true),
        ("*.example", "media.example", true), ("example", "counterexample", false), ("a, b", "b", true),
        ("a b", "b", true),
        ("*", "x", true), ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "11.1.2.3", false),
        ("fd00::/8", "[fd12::1]", true),
        ("192.0.2.1", "192.0.2.1", true), ("EXAMPLE.", "Media.Example.", true), ("", "x", false), (",,", "x", false),
        ("", "localhost", true), ("", "127.0.0.1", true), ("", "[::1]", true), ("", "0x7f.1", true),
        ("", "a.localhost", true),
    ])
    func `no_proxy and loopback are asked directly`(list: String, host: String, isDirect: Bool) throws {
        let environment = ["http_proxy": "p:1", "no_proxy": list]
        #expect(try (proxy(environment, "http://\(host)/") == nil) == isDirect)
    }

    @Test func `credentials are read, escapes undone, and never shown`() throws {
        let settings = try ProxySettings(environment: ["http_proxy": "http://us%40er:se:c%20ret@p:8080/"])
        let url = try #require(OriginURL("http://x/"))
        let proxy = try #require(settings.proxy(for: url))
        #expect(proxy.credentials?.user == "us@er" && proxy.credentials?.password == "se:c ret")
        #expect("\(proxy)" == "http://p:8080")
    }

    @Test(arguments: ["https://p:1", "socks4://p", "http://", "p:99999", "socks5://u:secret@p", "a b", "p:1:2"])
    func `a variable that names no proxy is an error without its value`(text: String) throws {
        let error = try #require(throws: ProxySettings.Malformed.self) {
            try ProxySettings(environment: ["all_proxy": text])
        }
        #expect(error.variable == "all_proxy")
        #expect(!error.description.contains("secret"))
    }
}
