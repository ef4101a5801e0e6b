import RepriseHTTP
import RepriseRanges

extension FuzzTarget {
    /// What stands in one field.
    static let fieldTargets = [
        FuzzTarget(
            "ranges",
            texts: [
                "bytes=0-499", "bytes=0-0,-1", "bytes=9223372036854775807-", "bytes=-0", "bytes=1-2, 3-4 ,,5-",
                "bytes 42-1233/1234", "bytes */0", "bytes 0-0/*", "9223372036854775808",
            ]
        ) { text in
            for part in RangeSpecifier.parse(text) ?? [] {
                for length in [Int64(0), 1, 1000, .max] {
                    guard let range = part.resolved(length: length) else { continue }
                    try require(!range.isEmpty && range.upperBound <= length, "\(range) of \(length)")
                }
                _ = part.resolvedWithoutLength
            }
            try requireOctets(text) { ContentRange.parse($0)?.field }
            guard let range = ContentRange.parse(text) else { return }
            try require(ContentRange.parse(range.field) == range, range.field)
        },
        FuzzTarget("entity-tags", texts: ["W/\"xyzzy\"", "\"a,b\", \"c\"", "*", "\"\u{80}\"", "\"a\" , W/\"\""]) {
            text in
            try requireOctets(text) { EntityTag($0)?.field }
            if let tag = EntityTag(text) { try require(EntityTag(tag.field) == tag, tag.field) }
            _ = EntityTagCondition(text).matches(EntityTag(opaque: "\"a\""), strongly: false)
            _ = Validator(fields: ["ETag": text, "Last-Modified": text]).ifRange
        },
        FuzzTarget(
            "dates",
            texts: [
                "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
                "Thu, 29 Feb 2024 23:59:60 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "120", "0",
                "Fri, 31 Dec 9999 23:59:60 GMT", "  Sunday, 04-Nov-94 018:49:37 GMT",
            ]
        ) { text in
            try requireOctets(text) { HTTPDate.parse($0).map { "\($0)" } }
            try requireOctets(text) { HTTPDate.parseStrictly($0).map { "\($0)" } }
            if let date = HTTPDate.parse(text), date >= 0 {
                try require(HTTPDate.parse(HTTPDate.format(date)) == date, "\(date)")
            }
            if let date = HTTPDate.parseStrictly(text) {
                try require(HTTPDate.parse(text) == date, "strictly \(date), loosely otherwise")
            }
            for now in [Int64(0), 784_111_777, .max] {
                try require((RetryAfter.seconds(text, now: now) ?? 0) >= 0, "a negative time to wait")
            }
        },
        FuzzTarget(
            "cache-directives",
            texts: [
                "no-store, private=\"a, b\", max-age=60", "max-age=\"5\", s-maxage=99999999999999999999",
                "no-cache=\"Set-Cookie\", stale-while-revalidate=-1", "private=\"a",
                "max-stale, min-fresh=1, only-if-cached",
                "max-age=60;a=b, public=?0, s-maxage=1.5, stale-if-error=\"x\"", ",,, =,\"\\", "private=\"a,\u{301}b\"",
                "max-age=\u{301}5,\u{301}no-store", "a=:YQ==:, (1 2);x",
            ]
        ) { text in
            try requireOctets(text) { text in
                let directives = CacheDirectives(text)
                let all = directives.list.map { "\($0.name)=\($0.value ?? "")" } + directives.fieldNames(of: "private")
                return all.joined(separator: "\n")
            }
            for fields in [["Cache-Control": text], ["CDN-Cache-Control": text]] as [HTTPFields] {
                let control = CacheControl(answer: fields)
                for seconds in [
                    control.maxAge, control.sharedMaxAge, control.staleIfError, control.staleWhileRevalidate,
                ] {
                    let longest = CacheDirectives.longest
                    try require((0...longest).contains(seconds ?? 0), "\(seconds ?? 0) seconds")
                }
                _ = (control.privateFields, control.noCacheFields)
            }
            let demands = RequestCacheControl(["Cache-Control": text])
            try require((demands.minFresh ?? 0) >= 0 && (demands.maxStale ?? 0) >= 0, "a negative demand")
            var status = CacheStatus(forward: .miss)
            status.key = text
            status.detail = text
            try require(status.member(named: text).utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, "not ASCII")
        },
        FuzzTarget(
            "media-types",
            texts: ["audio/mpeg; charset=utf-8", "text/html;a=\"b;c\"", "*/*", "a/b+xml", "audio/mpeg;\u{301}"]
        ) { text in
            try requireOctets(text) { MediaType($0)?.essence }
            guard let type = MediaType(text) else { return }
            try require(MediaType(type.essence) == type && !type.fileExtension.isEmpty, type.essence)
            try require(!type.fileExtension.contains("/"), type.fileExtension)
        },
        FuzzTarget(
            "field-lines",
            texts: [
                "Connection: a, b\na: 1\nB: 2\nTE: x", "Vary: Accept, *\nAccept: a", "Vary: \u{E9}\n\u{E9}: \u{301}",
                "Connection: close\nConnection: connection", "Content-Encoding: gzip,identity",
                "Connection: a,\u{301}b\na: 1\n\u{301}b: 2", "Vary: Accept,\u{301}b\nAccept: a,\u{301}",
            ]
        ) { text in
            try requireOctets(text) { text in
                var fields = HTTPFields(lines: text)
                let selection = VaryField(fields).selection(of: fields)
                fields.removeHopByHop()
                // The order of its names is that of what stands in for them.
                let chosen = (selection ?? "any").unicodeScalars.split { $0 == "\n" }.map(\.count).sorted()
                return "\(chosen)\n" + fields.lines.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
            }
            var fields = HTTPFields(lines: text)
            _ = VaryField(fields).selection(of: fields)
            let named = fields.members(of: "Connection")
            fields.removeHopByHop()
            try require(!fields.contains("Connection"), "Connection goes on")
            for name in named { try require(!fields.contains(String(name)), "\(name.debugDescription) goes on") }
            let all = HTTPFields(lines: text)
            for line in all.lines {
                try require(all.contains(line.name), "\(line.name.debugDescription) is not found")
                _ = (all[line.name], all.has(token: line.value, in: line.name))
            }
        },
    ]
}

extension HTTPFields {
    /// Fields of lines like `name: value`, whatever their bytes.
    init(lines text: String) {
        self.init(
            text.unicodeScalars.split(separator: "\n").map { line in
                let name = line.prefix { $0 != ":" }
                let value = String(String.UnicodeScalarView(line[name.endIndex...].dropFirst()))
                return (String(String.UnicodeScalarView(name)), String(value.trimmingOptionalWhitespace))
            })
    }
}
