import RepriseHTTP
import Testing

@testable import RepriseCore

@Suite struct RedirectRuleTests {
    private static let url = OriginURL("https://cdn.test/a")!
    private static let fields: HTTPFields = [
        "Range": "bytes=5-", "If-Range": "\"one\"", "User-Agent": "player/1", "Authorization": "Bearer x",
        "Cookie": "user=1",
        "X-Api-Key": "secret", "Referer": "https://app.test/page", "Host": "cdn.test",
    ]

    private func rule() -> RedirectRule { RedirectRule(Self.url, Self.fields) }

    /// How many of these places are followed, one after the other, before one is not.
    private func followed(_ places: [String], limit: Int = RedirectRule.usualLimit) -> Int {
        var rule = RedirectRule(Self.url, Self.fields, limit: limit)
        return places.prefix { rule.follow($0) }.count
    }

    @Test(arguments: ["/b", "b", "https://cdn.test/b", "https://CDN.test:443/b"])
    func `within an origin everything goes along`(location: String) {
        var rule = rule()
        let isFollowed = rule.follow(location)
        #expect(isFollowed)
        #expect(rule.url == OriginURL("https://cdn.test/b"))
        #expect(rule.fields == Self.fields)
    }

    @Test(arguments: [
        "https://other.test/b", "//other.test/b", "http://cdn.test/b", "https://cdn.test:8443/b",
        "https://cdn.test.evil.test/b",
    ])
    func `to another origin goes only what says which bytes are wanted, also on the way back, inv29`(location: String) {
        var rule = rule()
        let isFollowed = rule.follow(location)
        #expect(isFollowed)
        let impersonal: HTTPFields = ["Range": "bytes=5-", "If-Range": "\"one\"", "User-Agent": "player/1"]
        #expect(rule.fields == impersonal)
        let isBack = rule.follow("https://cdn.test/back")
        #expect(isBack)
        #expect(rule.fields == impersonal)
    }

    @Test func `circles, ways without end and places that are none end`() {
        #expect(followed(["/b", "/c", "/a"]) == 2)
        #expect(followed(["/1", "/2", "/3", "/4"], limit: 3) == 3)
        #expect(followed(["https://"]) == 0)
        // What is no place of HTTP's is a path (RFC 3986 §5.2), which the origin does not have.
        for place in ["ftp://cdn.test/a", "javascript:alert(1)", "file:///etc/passwd"] {
            var rule = rule()
            _ = rule.follow(place)
            #expect(rule.url.hasOrigin(of: Self.url))
        }
    }

    @Test func `only a redirect with a place leads anywhere`() {
        let fields: HTTPFields = ["Location": "/b"]
        #expect([301, 302, 303, 307, 308].allSatisfy { RedirectRule.location($0, fields) == "/b" })
        #expect([200, 201, 300, 304, 305, 306, 399].allSatisfy { RedirectRule.location($0, fields) == nil })
        #expect(RedirectRule.location(302, [:]) == nil)
    }

    @Test func `what HTTP does not allow in a head is told`() {
        func breach(_ status: Int, _ fields: HTTPFields = [:]) -> String? {
            OriginResponseHead(status: status, fields: fields).breach
        }
        #expect([200, 299, 304, 416, 599, 999].allSatisfy { breach($0) == nil })
        #expect([0, 99, 100, 101, 199].allSatisfy { breach($0) != nil })
        for coding in ["chunked", "Chunked", "identity", "identity, chunked"] {
            #expect(breach(200, ["Transfer-Encoding": coding]) == nil)
        }
        for coding in ["gzip, chunked", "gzip", "chunked, br", "x"] {
            #expect(breach(206, ["Transfer-Encoding": coding])?.contains("transfer coding") == true)
        }
    }
}
