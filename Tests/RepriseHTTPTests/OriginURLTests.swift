import RepriseHTTP
import Testing

@Suite("An origin's URL")
struct OriginURLTests {
    @Test func `a scheme with something before it is no origin's, and the original URL is kept whole, bug22`() {
        #expect(OriginURL("cache-https://example.com/a.mp3") == nil)
        #expect(OriginURL("reprise+http://example.com/a.mp3") == nil)
        let text = "https://example.com:8443/a%20b/c.mp3?sig=a%2Bb&x"
        #expect(OriginURL(text)?.description == text)
    }

    @Test func `is cut into parts and put together byte for byte`() throws {
        let url = try #require(
            OriginURL("HTTPS://User:p%40ss@Example.COM:8443/a%2Fb/+c;d/../Track.MP3?x=%20&y=/?#frag"))
        #expect(url.scheme == "https" && url.host == "example.com" && url.port == 8443 && url.userInfo == "User:p%40ss")
        #expect(url.target == "/a%2Fb/+c;d/../Track.MP3?x=%20&y=/?" && url.query == "x=%20&y=/?")
        #expect(url.description == "https://User:p%40ss@example.com:8443/a%2Fb/+c;d/../Track.MP3?x=%20&y=/?")
        #expect(url.redacted == "https://example.com:8443/a%2Fb/+c;d/../Track.MP3")
        #expect(url.pathExtension == "mp3" && url.authority == "example.com:8443" && !url.hasDefaultPort)
    }

    @Test func `knows the scheme's own port`() throws {
        for text in ["http://h", "http://h:80", "http://h:", "http://h/"] {
            let url = try #require(OriginURL(text))
            #expect(url.port == 80 && url.authority == "h" && url.target == "/" && url.description == "http://h/")
        }
        #expect(OriginURL("https://h?q")?.target == "/?q")
        #expect(OriginURL("https://[2001:DB8::1]:444/x")?.authority == "[2001:db8::1]:444")
    }

    @Test(arguments: [
        "[]", "[a]", "[1.2.3.4]", "[::1", "[::1]a", "a]b", "a[b", "[[::1]]", ".", "..", "...:80", "%2e", ".%2E", "",
    ])
    func `has a host that is one`(host: String) {
        #expect(OriginURL("https://\(host)/a") == nil)
    }

    @Test(arguments: [
        "", "/a", "file:///a", "ftp://h/", "http://", "http:///a", "http://:80/", "http://h:0/", "http://h:65536/",
        "http://h:8 0/", "http://h:-1/", "http://h:1:2/", "http://[::1/", "http://[::1]x/", "http://h/a b",
        "http://h/\r\nX: y",
        "http://h/\u{7F}", "http:/h/", "http:h", "//h/a", "http://u@/", "http://a\\b/",
    ])
    func `is nothing where it is not one`(text: String) {
        #expect(OriginURL(text) == nil, "\(text)")
    }

    @Test func `a mark that joins a delimiter does not hide it`() throws {
        // In Swift "/" and a combining accent are one Character; on the wire the slash ends the host all the same.
        let url = try #require(OriginURL("http://evil.example/\u{301}@good.example/"))
        #expect(url.host == "evil.example" && url.target == "/\u{301}@good.example/")
        #expect(OriginURL("http://h/p#\u{301}frag")?.target == "/p")
        #expect(OriginURL("http://h/p?\u{301}q")?.query == "\u{301}q")
        #expect(OriginURL("http://a@\u{301}h/")?.host == "\u{301}h")
    }

    @Test func `two that differ in bytes are two`() throws {
        let composed = try #require(OriginURL("http://h/\u{E9}")),
            decomposed = try #require(OriginURL("http://h/e\u{301}"))
        #expect(composed != decomposed && Set([composed, decomposed]).count == 2)
    }

    static let base = "http://a/b/c/d;p?q"

    // RFC 3986 §5.4, without the schemes that are not ours.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g/"),
        ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"),
        ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("/./g", "http://a/g"),
        ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"),
        ("g;x=1/../y", "http://a/b/c/y"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/../x", "http://a/b/c/g"),
        ("https://b/x", "https://b/x"), ("/l?next=http://x/", "http://a/l?next=http://x/"),
        ("?u=http://x/", "http://a/b/c/d;p?u=http://x/"),
    ])
    func `resolves as the examples of RFC 3986 do`(reference: String, result: String) throws {
        #expect(
            try #require(OriginURL(OriginURLTests.base)).resolving(reference)?.description == result, "\(reference)")
    }

    @Test(arguments: [
        ("/x\\y/../z", "https://a/x/z"), ("x\\..\\z", "https://a/b/z"), ("/\\e/x", "https://e/x"),
        ("\\\\e\\x", "https://e/x"), ("https:\\\\e/x", "https://e/x"), ("/x/%2E%2e/z", "https://a/z"),
        ("/x?y\\z", "https://a/x?y\\z"), ("/x#y\\z", "https://a/x"),
    ])
    func `resolves a place as browsers do, to which a backslash is a slash`(place: String, result: String) throws {
        let base = try #require(OriginURL("https://a/b/c"))
        #expect(base.resolvingAsBrowsersDo(place)?.description == result)
    }

    @Test func `resolves nothing into another scheme, and keeps who asks`() throws {
        let url = try #require(OriginURL("https://me:pw@h:444/a/b?x"))
        #expect(
            url.resolving("mailto:x") == nil && url.resolving("javascript:1") == nil && url.resolving("ftp://h/") == nil
        )
        #expect(url.resolving("b c?d e#f g")?.target == "/a/b%20c?d%20e")
        #expect(url.resolving("b \u{301}")?.target == "/a/b%20\u{301}")
        #expect(url.resolving("/c")?.description == "https://me:pw@h:444/c")
        #expect(url.resolving("c")?.description == "https://me:pw@h:444/a/c")
        #expect(url.resolving("//other/c")?.description == "https://other/c", "credentials stay with their host")
        #expect(url.resolving("x/y:z")?.description == "https://me:pw@h:444/a/x/y:z")
    }

    @Test(
        arguments: [
            ("http://h/a.b/c", nil), ("http://h/a.mp3", "mp3"), ("http://h/a.tar.GZ?x=.mp4", "gz"),
            ("http://h/a.", nil),
            ("http://h/.mp3", "mp3"), ("http://h/a.waytoolongext", nil), ("http://h/a.m%33", nil), ("http://h", nil),
        ] as [(String, String?)])
    func `shows an extension only where it looks like one`(text: String, ending: String?) throws {
        #expect(try #require(OriginURL(text)).pathExtension == ending)
    }
}
