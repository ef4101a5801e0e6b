import RepriseCore
import RepriseHTTP
import Testing

/// What a shared cache stores and gives to others.
@Suite("Storing an answer")
struct StoringTests {
    private func refusal(
        _ control: String? = nil, _ more: HTTPFields = [:], to request: HTTPFields = [:], method: String = "GET",
        status: Int = 200
    ) -> StoringRule.Refusal? {
        var fields = more
        fields["Cache-Control"] = control
        return StoringRule.refusal(method: method, status: status, fields: fields, request: request)
    }

    @Test func `a plain answer to GET is stored, RFC 9111 §3`() {
        #expect(refusal() == nil && refusal("max-age=9") == nil && refusal("public") == nil)
    }

    @Test(arguments: ["POST", "PUT", "HEAD", "OPTIONS", "PROPFIND", "get"])
    func `an answer to another method is not stored, RFC 9111 §3`(method: String) {
        #expect(refusal("max-age=9", method: method) == .method)
    }

    @Test(arguments: [201, 302, 307, 400, 403, 500, 503, 599, 299])
    func `another status is stored where it says how long it is good, RFC 9111 §3`(status: Int) {
        #expect(refusal(status: status) == .status && refusal("no-cache", status: status) == .status)
        #expect(refusal("max-age=9", status: status) == nil && refusal("public", status: status) == nil)
        #expect(refusal(nil, ["Expires": "0"], status: status) == nil && refusal("s-maxage=9", status: status) == nil)
    }

    @Test(arguments: [428, 429, 431, 511])
    func `a status about one client's requests is never stored, RFC 6585 §3 to §6`(status: Int) {
        #expect(refusal("public, max-age=9", status: status) == .status)
    }

    @Test(arguments: [203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
    func `some statuses need not say that, RFC 9110 §15.1`(status: Int) { #expect(refusal(status: status) == nil) }

    @Test func `203 is stored like 200, RFC 9110 §15.3.4`() { #expect(refusal(status: 203) == nil) }

    @Test func `no-store is not stored, RFC 9111 §5.2.2.5`() {
        #expect(refusal("no-store") == .noStore && refusal("max-age=9, NO-STORE") == .noStore)
        #expect(refusal("public, no-store") == .noStore)
    }

    @Test func `an answer to a request with no-store is not stored, RFC 9111 §5.2.1.5`() {
        #expect(refusal("max-age=9", to: ["Cache-Control": "no-store"]) == .requestNoStore)
    }

    @Test func `private is not stored by a shared cache, RFC 9111 §5.2.2.7`() {
        #expect(refusal("private") == .isPrivate && refusal("private, max-age=9") == .isPrivate)
    }

    @Test func `what lists fields keeps those alone, RFC 9111 §5.2.2.4 and §5.2.2.7`() {
        #expect(refusal("private=\"X-User\", max-age=9") == nil)
        let fields: HTTPFields = [
            "Cache-Control": "private=\"X-User\", no-cache=\"x-b\"", "X-USER": "1", "X-B": "2", "X-C": "3",
        ]
        #expect(StoringRule.kept(fields).lines.map(\.name) == ["Cache-Control", "X-C"])
    }

    @Test func `private wins over public, RFC 9111 §4.2.1`() {
        #expect(refusal("private, public", to: ["Authorization": "x"]) == .isPrivate)
    }

    @Test func `no-cache is stored, RFC 9111 §5.2.2.4`() { #expect(refusal("no-cache") == nil) }

    @Test func `must-understand beside no-store is stored where the status is understood, RFC 9111 §5.2.2.3`() {
        #expect(refusal("must-understand, no-store") == nil)
        #expect(refusal("must-understand, no-store", status: 404) == nil)
        #expect(refusal("must-understand, no-store", status: 599) == .status)
        #expect(refusal("must-understand, max-age=9", status: 599) == .status)
    }

    @Test func `an answer to a request with Authorization is not stored, RFC 9111 §3.5`() {
        #expect(refusal(to: ["Authorization": "x"]) == .authorization)
        #expect(refusal("max-age=9", to: ["authorization": "x"]) == .authorization)
        #expect(refusal("proxy-revalidate", to: ["Authorization": "x"]) == .authorization)
    }

    @Test func `an answer to a request with Authorization is stored with public, RFC 9111 §3.5 and §5.2.2.9`() {
        #expect(refusal("public", to: ["Authorization": "x"]) == nil)
    }

    @Test func `an answer to a request with Authorization is stored with s-maxage, RFC 9111 §3.5 and §5.2.2.10`() {
        #expect(refusal("s-maxage=9", to: ["Authorization": "x"]) == nil)
    }

    @Test func `an answer to a request with Authorization is stored with must-revalidate, RFC 9111 §3.5`() {
        #expect(refusal("must-revalidate", to: ["Authorization": "x"]) == nil)
    }

    @Test func `an answer that sets a cookie is stored only with public, and without it, RFC 9111 §7.3 and inv29`() {
        #expect(refusal("max-age=9", ["Set-Cookie": "a=b"]) == .setsCookie)
        #expect(refusal("public", ["Set-Cookie": "a=b"]) == nil)
        let kept = StoringRule.kept(["Cache-Control": "public", "Set-Cookie": "a=b", "set-cookie2": "c", "X-A": "1"])
        #expect(kept == ["Cache-Control": "public", "X-A": "1"])
    }

    @Test func `an answer to a request with a cookie is stored only with public, inv29`() {
        #expect(refusal("max-age=9", to: ["Cookie": "a=b"]) == .cookie)
        #expect(refusal("s-maxage=9", to: ["Cookie": "a=b"]) == .cookie)
        #expect(refusal("public", to: ["Cookie": "a=b"]) == nil)
    }

    @Test func `an answer that varies by everything is not stored, RFC 9111 §4.1`() {
        #expect(refusal("max-age=9", ["Vary": "*"]) == .variesByAll)
        #expect(refusal("max-age=9", ["Vary": "Accept, *"]) == .variesByAll)
    }

    @Test func `an answer that varies by a field is stored, RFC 9111 §4.1`() {
        #expect(refusal(nil, ["Vary": "Accept"]) == nil)
    }

    @Test func `a part is stored where it says which part it is, RFC 9111 §3.3`() {
        #expect(refusal(nil, ["Content-Range": "bytes 0-9/100"], status: 206) == nil)
        #expect(refusal(nil, ["Content-Range": "bytes 0-9/*"], status: 206) == nil)
    }

    @Test func `a part that cannot be read is not stored, RFC 9111 §3.3`() {
        #expect(refusal(status: 206) == .range)
        #expect(refusal(nil, ["Content-Range": "bytes */100"], status: 206) == .range)
        #expect(refusal(nil, ["Content-Range": "seconds 0-9/100"], status: 206) == .range)
        #expect(refusal(nil, ["Content-Type": "multipart/byteranges; boundary=x"], status: 206) == .range)
    }
}
