import RepriseCore
import RepriseHTTP
import RepriseProxy
import RepriseRanges
import RepriseTesting
import Testing

/// The proxy's decisions, without sockets.
@Suite struct ExchangeRuleTests {
    // MARK: Targets

    @Test(arguments: [
        ("/t/https/h/p?q", "https://h/p?q"), ("/t/http/h:81/p", "http://h:81/p"), ("/t/http/h:80/", "http://h/"),
        ("/t/https/H/P%2f", "https://h/P%2f"), ("/t/https/h", "https://h/"), ("/t/https/h?q=/", "https://h/?q=/"),
        ("/t/http/[::1]:8/x", "http://[::1]:8/x"), ("/t/?url=https%3A%2F%2Fh%2Fp%3Fa%3D%2520", "https://h/p?a=%20"),
        ("/t?url=http://h/p", "http://h/p"), ("/t/?url=http://h/p&x=http://i/", "http://h/p"),
        ("/t/https/h/../p", "https://h/../p"), ("/t/https/h//p", "https://h//p"), ("/t/https/h/p?", "https://h/p?"),
    ])
    func `a target names a URL`(target: String, url: String) {
        #expect(RequestTarget(target, token: "t") == .media(OriginURL(url)!))
        #expect(RequestTarget(String(target.dropFirst(2)), token: nil) == .media(OriginURL(url)!))
    }

    @Test(arguments: [
        "https://h/p?q", "http://h:81/", "https://h/a%20b;c?d=%2F&e", "http://[::1]:8/x", "https://h/?",
    ])
    func `the target made for a URL names it again`(url: String) {
        let url = OriginURL(url)!
        #expect(RequestTarget(RequestTarget.target(for: url, token: "t"), token: "t") == .media(url))
        #expect(RequestTarget(RequestTarget.target(for: url, token: nil), token: nil) == .media(url))
    }

    @Test(arguments: [
        "", "/", "t", "/T/http/h/", "/tt/http/h/", "/%74/http/h/", "/http/h/", "/t\u{301}/http/h/", "?t",
    ])
    func `a wrong token is forbidden whatever follows, bug20`(target: String) {
        #expect(RequestTarget(target, token: "t") == .forbidden)
    }

    @Test(arguments: [
        "/t", "/t/", "/t/ftp/h/", "/t/http/", "/t/http//p", "/t/https/u:p@h/", "/t/http/h:0/", "/t/http/h:99999/",
        "/t/?url=", "/t/?url=ftp%3A%2F%2Fh", "/t/?url=%zz", "/t/?url=http%3A%2F%2Fh%2F%00", "/t/?x=1",
        "/t/http/h\\x/",
    ])
    func `any other target is told what is expected`(target: String) {
        guard case .unknown(let text) = RequestTarget(target, token: "t") else {
            Issue.record("\(target) is \(RequestTarget(target, token: "t"))")
            return
        }
        #expect(!text.isEmpty)
    }

    @Test func `health needs no token`() {
        #expect(RequestTarget("/.reprise/health", token: "t") == .health)
        #expect(RequestTarget("/.reprise/health?x", token: "t") == .health)
        #expect(RequestTarget("/.reprise/healthy", token: "t") == .forbidden)
    }

    // MARK: Access

    @Test(arguments: [
        ("127.0.0.1", true), ("127.0.0.1:9", true), ("LocalHost:80", true), ("[::1]", true), ("[::1]:80", true),
        ("m.test:1", true), ("evil.test", false), ("127.0.0.1.evil.test", false), ("localhost.", false),
        ("", false),
        ("127.0.0.1@evil.test", false), ("[::1].evil.test", false), ("[::1]evil", false),
    ])
    func `only a Host of ours may ask, bug20`(host: String, isOurs: Bool) {
        let rules = AccessRules(allowedHosts: ["m.test"], allowedOrigins: [])
        for hasToken in [false, true] {
            #expect((rules.refusal(["Host": host], authority: host, hasToken: hasToken) == nil) == isOurs)
        }
    }

    @Test(arguments: [
        ("fd00::5", "[fd00::5]:80", true), ("fd00::5", "[fd00:0::5]", true), ("fd00::5", "[fd00::6]", false),
        ("[fd00::5]", "[fd00::5]", true), ("0.0.0.0", "192.0.2.1:8787", true), ("0.0.0.0", "[fd00::5]", true),
        ("::", "192.0.2.1", true), ("::", "evil.test", false), ("0.0.0.0", "evil.test:80", false),
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("0.0.0.0", "0.0.0.0:80", false),
        ("::", "[::]", false),
    ])
    func `a server that listens on an address may be asked by it`(listener: String, host: String, isOurs: Bool) {
        let rules = AccessRules(allowedHosts: [listener], allowedOrigins: [])
        #expect((rules.refusal(["Host": host], authority: host, hasToken: true) == nil) == isOurs)
    }

