import RepriseCore
import RepriseHTTP
import Testing

/// What requests that change something make of what is stored.
@Suite("Invalidating stored answers")
struct InvalidationRuleTests {
    private let url = OriginURL("http://a.example/music/one?x")!

    private func targets(_ method: String, _ status: Int = 200, _ fields: HTTPFields = [:]) -> [String] {
        InvalidationRule.targets(method: method, url: url, status: status, fields: fields).map(\.description)
    }

    @Test(arguments: ["GET", "HEAD", "OPTIONS", "TRACE"])
    func `a safe method invalidates nothing, RFC 9111 §4.4`(method: String) {
        #expect(targets(method, 200, ["Location": "/b"]).isEmpty)
    }

    @Test(arguments: ["PUT", "POST", "DELETE", "PATCH"])
    func `an unsafe method invalidates its target, RFC 9111 §4.4`(method: String) {
        #expect(targets(method) == ["http://a.example/music/one?x"])
    }

    @Test(arguments: ["PURGE", "get", ""])
    func `a method whose safety is not known invalidates its target, RFC 9111 §4.4`(method: String) {
        #expect(targets(method) == ["http://a.example/music/one?x"])
    }

    @Test(arguments: [200, 201, 204, 301, 303, 399])
    func `success and redirection invalidate, RFC 9111 §4.4`(status: Int) {
        #expect(targets("POST", status).count == 1)
    }

    @Test(arguments: [100, 400, 404, 500, 503])
    func `an error invalidates nothing, RFC 9111 §4.4`(status: Int) { #expect(targets("POST", status).isEmpty) }

    @Test(arguments: [nil, 404, 412, 500]) func `what may have been done unheard invalidates, RFC 9111 §4.4`(
        status: Int?
    ) {
        func targets(_ method: String) -> [OriginURL] {
            InvalidationRule.targets(
                method: method, url: url, status: status, fields: ["Location": "/two"], isOfSecondTry: status != nil)
        }
        #expect(targets("PUT") == [url] && targets("HEAD").isEmpty)
    }

    @Test func `Location on the same origin is invalidated, RFC 9111 §4.4`() {
        #expect(targets("POST", 201, ["Location": "/two"]).last == "http://a.example/two")
        #expect(targets("POST", 201, ["Location": "http://A.example:80/two"]).last == "http://a.example/two")
    }

    @Test func `Content-Location on the same origin is invalidated, RFC 9111 §4.4`() {
        #expect(targets("PUT", 200, ["Content-Location": "two"]).last == "http://a.example/music/two")
    }

    @Test(arguments: ["http://b.example/two", "https://a.example/two", "http://a.example:8080/two", "//b.example/two"])
    func `another origin is not invalidated, RFC 9111 §4.4`(location: String) {
        #expect(targets("POST", 201, ["Location": location, "Content-Location": location]).count == 1)
    }

    @Test func `the same URL by several names is invalidated once, RFC 9111 §4.4`() {
        #expect(targets("POST", 201, ["Location": "/two", "Content-Location": "/two"]).count == 2)
        #expect(targets("POST", 201, ["Location": "one?x"]).count == 1)
    }
}
