import RepriseCore
import RepriseHTTP
import Testing

@Suite struct KeyPolicyTests {
    private func key(_ url: String, _ policy: KeyPolicy = .unsigned) -> ResourceKey { policy.key(for: OriginURL(url)!) }

    /// Signatures as the makers' documentation shows them, and the same a day later.
    static let signatures: [(first: String, second: String)] = [
        (
            "Expires=1767290400&Signature=nitf~&Key-Pair-Id=K2&Hash-Algorithm=SHA256",
            "Expires=1767376800&Signature=ab-c&Key-Pair-Id=K2"
        ),
        ("Policy=eyJ&Signature=s&Key-Pair-Id=K", "Policy=eyK&Signature=t&Key-Pair-Id=K"),
        (
            "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=c&X-Amz-Date=20260101T000000Z&X-Amz-Expires=900"
                + "&X-Amz-Security-Token=t&X-Amz-SignedHeaders=host&X-Amz-Signature=0a",
            "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=d&X-Amz-Date=20260102T000000Z&X-Amz-Expires=900"
                + "&X-Amz-SignedHeaders=host&X-Amz-Signature=0b"
        ),
        ("AWSAccessKeyId=A&Expires=1767290400&Signature=a%2Bb", "AWSAccessKeyId=A&Expires=1767376800&Signature=c%3D"),
        (
            "X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=c&X-Goog-Date=d&X-Goog-Expires=900"
                + "&X-Goog-SignedHeaders=host&X-Goog-Signature=ab", "x-goog-signature=cd&X-Goog-Expires=1"
        ),
        ("GoogleAccessId=g&Expires=1767290400&Signature=a", "GoogleAccessId=g&Expires=1767376800&Signature=b"),
        ("Expires=1767290400&KeyName=k&Signature=a", "URLPrefix=x&Expires=1767376800&KeyName=k&Signature=b"),
        (
            "sv=2024-11-04&st=2026-01-01&se=2026-01-02&sr=b&sp=r&sig=xyz",
            "sv=2024-11-04&ss=b&srt=o&sp=r&se=2026-01-03&spr=https&sig=abc"
        ),
        (
            "sv=2024-11-04&se=1&sr=b&sp=r&skoid=o&sktid=t&skt=1&ske=2&sks=b&skv=v&sig=xyz",
            "sv=2024-11-04&se=2&sr=b&sp=r&skoid=o&sktid=t&skt=3&ske=4&sks=b&skv=v&sig=abc"
        ),
        ("hdnts=exp=1~acl=/*~hmac=1", "hdnts=exp=2~acl=/*~hmac=2"),
        ("hdnea=st=1~exp=2~hmac=3", "hdnea=st=2~exp=3~hmac=4"),
        ("__token__=exp=1~hmac=2", "__token__=exp=3~hmac=4"), ("__gda__=1_a", "__gda__=2_b"),
        (
            "auth_key=1767290400-477b3bbc253f467b8def6711128c7bec-0-9044548ef1527deadafa49a890a377f0",
            "auth_key=1767376800-0-0-0044548ef1527deadafa49a890a377f1"
        ),
        ("OSSAccessKeyId=x&Expires=1&Signature=y&security-token=z", "OSSAccessKeyId=x&Expires=2&Signature=z"),
        (
            "x-oss-credential=L%2F2026&x-oss-date=1&x-oss-expires=9&x-oss-signature=70&x-oss-signature-version=OSS4",
            "x-oss-credential=L%2F2027&x-oss-date=2&x-oss-expires=9&x-oss-signature=71&x-oss-signature-version=OSS4"
        ),
        (
            "sign=1582791032-im1acp76sx9sdqe601v-0-dd63f95e739ed4b47427a129d21ef4e3",
            "sign=1582791099-x-0-ad63f95e739ed4b47427a129d21ef4e3"
        ),
        ("sign=0f8201d814dfaf64cf54e74c5f7dbcb0&t=1582791032", "sign=1f8201d814dfaf64cf54e74c5f7dbcb0&t=5e577a8f"),
        ("txSecret=a&txTime=5E577A8F", "txSecret=b&txTime=5E577A90"),
        ("q-sign-algorithm=sha1&q-ak=a&q-sign-time=1;2&q-key-time=1;2&q-signature=a", "q-ak=a&q-signature=b"),
        ("token=m0EMEkV3pNAKFB33gZuv_Q&expires=1756761770", "token=n0EMEkV3pNAKFB33gZuv_Q&expires=1756761999"),
        ("md5=_e4Nc3iduzkWRm01TBBNYw&expires=2147483647", "md5=_f4Nc3iduzkWRm01TBBNYw&expires=2147483646"),
        ("st=_e4Nc3iduzkWRm01TBBNYw&e=1767290400", "st=_f4Nc3iduzkWRm01TBBNYw&e=1767376800"),
    ]

