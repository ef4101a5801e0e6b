import RepriseHTTP
import Testing

@Suite struct UpstreamRulesTests {
    private func rules(allow: [String] = [], deny: [String] = []) throws -> UpstreamRules {
        UpstreamRules(
            allowed: try allow.map { try #require(UpstreamPattern($0)) },
            denied: try deny.map { try #require(UpstreamPattern($0)) })
    }

    private func isRefused(_ host: String, _ rules: UpstreamRules) -> Bool {
        if case .refused = rules.verdict(host: host) { true } else { false }
    }

    @Test(arguments: [
        "169.254.169.254", "169.254.1.1", "[fe80::1]", "[fe80::1%25eth0]", "[febf::1]", "[fd00:ec2::254]",
        "100.100.100.200",
        "metadata.google.internal", "Metadata.Google.Internal.", "0.0.0.0", "0", "[::]", "224.0.0.1", "239.1.2.3",
        "[ff02::1]", "255.255.255.255", "168.63.129.16",
        // The same in other spellings.
        "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "0xA9.254.43518", "169.254.169.254.",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]", "[0:0:0:0:0:ffff:a9fe:a9fe]", "%31%36%39.254.169.254", "[64:ff9b::a9fe:a9fe]",
        "[2002:a9fe:a9fe::1]", "[::a9fe:a9fe]", "0x0", "0251.0xfe.1.1",
        "169.254.169",
    ])
    func `what only a server can reach is refused in every spelling`(host: String) {
        #expect(isRefused(host, UpstreamRules()))
    }

    @Test(arguments: [
        "127.0.0.1", "[::1]", "localhost", "10.1.2.3", "192.168.1.1", "[fd12::1]", "192.0.2.1", "media.example",
        "100.100.100.201",
        "169.253.255.255", "169.255.0.0", "[fec0::1]", "223.255.255.255", "1.2.3.4.5", "metadata.example",
        "169.254.169.254.example", "[64:ff9b::c000:201]",
    ])
    func `loopback, private networks and everybody else may be asked`(host: String) {
        #expect(UpstreamRules().verdict(host: host) == .unlessAddressRefused)
    }

    @Test func `the narrowest rule decides, and where equal a given one, and a denial`() throws {
        let linkLocal = try rules(allow: ["169.254.0.0/16"])
        #expect(!isRefused("169.254.1.1", linkLocal))
        #expect(isRefused("169.254.169.254", linkLocal))
        #expect(!isRefused("169.254.169.254", try rules(allow: ["169.254.169.254"])))
        #expect(isRefused("169.254.1.1", try rules(allow: ["0.0.0.0/0"])))
        #expect(isRefused("10.0.0.1", try rules(allow: ["10.0.0.0/8"], deny: ["10.0.0.0/8"])))
        let hole = try rules(allow: ["10.1.0.0/16", "10.1.2.3"], deny: ["10.0.0.0/8", "10.1.2.0/24"])
        #expect(isRefused("10.2.0.1", hole))
        #expect(!isRefused("10.1.1.1", hole))
        #expect(isRefused("10.1.2.4", hole))
        #expect(!isRefused("10.1.2.3", hole))
    }

    @Test func `a name is decided by host, longest suffix, everything, and an allowed host whatever its address`()
        throws
    {
        let names = try rules(allow: ["*.example", "cdn.bad.example"], deny: ["*", "*.bad.example"])
        #expect(names.verdict(host: "media.example") == .unlessAddressRefused)
        #expect(isRefused("x.bad.example", names))
        #expect(names.verdict(host: "CDN.bad.example.") == .trusted)
        #expect(isRefused("example", names))
        #expect(isRefused("192.0.2.1", names))
        #expect(!isRefused("192.0.2.1", try rules(allow: ["192.0.2.0/24"], deny: ["*"])))
        #expect(try rules(allow: ["metadata.google.internal"]).verdict(host: "metadata.google.internal") == .trusted)
        #expect(isRefused("metadata.google.internal", try rules(allow: ["*.google.internal", "*"])))
    }

    @Test func `an address that a name leads to is decided by blocks alone`() throws {
        let metadata = try #require(IPAddress("169.254.169.254"))
        let refusal = try #require(UpstreamRules().refusal(of: metadata, host: "rebound.example"))
        #expect(
            refusal.description
                == "rebound.example, which leads to 169.254.169.254, may not be asked: refused by the rule metadata of cloud machines (169.254.169.254); to allow it: --allow 169.254.169.254"
        )
        let loopback = try #require(IPAddress("::ffff:127.0.0.1"))
        #expect(try rules(deny: ["127.0.0.0/8"]).refusal(of: loopback, host: "localhost") != nil)
        #expect(try rules(allow: ["*.example"], deny: ["*"]).refusal(of: loopback, host: "a.example") == nil)
        let translated = try #require(IPAddress("64:ff9b::192.0.2.1"))
        #expect(try rules(deny: ["192.0.2.1"]).refusal(of: translated, host: "x") != nil)
    }

    @Test(arguments: [
        "", "a b", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "fe80::/129", "http://x", "a/b", "*.", "*x", "a.*",
        "10.0.0.0/8/8", "[::1",
        "host:80", "a,b", "::ffff:10.0.0.0/95",
    ])
    func `what is no pattern is none`(text: String) {
        #expect(UpstreamPattern(text) == nil)
    }

    @Test(arguments: [
        ("10.1.2.3/8", "10.0.0.0/8"), ("fe80::1/10", "fe80::/10"), ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
        ("*.Example.", "*.example"),
        ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("[::1]", "::1"), ("0x7f.1", "127.0.0.1"), ("*", "*"),
        ("Host.", "host"),
        ("::/0", "::/0"), ("1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"),
    ])
    func `patterns have one spelling`(text: String, plain: String) {
        #expect(UpstreamPattern(text)?.description == plain)
    }

    @Test func `addresses of every length of prefix are told apart`() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let count = Bool.random(using: &random) ? 4 : 16
            let bytes = (0..<count).map { _ in UInt8.random(in: 1...255, using: &random) }
            let length = Int.random(in: 1...count * 8, using: &random)
            let address = try #require(IPAddress(bytes: bytes))
            #expect(IPAddress(address.description) == address)
            let block = try #require(AddressBlock("\(address)/\(length)"))
            #expect(block.contains(address), "\(block) \(address)")
            var other = bytes
            let bit = Int.random(in: 0..<count * 8, using: &random)
            other[bit / 8] ^= 0x80 >> UInt8(bit % 8)
            let neighbour = try #require(IPAddress(bytes: other))
            #expect(block.contains(neighbour) == (bit >= length), "\(block) bit \(bit)")
        }
    }
}
