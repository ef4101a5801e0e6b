import RepriseCore
import RepriseHTTP
import Testing

@Suite struct KeyPolicyTests {
    private func key(_ url: String, _ policy: KeyPolicy = .unsigned) -> ResourceKey { policy.key(for: OriginURL(url)!) }

    @Test(
        arguments: [
            "Expires=1&Signature=abc&Key-Pair-Id=k", "Policy=p&Signature=s&Key-Pair-Id=k",
            "X-Amz-Algorithm=a&X-Amz-Credential=c&X-Amz-Date=d&X-Amz-Expires=1&X-Amz-SignedHeaders=h&X-Amz-Signature=s",
            "x-goog-signature=s&X-Goog-Expires=1", "AWSAccessKeyId=a&Expires=1&Signature=s", "GoogleAccessId=g",
            "sv=1&se=2&sr=b&sp=r&sig=xyz", "hdnts=exp=1~acl=*~hmac=1", "__token__=exp=1", "auth_key=1-0-0-x",
            "OSSAccessKeyId=x&Expires=1&Signature=y&security-token=z", "txSecret=a&txTime=b",
        ])
    func `a new signature is no new resource, bug21`(query: String) {
        #expect(key("https://cdn.test/a.mp3?" + query) == key("https://cdn.test/a.mp3"))
        #expect(key("https://cdn.test/a.mp3?id=7&" + query) == key("https://cdn.test/a.mp3?id=7"))
        #expect(key("https://cdn.test/a.mp3?" + query + "&id=7") == key("https://cdn.test/a.mp3?id=7"))
    }

    @Test func `parameters that may name content tell resources apart, bug21`() {
        let urls = [
            "https://cdn.test/a.mp3", "https://cdn.test/a.mp3?id=1", "https://cdn.test/a.mp3?id=2",
            "https://cdn.test/a.mp3?v=1", "https://cdn.test/a.mp3?id=1&v=1", "https://cdn.test/a.mp3?v=1&id=1",
            "https://cdn.test/b/a.mp3", "https://cdn.test/a%2Emp3", "http://cdn.test/a.mp3",
            "https://cdn.test:444/a.mp3",
            "https://other.test/a.mp3", "https://cdn.test/A.mp3", "https://cdn.test/a.mp3?signature2=1",
            "https://cdn.test/a.mp3?token=1",
        ]
        #expect(Set(urls.map { key($0) }).count == urls.count)
    }

    @Test func `fragment, host case and the scheme's own port do not matter`() {
        #expect(key("HTTPS://CDN.test:443/a.mp3#t=10") == key("https://cdn.test/a.mp3"))
    }

    @Test func `user information is no part of the name and stays out of it`() {
        #expect(key("https://me:secret@cdn.test/a.mp3") == key("https://cdn.test/a.mp3"))
        #expect(!key("https://me:secret@cdn.test/a.mp3", .exact).text.contains("secret"))
    }

    @Test func `the exact policy keeps the query as it is`() {
        #expect(key("https://cdn.test/a?Signature=1&x=2#f", .exact).text == "https://cdn.test/a?Signature=1&x=2")
    }

    @Test func `a policy of one's own decides alone`() {
        let policy = KeyPolicy { url in ResourceKey("track " + (url.query ?? "")) }
        #expect(key("https://a.test/x?7", policy) == key("http://b.test/y?7", policy))
    }
}
