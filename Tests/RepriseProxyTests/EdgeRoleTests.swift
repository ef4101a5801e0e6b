import RepriseCore
import RepriseHTTP
import RepriseProxy
import Testing

/// What a shared cache in front of one origin makes of targets and fields.
@Suite struct EdgeRoleTests {
    @Test(arguments: [
        ("https://cdn.example", "/a/b.mp4?x=1", "https://cdn.example/a/b.mp4?x=1"),
        ("https://cdn.example/", "/", "https://cdn.example/"),
        ("http://cdn.example:8080/media/", "/a%2Fb", "http://cdn.example:8080/media/a%2Fb"),
        ("http://cdn.example/media", "//other.example/x", "http://cdn.example/media//other.example/x"),
        ("http://cdn.example", "/../x", "http://cdn.example/../x"),
    ]) func `a path is the origin's, byte for byte, and never leads to another host`(
        _ origin: String, _ target: String, _ expected: String
    ) throws {
        let edge = EdgeRole(origin: try #require(OriginURL(origin)), name: "node")
        #expect(edge.url(for: target)?.description == expected)
    }

    @Test(
        arguments: [
            "/../x", "/..", "/%2e%2E/x", "/a/../../x", "/..%2Fx", "/..%5Cx", "/..;a=1/x", "/.%2e/media2/x",
            "/../mediax",
            "/a%2Fb/../../x", "/a%5Cb/../../x", "/;/../x", "/a\\../x", "/a/../b",
        ], ["http://cdn.example/media", "http://cdn.example"])
    func `no target leads out of a path that is put before it, at the origin or at another place`(
        _ target: String, _ origin: String
    ) throws {
        let mirrors = ["http://spare.example/m/"].compactMap { OriginURL($0) }
        let edge = EdgeRole(origin: try #require(OriginURL(origin)), name: "node", mirrors: mirrors)
        #expect(edge.url(for: target) == nil)
        #expect(edge.url(for: "/a/..b/c../.../x?y=/../z")?.target.hasSuffix("/a/..b/c../.../x?y=/../z") == true)
    }

    @Test(arguments: ["", "x", "@evil.example/", ":8080/"]) func `what is no path is no URL`(_ target: String) throws {
        let edge = EdgeRole(origin: try #require(OriginURL("http://cdn.example")), name: "node")
        #expect(edge.url(for: target) == nil)
    }

    @Test(arguments: [
        ("http://cdn.example", "/b", "/b"), ("http://cdn.example", "b?x=1#t", "b?x=1#t"),
        ("http://cdn.example", "http://cdn.example/b?x=%2F#t=5", "/b?x=%2F#t=5"),
        ("http://cdn.example:80", "http://CDN.example/b", "/b"), ("http://cdn.example", "http://cdn.example", "/"),
        ("http://cdn.example/media", "/media/b", "/b"),
        ("http://cdn.example/media", "http://cdn.example/media/b", "/b"),
        ("http://cdn.example/media", "/other", "http://cdn.example/other"),
        ("http://cdn.example/media", "http://cdn.example/media2/b", "http://cdn.example/media2/b"),
        ("http://cdn.example", "https://cdn.example/b", "https://cdn.example/b"),
        ("http://cdn.example", "http://cdn.example.evil/b", "http://cdn.example.evil/b"),
        ("http://cdn.example", "//evil.example/b", "//evil.example/b"),
        ("http://cdn.example", "http://cdn.example//evil.example/b", "/.//evil.example/b"),
        ("http://cdn.example", "http://cdn.example/\\evil.example/b", "http://cdn.example/\\evil.example/b"),
        ("http://cdn.example/media", "/media/\\evil.example", "/media/\\evil.example"),
        ("http://cdn.example", "//cdn.example/b", "/b"), ("http://cdn.example", "http://spare.example/m/b", "/b"),
        ("http://cdn.example/media", "/m/b", "/b"),
    ]) func `where a redirect leads below the origin, it leads below the cache`(
        _ origin: String, _ location: String, _ expected: String
    ) throws {
        let spare = try #require(OriginURL("http://spare.example/m"))
        let edge = EdgeRole(origin: try #require(OriginURL(origin)), name: "node", mirrors: [spare])
        #expect(edge.relayed(["Location": location], age: nil, outcome: nil)["Location"] == expected)
    }

    @Test func `fields of one connection stay here, Via grows, RFC 9110 §7.6`() throws {
        let edge = EdgeRole(origin: try #require(OriginURL("http://cdn.example")), name: "node-2")
        let fields: HTTPFields = [
            "Host": "x", "Connection": "X-Hop", "X-Hop": "1", "Accept-Language": "de", "Via": "1.1 node-1",
            "Cache-Control": "max-age=0",
        ]
        let forwarded = edge.forwarded(fields)
        #expect(forwarded["Host"] == nil && forwarded["X-Hop"] == nil && forwarded["Connection"] == nil)
        #expect(forwarded["Accept-Language"] == "de" && forwarded["Cache-Control"] == "max-age=0")
        #expect(forwarded["Via"] == "1.1 node-1, 1.1 node-2")
        #expect(!edge.isLoop(fields) && edge.isLoop(forwarded))
        #expect(edge.forwarded(fields, minorVersion: 0)["Via"] == "1.1 node-1, 1.0 node-2")
    }

    @Test(arguments: [
        ("OPTIONS", "5", "4"), ("OPTIONS", "0", "0"), ("OPTIONS", "x", "x"),
        ("OPTIONS", "-9223372036854775808", "-9223372036854775808"),
        ("OPTIONS", "99999999999999999999", "99999999999999999999"), ("POST", "5", "5"),
    ])
    func `OPTIONS goes on as often as it says, RFC 9110 §7.6.2`(method: String, hops: String, left: String) throws {
        let origin = try #require(OriginURL("http://cdn.example"))
        let request = OriginRequest(relaying: method, to: origin, ["Max-Forwards": hops], body: nil)
        #expect(request.fields["Max-Forwards"] == left)
    }
}
