import RepriseHTTP
import RepriseProxy

extension FuzzTarget {
    /// What clients send to the server.
    static let requestTargets = [
        FuzzTarget(
            "requests",
            seeds: [
                "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
                "\r\nHEAD /x HTTP/1.0\r\n\r\nGET / HTTP/1.1\r\nHost:a\r\nRange: bytes=0-\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: a\r\n\r\n",
                "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nA: b\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nRange: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nRange: b\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
            ].map { [7] + Array($0.utf8) },
            requests),
        FuzzTarget(
            "targets",
            texts: [
                "/t/https/h:444/a.mp3?q", "/t/?url=https%3A%2F%2Fh%2Fa", "/.reprise/health?x",
                "http://127.0.0.1/t/http/h/",
                "*", "h:80", "/t/http/u@h/", "/t\u{301}/http/h/", "/t/?url=%", "http:///t/http/h/",
            ],
            targets),
        FuzzTarget(
            "places",
            texts: [
                "/a", "//b/c", "https://origin/base/x#f", "https://origin/base//x", "https://origin/base/\u{301}/..",
                "../x", "?q",
                "mailto:a", "/\\evil", "//\u{301}evil/x", "https://origin/base//\u{301}evil", "http:x", "https://./b",
                "https://ht ", "",
                "https://%2e%2e/http/evil/", "https://origin/%2e%2e/%2E%2e/http/evil/",
                "https://origin//../../../http/evil/", "https://origin/base/../x", "/base/%2e%2e/x",
                "https://u:p@h/a/..", "..;;;;;;;;;;.//", "..;x/y",
            ],
            places),
        FuzzTarget(
            "clients",
            texts: [
                "Host: [::1]:80\nIf: <http://127.0.0.1/t/http/h/a> (\"b\") <x>", "Host: [::1",
                "Host: localhost:\u{301}",
                "Destination: /t/http/h/\u{301}\nHost: 127.0.0.1", "Via: 1.1 a,\u{301}1.1 edge",
                "Referer: http://127.0.0.1/t/x",
                "Origin: null\nSec-Fetch-Site: cross-site", "X-Key: t\u{301}",
            ],
            clients),
        FuzzTarget(
            "admin-requests",
            texts: [
                "GET /entries?url=https%3A%2F%2Fh%2Fa", "DELETE /entries?all=1", "PUT /pins?url=http://h/",
                "POST /prefetches?url=http://h/&range=0-99", "POST /prefetches?url=http://h/&head=1&seconds=9.5",
                "GET /prefetches/9223372036854775808", "POST /imports?url=http://h/&file=/etc/passwd&modified=x",
                "POST /repairs?url=",
                "POST /imports?url=http://h/&\u{301}file=/a", "POST /imports?url=http://h/&file=/\u{301}a",
            ]
        ) { text in
            try requireOctets(text) { text in
                let words = text.unicodeScalars.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
                guard words.count == 2 else { return nil }
                return (try? AdminRequest(method: String(words[0]), target: String(words[1]))).map { "\($0)" }
            }
            let words = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            _ = try? AdminRequest(method: String(words[0]), target: words.count > 1 ? String(words[1]) : "")
        },
    ]