    @Test(arguments: signatures)
    func `each new token hits, and what names content tells apart all the same, bug21`(first: String, second: String) {
        let base = "https://cdn.test/a.mp3"
        for query in [first, second] {
            #expect(key("\(base)?\(query)") == key(base))
            #expect(key("\(base)?id=1&\(query)").text == base + "?id=1")
            #expect(key("\(base)?\(query)&id=2").text == base + "?id=2")
            #expect(key("\(base)?versionId=x&\(query)&%69d=%2b+;").text == base + "?versionId=x&%69d=%2B+;")
        }
        #expect(key("\(base)?id=1&\(first)") == key("\(base)?id=1&\(second)"))
        #expect(key("\(base)?id=1&\(first)") != key("\(base)?id=2&\(first)"))
    }

    @Test(arguments: [
        "t=1582791032", "sign=0f8201d814dfaf64cf54e74c5f7dbcb0", "sig=abc", "token=m0EMEkV3pNAKFB33gZuv_Q", "se=2",
        "sv=1",
        "st=7&e=8", "expires=1756761770", "Expires=1756761770", "Policy=p", "Signature=s", "Key-Pair-Id=k",
        "sign=1-2-3-4",
        "sign=0f8201d814dfaf64cf54e74c5f7dbcb0&t=7", "sign=0f8201d814dfaf64cf54e74c5f7dbcb0&t=15827910",
        "t=1582791032&sign=song", "token=short&expires=1756761770", "token=m0EMEkV3pNAKFB33gZuv_Q&expires=tomorrow",
        "AWSAccessKeyId=a&Signature=s", "X-Amz-Date=1", "x-oss-process=video/snapshot", "generation=1", "auth=1",
        "sign=0f8201d814dfaf64cf54e74c5f7dbcb0&t=1582791032&t=7",
    ])
    func `a name alone is no signature: what may be an id stays, bug21`(query: String) {
        #expect(key("https://cdn.test/a?" + query).text == "https://cdn.test/a?" + query)
    }

    @Test func `names to leave out and to keep go before the schemes, and a star ends a name`() {
        let base = "https://cdn.test/a"
        let rule = QueryRule(strip: ["session", "utm_*"], keep: ["sv"])
        #expect(rule.applied(to: "/a?utm_source=x&id=1&session=2&Session=3&utm_=") == "/a?id=1&Session=3")
        #expect(rule.applied(to: "/a?sv=1&sig=2&se=3") == "/a?sv=1")
        #expect(key(base + "?x=1&session=2", .query(rule)).text == base + "?x=1")
        let alone = QueryRule(strip: ["*"], keep: ["id", "v*"])
        #expect(alone.applied(to: "/a?x=1&v2=3&id=4&idea=5") == "/a?v2=3&id=4")
        #expect(alone.applied(to: "/a?x=1") == "/a")
        #expect(QueryRule(schemes: []).applied(to: "/a?hdnts=1") == "/a?hdnts=1")
        #expect(QueryRule(schemes: [SignatureScheme(needs: [String]())]).applied(to: "/a?b=1") == "/a?b=1")
    }

    @Test(arguments: ["", "/a", "/a?", "/a?&", "/a?=", "/a?&&x", "/a?é=ü&x", "/a?x?y=1", "/a?%", "/a??"])
    func `whatever stays, stays byte for byte`(target: String) {
        #expect(Array(QueryRule().applied(to: target).utf8) == Array(target.utf8))
        let signed = QueryRule().applied(to: target + (target.contains("?") ? "&" : "?") + "hdnts=1")
        #expect(target.utf8.starts(with: signed.utf8) || signed == target)
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

    @Test(arguments: [KeyPolicy.exact, .unsigned])
    func `percent-encoded octets are the same in either case, and nothing else is, RFC 3986 §6.2.2.1`(policy: KeyPolicy)
    {
        let base = "https://cdn.test/"
        #expect(key(base + "%c3%a9?a=%2f", policy) == key(base + "%C3%A9?a=%2F", policy))
        #expect(key(base + "%c3%a9?a=%2f", policy).text == base + "%C3%A9?a=%2F")
        for other in ["%zz", "%", "%c", "%%c3", "a%c3", "C3", "%e9%ag"] {
            let text = other.replacing("%c3", with: "%C3").replacing("%e9", with: "%E9")
            #expect(key(base + other, policy).text == base + text)
        }
        #expect(key(base + "a", policy) != key(base + "A", policy))
        #expect(key(base + "%41", policy) != key(base + "A", policy))
    }

    @Test func `the exact policy keeps the query as it is`() {
        #expect(key("https://cdn.test/a?Signature=1&x=2#f", .exact).text == "https://cdn.test/a?Signature=1&x=2")
    }

    @Test func `a policy of one's own decides alone`() {
        let policy = KeyPolicy { url in ResourceKey("track " + (url.query ?? "")) }
        #expect(key("https://a.test/x?7", policy) == key("http://b.test/y?7", policy))
    }
}
