import RepriseCore
import RepriseHTTP

extension FuzzTarget {
    /// Names of things: URLs, hosts, addresses.
    static let addressTargets = [
        FuzzTarget(
            "URLs",
            texts: [
                "http://u@h:80/a/../b?c#d", "https://[::1]:444/x.mp3", "../../g?y#s", "//h", "?q", "#f", "http:g",
                "https://h%41/%2e%2e/\u{E9}", "http://a:65536/", "http://a\\b", "http://a/b.\u{301}mp3",
                "http://a/b/\u{301}.mp3", "http://[]/", "http://[::1%25eth0]/", "http://[1.2.3.4]", "http://a]b/",
                "\u{301}/e\u{301}://", "",
            ]
        ) { text in
            let base = OriginURL("http://a/b/c/d;p?q")
            for read in [{ OriginURL($0) }, { base?.resolving($0) }] as [(String) -> OriginURL?] {
                try requireOctets(text) { read($0).map { "\($0) \($0.pathExtension ?? "")" } }
            }
            for url in [OriginURL(text), base?.resolving(text), OriginURL("http://" + text)] {
                guard let url else { continue }
                try require(OriginURL(url.description) == url, url.description)
                try require(url.target.utf8.first == 0x2F && !url.target.utf8.contains(0x23), url.target)
                try require(url.host.utf8.allSatisfy { !"/\\?#@ ".utf8.contains($0) } && !url.host.isEmpty, url.host)
                try require((1...65_535).contains(url.port), "\(url.port)")
                // What goes into a request's first line ends neither it nor its target.
                try require(url.target.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }, url.target.debugDescription)
                try require(url.authority.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }, url.authority.debugDescription)
                _ = (url.query, url.pathExtension, url.redacted)
                let rule = QueryRule(strip: ["utm_*"])
                let key = rule.applied(to: url.target)
                try require(rule.applied(to: key) == key, "\(url.target): \(key)")
            }
        },
        FuzzTarget(
            "addresses",
            texts: [
                "127.0.0.1", "0x7f.1", "2130706433", "017700000001", "::ffff:127.0.0.1", "[fe80::1%25eth0]", "::",
                "1::2::3",
                "64:ff9b::7f00:1", "10.0.0.0/8", "fd00::/8", "0.0.0.0/33", "*.example.com", "localhost:80", "a..b",
                "http://u:p%40@h:3128", "socks5://[::1]", "http://h/x", "0x\u{301}7f.1", "0\u{301}177.1",
                "[::0x\u{301}7f.0.0.1]", "http://u:\u{301}p@\u{301}h:1", "[]",
                "\u{301}x1x",
            ]
        ) { text in
            try requireOctets(text) { IPAddress($0).map { "\($0)" } }
            try requireOctets(text) { UpstreamPattern($0).map { "\($0)" } }
            try requireOctets(text) { UpstreamProxy($0).map { "\($0) \($0.credentials?.password ?? "")" } }
            let rules = UpstreamRules(denied: UpstreamPattern(text).map { [$0] } ?? [])
            _ = rules.verdict(host: text)
            if let address = IPAddress(text) {
                try require(IPAddress("\(address)") == address, "\(address)")
                _ = rules.refusal(of: address, host: text)
            }
            if let block = AddressBlock(text), let address = IPAddress(text.upTo("/")) {
                try require(block.contains(address), "\(text.debugDescription) is not in itself")
            }
            if let url = OriginURL("http://example.com/") {
                _ = try ProxySettings(environment: ["http_proxy": "http://p", "no_proxy": text]).proxy(for: url)
            }
            guard let proxy = UpstreamProxy(text) else { return }
            try require((1...65_535).contains(proxy.port) && !proxy.host.isEmpty, "\(proxy)")
            try require(UpstreamProxy("\(proxy)")?.host == proxy.host, "\(proxy)")
        },
    ]
}
