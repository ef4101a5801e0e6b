import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

/// Every parser is total: any bytes have an answer, and what was read is read again from what it prints.
@Suite("Any bytes")
struct FuzzTests {
    static let seeds: [String] = [
        "bytes=0-499", "bytes=0-0,-1", "bytes=9223372036854775807-", "bytes 42-1233/1234", "bytes */0", "W/\"xyzzy\"",
        "\"a,b\", \"c\"", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "no-store, private=\"a, b\", max-age=60", "120", "audio/mpeg; charset=utf-8", "http://u@h:80/a/../b?c#d",
        "https://[::1]:444/x.mp3", "../../g?y#s", "<!doctype html>", "{\"a\":1}", "\u{301}/e\u{301}://",
        "9223372036854775808",
    ]

    private func exercise(_ text: String, _ comment: Comment) {
        for part in RangeSpecifier.parse(text) ?? [] {
            for length in [Int64(0), 1, 1000, .max] {
                if let range = part.resolved(length: length) {
                    #expect(!range.isEmpty && range.upperBound <= length, comment)
                }
            }
            _ = part.resolvedWithoutLength
        }
        if let range = ContentRange.parse(text) { #expect(ContentRange.parse(range.field) == range, comment) }
        if let tag = EntityTag(text) { #expect(EntityTag(tag.field) == tag, comment) }
        _ = EntityTagCondition(text).matches(EntityTag(opaque: "\"a\""), strongly: false)
        if let date = HTTPDate.parse(text), date >= 0 {
            #expect(HTTPDate.parse(HTTPDate.format(date)) == date, comment)
        }
        let control = CacheControl(text)
        #expect((control.maxAge ?? 0) >= 0 && (control.sharedMaxAge ?? 0) >= 0, comment)
        #expect((control.staleIfError ?? 0) >= 0 && (control.staleWhileRevalidate ?? 0) >= 0, comment)
        let demands = RequestCacheControl(["Cache-Control": text])
        #expect((demands.minFresh ?? 0) >= 0 && (demands.maxStale ?? 0) >= 0, comment)
        _ = VaryField(["Vary": text]).selection(of: [text: text])
        var status = CacheStatus(forward: .miss)
        status.key = text
        status.detail = text
        #expect(status.member(named: text).utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, comment)
        #expect((RetryAfter.seconds(text, now: 784_111_777) ?? 0) >= 0, comment)
        if let type = MediaType(text) {
            #expect(MediaType(type.essence) == type && !type.fileExtension.isEmpty, comment)
        }
        _ = ContainerSignature.of(text.utf8)
        var fields = HTTPFields([("A", text), (text, "b"), ("Connection", text)])
        _ = fields[text]
        _ = fields.has(token: text, in: "a")
        fields.removeHopByHop()
        #expect(!fields.contains("Connection"), comment)
        _ = Validator(fields: ["ETag": text, "Last-Modified": text]).ifRange
        if let url = OriginURL(text) { checkURL(url, comment) }
        if let url = OriginURL("http://a/b/c/d;p?q")?.resolving(text) { checkURL(url, comment) }
        if let url = OriginURL("http://" + text) { checkURL(url, comment) }
    }

    private func checkURL(_ url: OriginURL, _ comment: Comment) {
        #expect(OriginURL(url.description) == url, comment)
        #expect(url.target.utf8.first == 0x2F && !url.target.utf8.contains(0x23), comment)
        #expect(url.host.utf8.allSatisfy { !"/\\?#@ ".utf8.contains($0) } && !url.host.isEmpty, comment)
        #expect((1...65_535).contains(url.port), comment)
        _ = (url.query, url.pathExtension, url.redacted)
    }

    @Test(arguments: UInt64(1)...8)
    func `never trap a parser`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for round in 0..<400 {
            let bytes = random.bytes(.random(in: 0...40, using: &random))
            exercise(String(decoding: bytes, as: UTF8.self), "seed \(seed), round \(round)")
            _ = ContainerSignature.of(bytes)
        }
    }

    @Test(arguments: seeds)
    func `made from valid ones never trap a parser`(text: String) {
        let seed = UInt64(text.utf8.count)
        var random = SeededGenerator(seed: seed)
        exercise(text, "as it is")
        let alphabet =
            Array(" \t,;=-/*\"\\@:?#[]%.+09aWb\r\n\0".unicodeScalars) + ["\u{301}", "\u{E9}", "\u{1F3B5}", "\u{660}"]
        for round in 0..<250 {
            var scalars = Array(text.unicodeScalars)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0...scalars.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: scalars.insert(alphabet.randomElement(using: &random) ?? "x", at: index)
                case 1: if index < scalars.count { scalars.remove(at: index) }
                case 2: if index < scalars.count { scalars[index] = alphabet.randomElement(using: &random) ?? "x" }
                default: scalars = Array(scalars[index...] + scalars[..<index])
                }
            }
            var mutated = String.UnicodeScalarView()
            mutated.append(contentsOf: scalars)
            exercise(String(mutated), "seed \(seed), round \(round): \(String(mutated).debugDescription)")
        }
    }
}
