import RepriseHTTP
import Testing

@Suite("Cache-Status")
struct CacheStatusTests {
    @Test func `a hit says so and how long it lasts, RFC 9211 §2.1 and §2.4`() {
        #expect(CacheStatus(ttl: 376).member(named: "reprise") == "reprise; hit; ttl=376")
    }

    @Test func `stale has a negative time to live, RFC 9211 §2.4`() {
        #expect(CacheStatus(ttl: -412).member(named: "reprise") == "reprise; hit; ttl=-412")
    }

    @Test(
        arguments: [
            (CacheStatus.Forward.bypass, "bypass"), (.method, "method"), (.uriMiss, "uri-miss"),
            (.varyMiss, "vary-miss"), (.miss, "miss"), (.request, "request"), (.stale, "stale"), (.partial, "partial"),
        ])
    func `what went on says why, RFC 9211 §2.2`(reason: CacheStatus.Forward, word: String) {
        #expect(CacheStatus(forward: reason).member(named: "c") == "c; fwd=\(word)")
    }

    @Test func `the origin's status is told where it differs, RFC 9211 §2.3`() {
        var status = CacheStatus(forward: .stale)
        status.forwardStatus = 304
        #expect(status.member(named: "c") == "c; fwd=stale; fwd-status=304")
    }

    @Test func `what was stored says so, RFC 9211 §2.5`() {
        var status = CacheStatus(forward: .uriMiss)
        status.isStored = true
        #expect(status.member(named: "c") == "c; fwd=uri-miss; stored")
    }

    @Test func `what joined another's request says so, RFC 9211 §2.6`() {
        var status = CacheStatus(forward: .uriMiss)
        status.isCollapsed = true
        #expect(status.member(named: "c") == "c; fwd=uri-miss; collapsed")
    }

    @Test func `a hit was not forwarded, stored or collapsed, RFC 9211 §2.1`() {
        var status = CacheStatus()
        status.isStored = true
        status.isCollapsed = true
        status.forwardStatus = 200
        #expect(status.member(named: "c") == "c; hit")
    }

    @Test func `the key is told only where it was asked for, as a string, RFC 9211 §2.7`() {
        var status = CacheStatus()
        #expect(!status.member(named: "c").contains("key"))
        status.key = "http://a/\"b\\"
        #expect(status.member(named: "c") == "c; hit; key=\"http://a/\\\"b\\\\\"")
        status.key = "http://a/\u{E9}"
        #expect(status.member(named: "c") == "c; hit", "a string holds ASCII only")
    }

    @Test func `the detail is a token where it can be, RFC 9211 §2.8`() {
        var status = CacheStatus()
        status.detail = "memory"
        #expect(status.member(named: "c") == "c; hit; detail=memory")
        status.detail = "origin down"
        #expect(status.member(named: "c") == "c; hit; detail=\"origin down\"")
    }

    @Test func `the cache's name is a token or a string, RFC 9211 §2`() {
        #expect(CacheStatus().member(named: "edge.example:8080") == "edge.example:8080; hit")
        #expect(CacheStatus().member(named: "8th edge") == "\"8th edge\"; hit")
    }

    @Test func `it stands behind the caches nearer the origin, RFC 9211 §2`() {
        let field = CacheStatus().appended(to: "origin-cache; fwd=miss", named: "c")
        #expect(field == "origin-cache; fwd=miss, c; hit")
        #expect(CacheStatus().appended(to: nil, named: "c") == "c; hit")
    }

    @Test func `an integer has at most fifteen digits, RFC 8941 §3.3.1`() {
        #expect(CacheStatus(ttl: .max).member(named: "c") == "c; hit; ttl=999999999999999")
        #expect(CacheStatus(ttl: .min).member(named: "c") == "c; hit; ttl=-999999999999999")
    }
}
