import RepriseCore
import RepriseHTTP
import RepriseRanges

extension FuzzTarget {
    /// Whole heads, of any fields: what is decided by them.
    static let messageTargets = [
        FuzzTarget(
            "answers",
            seeds: [
                (206, "Content-Range: bytes 0-9/100\nETag: \"a\"\nContent-Length: 10"), (200, "Content-Length: 100"),
                (416, "Content-Range: bytes */0"), (304, "ETag: W/\"a\""), (503, "Retry-After: 9223372036854775807"),
                (
                    200,
                    "Cache-Control: max-age=99999999999\nAge: 99999999999999999999\nDate: Sun, 06 Nov 1994 08:49:37 GMT"
                ),
                (200, "Expires: -1\nDate: Fri, 31 Dec 9999 23:59:59 GMT\nLast-Modified: Thu, 01 Jan 1970 00:00:00 GMT"),
                (301, "Location: //b/\u{E9}\nContent-Location: ../c\nVary: *"),
                (599, "Transfer-Encoding: gzip, chunked"),
            ].map { [UInt8($0.0 >> 8), UInt8($0.0 & 255), 128, 0, 0, 128, 0, 0] + Array($0.1.utf8) } + [
                // Received at the end of 64 bits.
                [0, 200, 255, 255, 63, 128, 0, 0] + Array("Date: Fri, 01 Jan 1960 00:00:00 GMT".utf8)
            ],
            answer),
        FuzzTarget(
            "conditions",
            seeds: [
                "Range: bytes=0-9\nIf-Range: \"a\"", "Range: bytes=0-0,5-9,-1", "If-None-Match: *", "If-Match: W/\"a\"",
                "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT",
                "Range: bytes=9223372036854775806-9223372036854775807",
            ].map { [128, 100, 0] + Array($0.utf8) },
            conditions),
    ]

    @Sendable private static func answer(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        let status = input.number()
        let checked = input.time()
        let now = input.time()
        let fields = HTTPFields(lines: String(decoding: input.rest, as: UTF8.self))
        let head = OriginResponseHead(status: status, fields: fields)
        _ = head.breach

        let asked = ByteRange(10, 20)
        let held = ResponseJudge.Held(validator: Validator(fields: fields), length: 100)
        for judge in [
            ResponseJudge(asked: nil, held: nil, now: now), ResponseJudge(asked: asked, held: nil, now: now),
            ResponseJudge(asked: asked, held: held, now: now),
        ] {
            switch judge.verdict(head) {
            case .part(let range, let total):
                try require(!range.isEmpty && range.upperBound <= total ?? .max, "\(range) of \(total ?? -1)")
            case .busy(_, let seconds?): try require(seconds >= 0, "\(seconds) seconds")
            default: break
            }
        }

        let freshness = Freshness(fields: fields, status: status, checked: checked)
        try require(freshness.age(now: now) >= 0, "an age of \(freshness.age(now: now))")
        if freshness.isFresh(now: now) { try require(freshness.timeLeft(now: now) > 0, "fresh for no time") }
        let refusal = StoringRule.refusal(status: status, fields: fields, request: fields)
        if refusal == nil { try require(!freshness.control.isPrivate, "one user's answer is stored") }
        let stored = StoringRule.kept(fields)
        try require(!stored.contains("Set-Cookie"), "a cookie is stored")
        let rule = ReuseRule(stored: freshness, request: RequestCacheControl(fields), now: now)
        if rule.verdict == .use {
            try require(!freshness.control.noStore || freshness.control.mustUnderstand, "\(rule)")
        }
        _ = Confirmation.freshened(stored, by: fields)
        _ = Variant(answer: fields, request: fields)

        guard let url = OriginURL("https://a/b/c?d") else { return }
        for target in InvalidationRule.targets(method: "POST", url: url, status: status, fields: fields) {
            try require(target.hasOrigin(of: url), "\(target) is emptied by \(url)")
        }
        var redirects = RedirectRule(url, ["Authorization": "a", "X-Key": "b", "Range": "bytes=0-"])
        if let location = RedirectRule.location(status, fields), redirects.follow(location),
            !redirects.url.hasOrigin(of: url)
        {
            try require(
                !redirects.fields.contains("Authorization") && !redirects.fields.contains("X-Key"), "\(redirects)")
        }
    }

    @Sendable private static func conditions(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        let length = input.time()
        let fields = HTTPFields(lines: String(decoding: input.rest, as: UTF8.self))
        for known in [nil, length < 0 ? 0 : length] as [Int64?] {
            let info = ContentInfo(length: known, contentType: "audio/mpeg")
            for boundary in [nil, "b"] {
                let request = ConditionalRequest(method: "GET", fields: fields, boundary: boundary)
                _ = (request.presumedRange, request.plainRange(length: known))
                let answer = request.answer(info)
                try require([200, 206, 304, 412, 416].contains(answer.status), "\(answer.status)")
                if let range = answer.range, answer.status == 206 {
                    try require(!range.isEmpty && range.upperBound <= known ?? .max, "\(range) of \(known ?? -1)")
                }
                guard let parts = answer.parts else { continue }
                try require(parts.length < known ?? .max, "parts longer than the whole")
                try require(answer.fields["Content-Length"] == "\(parts.length)", "parts of another length")
            }
        }
    }
}