    /// However its bytes are cut into pieces, a connection says the same.
    @Sendable private static func requests(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        let size = Int(input.byte() % 64) + 1
        let whole = read(input.rest, by: .max)
        try require(whole == read(input.rest, by: size), "cut by \(size) it is another request")
        for case .head(let head) in whole {
            try require(head.method.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, head.method.debugDescription)
            for line in head.fields.lines {
                try require(
                    line.value.utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }, line.value.debugDescription)
            }
            // What went on as it was read is read as it went.
            var again = RequestReader(headLimit: 1 << 16)
            var text = "\(head.method) \(head.target) HTTP/1.\(head.minorVersion)\r\n"
            for line in head.fields.lines { text += "\(line.name):\(line.value)\r\n" }
            var sent = Array((text + "\r\n").utf8)[...]
            try require(again.read(&sent) == .head(head), text.debugDescription)
        }
    }

    /// The events of a connection, with what was read of bodies as one number each.
    private static func read(_ bytes: ArraySlice<UInt8>, by size: Int) -> [RequestReader.Event] {
        var reader = RequestReader(headLimit: 512)
        var events: [RequestReader.Event] = []
        var rest = bytes
        while !rest.isEmpty {
            var piece = rest.prefix(size)
            rest = rest.dropFirst(piece.count)
            while let event = reader.read(&piece) {
                if case .body(let more) = event, case .body(let count)? = events.last {
                    events[events.count - 1] = .body(count: count + more)
                } else {
                    events.append(event)
                }
            }
        }
        return events
    }

    /// Who may ask, and what of their fields goes on.
    @Sendable private static func clients(_ text: String) throws {
        let rules = AccessRules(allowedHosts: [], allowedOrigins: [])
        guard let origin = OriginURL("https://origin/") else { return }
        let edge = EdgeRole(origin: origin, name: "edge")
        try requireOctets(text) { text in
            let fields = HTTPFields(lines: text)
            let refusal = rules.refusal(fields, authority: fields["Host"], hasToken: true)
            let kept = ServerRole.anyOrigin(AnyOriginRole(token: "t")).forwarded(fields, minorVersion: 1)
            let lines = kept.lines.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
            return "\(refusal ?? "") \(edge.isLoop(fields))\n" + lines
        }
        let fields = HTTPFields(lines: text)
        if let host = fields["Host"], rules.refusal(fields, authority: host, hasToken: true) == nil {
            let isOurs = ["127.0.0.1", "localhost", "[::1]"].contains { name in
                host.equalsIgnoringCase(name) || host.lowercased().beginsLike(name + ":")
            }
            try require(isOurs, "\(host.debugDescription) names this server")
        }
        let kept = ServerRole.anyOrigin(AnyOriginRole(token: "t0k3n")).forwarded(fields, minorVersion: 1)
        for line in kept.lines { try require(!line.value.has("t0k3n"), "the token goes on in \(line.name)") }
    }

    /// The URL that is asked for where a browser is given this one, by the rules of the WHATWG's URL standard (path state),
    /// written anew.
    private static func read(byBrowser url: OriginURL) -> OriginURL {
        var segments: [[UInt8]] = []
        var segment: [UInt8] = []
        let path = Array(url.path.utf8.dropFirst())
        for (index, byte) in (path + [0x2F]).enumerated() {
            guard byte == 0x2F || byte == 0x5C else {
                segment.append(byte)
                continue
            }
            let plain = String(decoding: segment, as: UTF8.self).lowercased().replacing("%2e", with: ".")
            let isLast = index == path.count
            switch Array(plain.utf8) {
            case [0x2E, 0x2E]:
                _ = segments.popLast()
                if isLast { segments.append([]) }
            case [0x2E]: if isLast { segments.append([]) }
            default: segments.append(segment)
            }
            segment = []
        }
        let text = segments.map { "/" + String(decoding: $0, as: UTF8.self) }.joined()
        let user = url.userInfo.map { $0 + "@" } ?? ""
        let query = url.query.map { "?" + $0 } ?? ""
        return OriginURL("\(url.scheme)://\(user)\(url.authority)\(text)\(query)") ?? url
    }

    /// Where a place leads a browser, which takes escaped dots for dots and backslashes for slashes as it resolves, not after that.
    private static func resolved(_ place: String, by base: OriginURL) -> OriginURL? {
        let path = place.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let separators = [UInt8(ascii: "/"), UInt8(ascii: "\\")]
        let segments = path.split(omittingEmptySubsequences: false, whereSeparator: separators.contains).map {
            segment in
            let text = String(decoding: segment, as: UTF8.self)
            let plain = text.lowercased().replacing("%2e", with: ".")
            return [".", ".."].contains { plain.utf8.elementsEqual($0.utf8) } ? plain : text
        }
        let rest = String(decoding: place.utf8.dropFirst(path.count), as: UTF8.self)
        return base.resolving(segments.joined(separator: "/") + rest).map(read(byBrowser:))
    }

    /// A place that an origin names leads the client where it would lead without this server, or to the same below this server.
    @Sendable private static func places(_ text: String) throws {
        // As a field has it.
        let place = String(text.trimmingOptionalWhitespace)
        guard place.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return }
        guard let origin = OriginURL("https://origin/base"), let asked = OriginURL("https://origin/base/a/b"),
            let server = OriginURL("http://127.0.0.1:8787/t/https/origin/base/a/b"),
            let cache = OriginURL("https://cache/a/b")
        else { return }
        // What a browser makes of it without this server.
        let direct = resolved(place, by: asked)

        let role = EdgeRole(origin: origin, name: "edge")
        try requireOctets(place) { role.location($0) }
        // One with a backslash is left to the client.
        if let direct, !place.utf8.contains(UInt8(ascii: "\\")) {
            let mapped = resolved(role.location(place), by: cache)
            let isBelow = (direct.description + "/").utf8.starts(with: "https://origin/base/".utf8)
            let isRelative = OriginURL(place) == nil && place.utf8.first != UInt8(ascii: "/")
            if let mapped, mapped.hasOrigin(of: cache) {
                let meant = role.url(for: mapped.target)
                // What may lead up is refused there.
                let isRefused = meant == nil && direct.mayLeadUp
                try require(meant == direct || isRelative && !isBelow || isRefused, "\(direct) became \(mapped)")
            } else {
                try require(mapped == direct, "\(direct) became \(mapped?.description ?? "nothing")")
            }
        }

        let own = ServerRole.anyOrigin(AnyOriginRole(token: "t"))
        let told = own.told(["Location": place], from: asked, age: nil, outcome: nil)["Location"]
        guard let direct else { return }
        let reached = told.flatMap { resolved($0, by: server) }
        try require(reached?.hasOrigin(of: server) == true, "\(direct) became \(told ?? "nothing")")
        let meant = reached.map { RequestTarget($0.target, token: "t") }
        try require(meant == .media(direct), "\(direct) became \(told ?? "nothing")")
    }

    @Sendable private static func targets(_ text: String) throws {
        let form = TargetForm(text)
        if case .absolute(_, let authority, let path) = form {
            try require(path.utf8.first == UInt8(ascii: "/") && !authority.utf8.contains(UInt8(ascii: "/")), "\(form)")
        }
        for token in [nil, "t"] {
            try requireOctets(text) { text in
                guard case .media(let url) = RequestTarget(text, token: token) else { return nil }
                return "\(url)"
            }
            guard case .media(let url) = RequestTarget(text, token: token) else { continue }
            let target = RequestTarget.target(for: url, token: token)
            try require(RequestTarget(target, token: token) == .media(url), target)
            let isOurs = text.utf8.starts(with: "/t/".utf8) || text.utf8.starts(with: "/t?".utf8)
            try require(token == nil || isOurs, "in without the token")
        }
        guard let origin = OriginURL("https://origin/base") else { return }
        let edge = EdgeRole(origin: origin, name: "edge")
        if case .media(let url) = RequestTarget(text, edge: edge) {
            try require(url.hasOrigin(of: origin), "\(text.debugDescription) leads to \(url)")
        }
        for role in [
            ServerRole.edge(edge), .anyOrigin(AnyOriginRole(token: "t")), .anyOrigin(AnyOriginRole(token: nil)),
        ] {
            let rules = AccessRules(allowedHosts: [], allowedOrigins: [])
            for method in ["GET", "OPTIONS", "POST"] {
                var reader = RequestReader(headLimit: 1 << 16)
                var bytes = Array("\(method) \(text) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)[...]
                guard case .head(let head) = reader.read(&bytes) else { continue }
                let route = RequestRoute(head, rules: rules, role: role, sendsEveryMethod: true, now: 0)
                guard case .answer(let answer) = route else { continue }
                for line in answer.fields.lines {
                    try require(line.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, line.value.debugDescription)
                }
            }
        }
    }
}