    @Test(arguments: [
        ("https://evil.test", nil, false), ("http://192.0.2.1:8787", nil, true), ("null", nil, false),
        ("http://localhost:3000", "same-site", true), ("http://localhost:3000", "cross-site", false),
    ])
    func `without a token a page of another site reads nothing, also where the browser does not say that it is one`(
        origin: String, site: String?, isAllowed: Bool
    ) {
        let rules = AccessRules(allowedHosts: ["0.0.0.0"], allowedOrigins: ["https://its.test"])
        var fields: HTTPFields = ["Origin": origin]
        fields["Sec-Fetch-Site"] = site
        #expect((rules.refusal(fields, authority: "192.0.2.1:8787", hasToken: false) == nil) == isAllowed)
        #expect(rules.refusal(fields, authority: "192.0.2.1:8787", hasToken: true) == nil)
        fields["Origin"] = "https://its.test"
        #expect(rules.refusal(fields, authority: "192.0.2.1:8787", hasToken: false) == nil)
    }

    @Test(arguments: [
        ("127.0.0.1", "http://127.0.0.1:9"), ("fd00::5", "http://[fd00::5]:9"), ("[fd00::5]", "http://[fd00::5]:9"),
        ("0.0.0.0", "http://127.0.0.1:9"), ("::", "http://127.0.0.1:9"), ("0", "http://127.0.0.1:9"),
        ("media.test", "http://media.test:9"),
    ])
    func `a server's own URL leads to where it listens`(host: String, base: String) {
        #expect(ProxyConfiguration.base(host: host, port: 9) == base)
    }

    @Test func `a browser's cookies for this machine are not sent to origins, a player's own are`() {
        let role = AnyOriginRole(token: "t")
        #expect(!role.forwarded(["Sec-Fetch-Site": "none", "Cookie": "a=b"]).contains("Cookie"))
        #expect(role.forwarded(["Cookie": "a=b"])["Cookie"] == "a=b")
        #expect(role.forwarded(["Sec-Fetch-Mode": "navigate", "Cookie": "a=b"])["Cookie"] == "a=b")
    }

