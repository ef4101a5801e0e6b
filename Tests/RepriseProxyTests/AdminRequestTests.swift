import RepriseCore
import RepriseHTTP
import RepriseProxy
import RepriseRanges
import Testing

/// What an administrator can ask: the reading of method and target.
@Suite struct AdminRequestTests {
    private static let url = OriginURL("https://cdn.example/a b.mp3?sig=1&x=%2F".replacingSpace)!

    static let requests: [AdminRequest] = [
        .health, .statistics, .metrics, .activity, .entries, .entry(url), .remove(url), .removeAll, .pin(url),
        .unpin(url), .prefetch(url, .whole), .prefetch(url, .range(ByteRange(0, 100))),
        .prefetch(url, .range(.from(7))),
        .prefetch(url, .head), .prefetch(url, .seconds(9.5)), .prefetches,
        .prefetchProgress(3), .cancelPrefetch(3), .drain, .sweep, .repair(nil), .repair(url),
        .importFile(url, path: "/media/a song & more.mp3", ImportDescription()),
        .importFile(
            url, path: "/a",
            ImportDescription(
                contentType: "audio/mpeg", entityTag: "W/\"a&b=c\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")),
    ]

    @Test(arguments: requests) func `a request is read back from the line it is asked by`(
        _ request: AdminRequest
    ) throws {
        let line = request.line
        #expect(try AdminRequest(method: line.method, target: line.target) == request)
    }

    @Test(arguments: [
        ("GET", "/nothing", AdminRequest.Refusal.unknownPath),
        ("GET", "/prefetches/x", .unknownPath),
        ("GET", "", .unknownPath),
        ("POST", "/entries", .wrongMethod(allowed: "GET, DELETE")),
        ("DELETE", "/metrics", .wrongMethod(allowed: "GET")),
        ("DELETE", "/entries", .badParameter("url is not a percent-encoded http or https URL")),
        ("DELETE", "/entries?all=0", .badParameter("all is 1, for DELETE, and without url")),
        (
            "DELETE", "/entries?all=1&url=https%3A%2F%2Fx%2Fy",
            .badParameter("all is 1, for DELETE, and without url")
        ),
        ("GET", "/entries?url=%zz", .badParameter("url is given twice, or not percent-encoded")),
        ("GET", "/entries?key=x", .badParameter("the parameters are url, all")),
        ("POST", "/repairs?url=%zz", .badParameter("url is given twice, or not percent-encoded")),
        ("POST", "/repairs?url=https%3A%2F%2Fx%2Fy&url=", .badParameter("url is given twice, or not percent-encoded")),
        (
            "POST", "/prefetches?url=https%3A%2F%2Fx%2Fy&range=%zz",
            .badParameter("range is given twice, or not percent-encoded")
        ),
        (
            "POST", "/prefetches?url=https%3A%2F%2Fx%2Fy&second=9",
            .badParameter("the parameters are url, range, head, seconds")
        ),
        ("POST", "/prefetches?url=https%3A%2F%2Fx%2Fy&head=yes", .badParameter("head is 1")),
        ("POST", "/sweep?url=https%3A%2F%2Fx%2Fy", .badParameter("the parameters are none")),
        ("POST", "/drain?seconds=5", .badParameter("the parameters are none")),
        ("GET", "/prefetches?url=https%3A%2F%2Fx%2Fy", .badParameter("the parameters are none")),
        ("DELETE", "/prefetches/3?all=1", .badParameter("the parameters are none")),
        (
            "POST", "/prefetches?url=https%3A%2F%2Fx%2Fy&head=1&seconds=3",
            .badParameter("head, seconds and range are mutually exclusive")
        ),
        (
            "POST", "/prefetches?url=https%3A%2F%2Fx%2Fy&seconds=-1",
            .badParameter("seconds is not a number of at least 0")
        ),
        ("GET", "/entries?url=ftp%3A%2F%2Fx", .badParameter("url is not a percent-encoded http or https URL")),
        ("GET", "/repairs", .wrongMethod(allowed: "POST")),
        ("POST", "/repairs?url=x", .badParameter("url is not a percent-encoded http or https URL")),
        ("POST", "/imports?file=%2Fa", .badParameter("url is not a percent-encoded http or https URL")),
        (
            "POST", "/imports?url=https%3A%2F%2Fx%2Fy&file=a",
            .badParameter("file is not a percent-encoded absolute path")
        ),
        ("PUT", "/pins?url=%zz", .badParameter("url is given twice, or not percent-encoded")),
        (
            "POST", "/prefetches?url=https%3A%2F%2Fx%2Fy&range=5-2",
            .badParameter("range is not of the form FIRST-LAST or FIRST-")
        ),
        (
            "POST", "/prefetches?url=https%3A%2F%2Fx%2Fy&range=-5",
            .badParameter("range is not of the form FIRST-LAST or FIRST-")
        ),
    ]) func `what is not understood is refused, with its reason`(
        _ method: String, _ target: String, _ refusal: AdminRequest.Refusal
    ) {
        // Not `#expect(throws:)`: Swift 6.3.1 crashes on its closure with a typed error.
        do throws(AdminRequest.Refusal) {
            Issue.record("read as \(try AdminRequest(method: method, target: target))")
        } catch {
            #expect(error == refusal)
        }
    }

    @Test func `secrets are compared whole`() {
        #expect(SecretText.areEqual("abc", "abc"))
        #expect(!SecretText.areEqual("abc", "abd"))
        #expect(!SecretText.areEqual("abc", "ab"))
        #expect(!SecretText.areEqual("", "a"))
    }
}

extension String {
    fileprivate var replacingSpace: String { String(map { $0 == " " ? "_" : $0 }) }
}