    @Test func `trouble is told as JSON to who asks for that`() {
        var error = CacheError(.originUnreachable, "it said \"no\"\n\\")
        error.cause = .connectionRefused
        for (accept, isJSON) in [
            ("application/json", true), ("text/html, Application/JSON;q=0.9", true), ("*/*", false),
            ("application/json-seq", false), ("", false),
        ] {
            let answer = ServerExchange(method: "GET", fields: ["Accept": accept]).answer(error, now: 0)
            #expect(answer.status == 502 && (answer.textType == "application/json") == isJSON)
            #expect(
                answer.text
                    == (isJSON
                        ? #"{"status": 502, "error": "connection_refused", "message": "it said \"no\" \\"}"#
                        : error.message))
            #expect(answer.fields["Proxy-Status"] == "reprise; error=connection_refused")
        }
        error.message = "it said \"no\""
        let edge = ServerExchange(method: "GET", fields: [:], isTransparent: true, name: "a b").answer(
            error, now: 0)
        #expect(edge.fields["Proxy-Status"] == #""a b"; error=connection_refused; details="it said \"no\"""#)
        #expect(edge.fields["Access-Control-Allow-Origin"] == nil)
    }

    @Test func `without a token other sites' pages are refused, with it they are who has it`() {
        let rules = AccessRules(allowedHosts: [], allowedOrigins: ["https://friend.test"])
        let page: HTTPFields = ["Host": "localhost", "Sec-Fetch-Site": "cross-site"]
        func isRefused(_ fields: HTTPFields, hasToken: Bool = false) -> Bool {
            rules.refusal(fields, authority: "localhost", hasToken: hasToken) != nil
        }
        #expect(isRefused(page) && !isRefused(page, hasToken: true))
        var friend = page
        friend["Origin"] = "https://friend.test"
        #expect(!isRefused(friend))
        friend["Origin"] = "https://friend.test.evil.test"
        #expect(isRefused(friend))
    }

    @Test func `a page that may ask may ask with any field, and from the network`() {
        let plain = ServerExchange.options([:], sendsEveryMethod: true, now: 0).fields
        #expect(plain["Access-Control-Allow-Origin"] == "*" && plain["Access-Control-Allow-Private-Network"] == nil)
        let asked: HTTPFields = [
            "Access-Control-Request-Headers": "range,x-own", "Access-Control-Request-Private-Network": "true",
        ]
        let answer = ServerExchange.options(asked, sendsEveryMethod: true, now: 0).fields
        #expect(answer["Access-Control-Allow-Headers"] == "range,x-own")
        #expect(answer["Access-Control-Allow-Private-Network"] == "true")
    }

    @Test func `what came without a date is told with that of its receipt, by a shared cache, RFC 9110 §6.6.1`() {
        func date(_ fields: HTTPFields, checked: Int64, isTransparent: Bool = true) -> String? {
            var info = ContentInfo(length: 10, contentType: "video/mp4")
            (info.fields, info.checked) = (fields, checked)
            let exchange = ServerExchange(method: "GET", fields: [:], isTransparent: isTransparent)
            return exchange.answer(info, now: 2_000).fields["Date"]
        }
        let own: HTTPFields = ["Date": HTTPDate.format(500)]
        #expect(date([:], checked: 1_000) == HTTPDate.format(1_000))
        #expect(date([:], checked: 0) == HTTPDate.format(2_000))
        #expect(date(own, checked: 1_000) == own["Date"])
        #expect(date(own, checked: 1_000, isTransparent: false) == HTTPDate.format(2_000))
    }

    @Test func `a precondition that failed is nothing that a cache between may store, RFC 9111 §3`() {
        var info = ContentInfo(length: 10, contentType: "video/mp4")
        info.fields = [
            "Cache-Control": "public, max-age=86400", "CDN-Cache-Control": "max-age=5", "Vary": "Accept-Language",
            "Expires": "Thu, 01 Oct 2026 00:00:00 GMT",
        ]
        let answer = ServerExchange(method: "GET", fields: ["If-Match": "\"x\""], isTransparent: true, name: "a")
            .answer(info, now: 0)
        #expect(answer.status == 412 && answer.fields["Cache-Control"] == "no-store")
        #expect(answer.fields["CDN-Cache-Control"] == nil && answer.fields["Expires"] == nil)
        #expect(answer.fields["Vary"] == "Accept-Language")
    }

    @Test func `what the origin lets pages do is not passed on`() {
        var info = ContentInfo(length: 10, contentType: "video/mp4")
        info.fields = [
            "Access-Control-Allow-Origin": "https://its.example", "Access-Control-Allow-Credentials": "true",
        ]
        let head = ServerExchange(method: "GET", fields: [:]).answer(info, now: 0).fields
        #expect(head["Access-Control-Allow-Origin"] == "*" && head["Access-Control-Allow-Credentials"] == nil)
        #expect(head["Access-Control-Expose-Headers"]?.contains("Content-Range") == true)
    }

    @Test(arguments: [
        ("https://films.example/page", "https://films.example/page" as String?),
        ("http://127.0.0.1:8787/secret/x", nil),
        ("http://127.0.0.1:8787", nil), ("nonsense", nil), ("HTTP://127.0.0.1:8787/secret/", nil),
    ])
    func `what a client says goes on, but where it is and what would carry the token`(page: String, sent: String?) {
        let fields: HTTPFields = [
            "Host": "127.0.0.1:8787", "Referer": page, "Origin": "https://films.example", "X-Own": "1",
            "User-Agent": "mpv", "X-Forwarded-For": "10.0.0.1", "Forwarded": "for=10.0.0.1",
            "Sec-Fetch-Site": "none",
            "Connection": "X-Hop", "X-Hop": "1",
        ]
        let kept = AnyOriginRole(token: nil).forwarded(fields)
        #expect(kept["Referer"] == sent)
        var front = fields
        front["Referer"] = "https://media.example/T0KEN/https/a/b"
        front["X-Original-URI"] = "/T0KEN/https/a/b"
        let behind = AnyOriginRole(token: "T0KEN").forwarded(front)
        #expect(behind["Referer"] == nil && behind["X-Original-URI"] == nil && behind["X-Own"] == "1")
        #expect(kept["X-Own"] == "1" && kept["User-Agent"] == "mpv" && kept["Origin"] == "https://films.example")
        for name in ["Host", "X-Forwarded-For", "Forwarded", "Sec-Fetch-Site", "Connection", "X-Hop"] {
            #expect(kept[name] == nil)
        }
    }

    // MARK: Answers to errors

    @Test(arguments: [
        (CacheError.Code.originUnreachable, 502), (.originTimedOut, 504), (.originInvalid, 502), (.changed, 502),
        (.store, 503), (.closed, 503), (.badURL, 400), (.originForbidden, 403), (.originRefused(status: 404), 404),
        (.originRefused(status: 302), 502), (.rangeNotSatisfiable(length: 7), 416),
        (.rangeNotSatisfiable(length: nil), 416),
    ])
    func `each error has a status and says what happened`(code: CacheError.Code, status: Int) {
        let exchange = ServerExchange(method: "GET", fields: [:])
        let answer = exchange.answer(CacheError(code, "words", retryAfter: 9), now: 0)
        #expect(answer.status == status)
        #expect(answer.text == "words")
        #expect(answer.fields["Retry-After"] == "9")
        let hasLength = code == .rangeNotSatisfiable(length: 7)
        #expect(answer.fields["Content-Range"] == (hasLength ? "bytes */7" : nil))
    }

    // MARK: Where reading begins

    @Test(arguments: [
        ("GET", ["bytes=5-"], ByteRange.from(5)), ("GET", ["bytes=5-9"], ByteRange(5, 10)), ("GET", [], .from(0)),
        ("GET", ["bytes=-5"], .from(0)), ("GET", ["bytes=1-2,5-6"], ByteRange(1, 3)),
        ("GET", ["bytes=5-6,1-2,9-"], ByteRange(1, 3)), ("GET", ["bytes=5-6,-1"], .from(0)),
        ("GET", ["bytes=1-5,5-6"], .from(0)), ("GET", ["bytes=5-,7-"], .from(0)),
        ("GET", ["bytes=1-2", "bytes=5-6"], .from(0)),
        ("HEAD", ["bytes=5-9"], .from(0)),
    ])
    func `reading begins where the range says before anything is known`(
        method: String, ranges: [String], expected: ByteRange
    ) {
        let exchange = ServerExchange(method: method, fields: HTTPFields(ranges.map { ("Range", $0) }))
        #expect(exchange.presumedRange == expected)
    }

    /// One of several ranges, or the whole after a range that is not heeded, may not be stored where the first range is.
    @Test(
        arguments: [
            ("bytes=0-9,50-59", nil, .from(0)), ("bytes=5-9", "\"x\"", .from(0)), ("bytes=5-9", nil, ByteRange(5, 10)),
        ] as [(String, String?, ByteRange)])
    func `what comes from the store alone is there before a head promises it, RFC 9111 §5.2.1.7`(
        range: String, condition: String?, expected: ByteRange
    ) {
        var fields: HTTPFields = ["Cache-Control": "only-if-cached", "Range": range]
        fields["If-Range"] = condition
        #expect(ServerExchange(method: "GET", fields: fields).presumedRange == expected)
    }

    // MARK: What a connection remembers

    @Test(arguments: UInt64(1)...20)
    func `an answer is the same whatever was answered before it on the connection`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var memory: AnswerMemory?
        func sorted(_ fields: [HTTPFields]) -> [String] {
            fields.flatMap(\.lines).map { "\($0.name): \($0.value)" }.sorted()
        }
        for _ in 0..<100 {
            let lengths: [Int64?] = [nil, 0, 10, 1000]
            let info = ContentInfo(
                length: lengths.randomElement(using: &random) ?? nil, contentType: "audio/mpeg")
            var fields = HTTPFields()
            fields["Range"] = [
                nil, "bytes=0-", "bytes=1-5", "bytes=-3", "bytes=999-", "bytes=0-1,5-6", "bytes=x", "bytes=2000-",
            ].randomElement(using: &random)!
            fields["If-Range"] = [nil, nil, "\"tag\"", "\"other\""].randomElement(using: &random)!
            fields["If-None-Match"] = [nil, nil, nil, "\"tag\""].randomElement(using: &random)!
            let method = ["GET", "GET", "GET", "HEAD"].randomElement(using: &random)!
            let exchange = ServerExchange(method: method, fields: fields, makeBoundary: { "boundary" })
            let now = Int64.random(in: 1000...1001, using: &random)
            let fresh = exchange.answer(info, now: now)
            let known = exchange.answer(info, now: now, memory: &memory)
            #expect(sorted([known.fields, known.part?.fields ?? [:]]) == sorted([fresh.fields]), "\(fields)")
            #expect(known.status == fresh.status)
            #expect(known.range == fresh.range)
            #expect(known.parts == fresh.parts)
            #expect(known.text == fresh.text)
            #expect(known.isDelimited == fresh.isDelimited)
        }
    }
}

extension ServerExchange {
    /// An exchange of a server before any origin, or before one, about a URL that does not matter.
    fileprivate init(
        method: String, fields: HTTPFields, isTransparent: Bool = false, name: String = "reprise",
        makeBoundary: () -> String = { "boundary" }
    ) {
        let url = OriginURL("http://origin.test/a")!
        let role: ServerRole =
            isTransparent ? .edge(EdgeRole(origin: url, name: name)) : .anyOrigin(AnyOriginRole(token: nil))
        self.init(method: method, fields: fields, for: url, role: role, makeBoundary: makeBoundary)
    }
}
