import RepriseCore
import RepriseHTTP
import RepriseRanges
import Testing

@Suite struct ResponseJudgeTests {
    typealias Verdict = ResponseJudge.Verdict
    static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let otherDate = "Mon, 07 Nov 1994 08:49:37 GMT"
    static let held = ResponseJudge.Held(
        validator: Validator(entityTag: EntityTag("\"a\""), lastModified: date), length: 1000)
    static let lengthOnly = ResponseJudge.Held(validator: Validator(), length: 1000)
    static let nothingKnown = ResponseJudge.Held(validator: Validator(), length: nil)

    static func verdict(
        _ status: Int, _ fields: HTTPFields = [:], asked: ByteRange? = ByteRange(100, 200),
        held: ResponseJudge.Held? = nil,
        trusts: Bool = true
    ) -> Verdict {
        ResponseJudge(asked: asked, held: held, trustsEntityTags: trusts, now: 1_000_000)
            .verdict(OriginResponseHead(status: status, fields: fields))
    }

    private func isInvalid(_ verdict: Verdict) -> Bool { if case .invalid = verdict { true } else { false } }

    /// What Unicode calls equal: `é` in one scalar and in two.
    @Test func `tags are the same where their bytes are, inv01`() {
        let held = ResponseJudge.Held(validator: Validator(entityTag: EntityTag("\"\u{E9}\"")), length: 1000)
        let head = OriginResponseHead(
            status: 206, fields: ["Content-Range": "bytes 100-199/1000", "ETag": "\"e\u{301}\""])
        let judge = ResponseJudge(asked: ByteRange(100, 200), held: held, now: 0)
        for strongly in [true, false] { #expect(!judge.isConfirmed(by: head, strongly: strongly)) }
        guard case .changed = judge.verdict(head) else {
            Issue.record("two versions are taken for one")
            return
        }
    }

    @Test func `a date that is not strong confirms, and does not combine, RFC 9110 §8.8.2.2`() {
        let held = ResponseJudge.Held(validator: Validator(lastModified: Self.date), length: 1000, isDateStrong: false)
        let judge = ResponseJudge(asked: ByteRange(100, 200), held: held, now: 0)
        let head = OriginResponseHead(
            status: 206, fields: ["Content-Range": "bytes 100-199/1000", "Last-Modified": Self.date])
        #expect(judge.isConfirmed(by: head, strongly: false) && !judge.isConfirmed(by: head, strongly: true))
    }

    // MARK: 206

    @Test func `a part is what was asked for, with or without a known total`() {
        #expect(Self.verdict(206, ["Content-Range": "bytes 100-199/1000"]) == .part(ByteRange(100, 200), total: 1000))
        #expect(Self.verdict(206, ["Content-Range": "bytes 100-199/*"]) == .part(ByteRange(100, 200), total: nil))
        #expect(
            Self.verdict(206, ["content-range": "bytes 100-199/1000", "content-LENGTH": "100"])
                == .part(ByteRange(100, 200), total: 1000))
    }

    @Test(arguments: ["bytes 99-199/1000", "bytes 0-199/1000", "bytes 100-200/1000", "bytes 0-999/1000"])
    func `a part may be wider than asked for`(field: String) {
        guard case .part(let range, 1000) = Self.verdict(206, ["Content-Range": field]) else {
            Issue.record("it is refused")
            return
        }
        #expect(range.contains(100))
    }

    @Test func `a part may end early, as at the end of the object`() {
        #expect(Self.verdict(206, ["Content-Range": "bytes 100-149/150"]) == .part(ByteRange(100, 150), total: 150))
        let open = Self.verdict(206, ["Content-Range": "bytes 100-149/150"], asked: .from(100))
        #expect(open == .part(ByteRange(100, 150), total: 150))
    }

    @Test(
        arguments: [
            "", "bytes", "bytes potato", "potato 100-199/1000", "bytes 100-199", "bytes 100-/1000", "bytes -199/1000",
            "bytes 199-100/1000", "bytes 100-199/199", "bytes 100-199/150", "bytes */1000", "bytes 100-199/x",
            "bytes 101-199/1000", "bytes 0-99/1000", "bytes 200-299/1000", "bytes 99-99/1000",
            "bytes 100-199/9223372036854775807", "bytes 100-2305843009213693951/*",
            "bytes 100-99999999999999999999/*", "bytes 100-199/1000,bytes 100-199/1000", "bytes 100-199/-1",
        ])
    func `a Content-Range that is not what was asked for is refused before a byte is used, inv19 bug01 bug06`(
        field: String
    ) {
        #expect(isInvalid(Self.verdict(206, ["Content-Range": field])))
        #expect(isInvalid(Self.verdict(206, ["Content-Range": field], held: Self.held)))
    }

    @Test func `a 206 without a Content-Range, or that nobody asked for, is refused, inv19 bug07`() {
        #expect(isInvalid(Self.verdict(206)))
        #expect(isInvalid(Self.verdict(206, ["Content-Length": "100"])))
        #expect(isInvalid(Self.verdict(206, ["Content-Range": "bytes 0-9/10"], asked: nil)))
        #expect(isInvalid(Self.verdict(206, ["Content-Type": "multipart/byteranges; boundary=x"])))
    }

    @Test(arguments: ["0", "2", "99", "101", "1000"])
    func `a length that disagrees with its own range is refused, inv19 bug25`(length: String) {
        #expect(isInvalid(Self.verdict(206, ["Content-Range": "bytes 100-199/1000", "Content-Length": length])))
    }

    @Test(arguments: [206, 200])
    func `an encoded body is refused, an identity one is not, inv20`(status: Int) {
        for coding in ["gzip", "br", "deflate", "GZIP", "zstd", "gzip, identity"] {
            let fields: HTTPFields = ["Content-Range": "bytes 100-199/1000", "Content-Encoding": coding]
            #expect(isInvalid(Self.verdict(status, fields)))
        }
        for coding in ["", "identity", "Identity"] {
            let fields: HTTPFields = ["Content-Range": "bytes 100-199/1000", "Content-Encoding": coding]
            #expect(!isInvalid(Self.verdict(status, fields)))
        }
    }

    // MARK: 200

    @Test func `a 200 is everything from 0, whatever was asked, bug02`() {
        #expect(Self.verdict(200, ["Content-Length": "1000"]) == .whole(length: 1000))
        #expect(Self.verdict(200, ["Content-Length": "1000"], asked: nil) == .whole(length: 1000))
        #expect(Self.verdict(200, ["Content-Length": "1000"], held: Self.lengthOnly) == .whole(length: 1000))
    }

    @Test func `a length is taken only from a Content-Length that can be read, bug07`() {
        #expect(Self.verdict(200) == .whole(length: nil))
        #expect(Self.verdict(200, ["Content-Length": "x"]) == .whole(length: nil))
        #expect(Self.verdict(200, ["Content-Length": "-1"]) == .whole(length: nil))
        #expect(Self.verdict(200, ["Content-Length": "9", "Transfer-Encoding": "chunked"]) == .whole(length: nil))
    }

    // MARK: Another representation

    @Test func `another total, tag or date is another representation, inv16`() {
        let range = "bytes 100-199/1000"
        let cases: [(HTTPFields, Bool)] = [
            (["Content-Range": range], false),
            (["Content-Range": "bytes 100-199/*"], false),
            (["Content-Range": "bytes 100-199/1001"], true),
            (["Content-Range": range, "ETag": "\"a\"", "Last-Modified": Self.date], false),
            (["Content-Range": range, "ETag": "\"b\"", "Last-Modified": Self.date], true),
            (["Content-Range": range, "ETag": "W/\"a\""], true),
            (["Content-Range": range, "Last-Modified": Self.otherDate], true),
            // The same strong tag counts more than another date: nodes copy files at different times.
            (["Content-Range": range, "ETag": "\"a\"", "Last-Modified": Self.otherDate], false),
        ]
        for (fields, isChanged) in cases {
            let verdict = Self.verdict(206, fields, held: Self.held)
            if isChanged {
                guard case .changed(_, length: let length, servesRanges: true) = verdict else {
                    return #expect(Bool(false), "\(fields) gave \(verdict)")
                }
                #expect(length == (fields["Content-Range"]!.hasSuffix("1001") ? 1001 : 1000))
            } else {
                guard case .part = verdict else { return #expect(Bool(false), "\(fields) gave \(verdict)") }
            }
        }
    }

    @Test func `a host that disagrees with itself about tags is judged by the rest, bug31`() {
        let fields: HTTPFields = ["Content-Range": "bytes 100-199/1000", "ETag": "\"b\"", "Last-Modified": Self.date]
        #expect(Self.verdict(206, fields, held: Self.held, trusts: false) == .part(ByteRange(100, 200), total: 1000))
        let dated: HTTPFields = [
            "Content-Range": "bytes 100-199/1000", "ETag": "\"b\"", "Last-Modified": Self.otherDate,
        ]
        let dates = Mismatch(
            expected: .lastModified(Self.date), got: .lastModified(Self.otherDate),
            "it was changed at \(Self.date) and now at \(Self.otherDate)")
        #expect(
            Self.verdict(206, dated, held: Self.held, trusts: false)
                == .changed(dates, length: 1000, servesRanges: true))
    }

    @Test func `a failed If-Range says what the origin has now and whether it serves ranges, inv16`() {
        let fields: HTTPFields = ["Content-Length": "900", "ETag": "\"b\"", "Accept-Ranges": "bytes"]
        let lengths = Mismatch(
            expected: .length(1000), got: .length(900), "it was 1000 bytes long and is 900")
        #expect(Self.verdict(200, fields, held: Self.held) == .changed(lengths, length: 900, servesRanges: true))
        #expect(
            Self.verdict(200, ["Content-Length": "900", "ETag": "\"b\"", "Accept-Ranges": "none"], held: Self.held)
                == .changed(lengths, length: 900, servesRanges: false))
    }

    @Test func `what is refused says what was expected and what came, inv19`() {
        func mismatch(_ status: Int, _ fields: HTTPFields, asked: ByteRange? = ByteRange(100, 200)) -> Mismatch? {
            guard case .invalid(let mismatch) = Self.verdict(status, fields, asked: asked) else { return nil }
            return mismatch
        }
        let asked = Mismatch.Value.range(ByteRange(100, 200))
        let shifted = mismatch(206, ["Content-Range": "bytes 101-199/1000"])
        #expect(shifted?.expected == asked && shifted?.got == .range(ByteRange(101, 200)))
        let missing = mismatch(206, [:])
        #expect(missing?.expected == asked && missing?.got == .nothing)
        let short = mismatch(206, ["Content-Range": "bytes 100-199/1000", "Content-Length": "7"])
        #expect(short?.expected == .length(100) && short?.got == .length(7))
        let encoded = mismatch(200, ["Content-Encoding": "gzip"])
        #expect(encoded?.expected == .contentCoding("identity") && encoded?.got == .contentCoding("gzip"))
        let unasked = mismatch(206, ["Content-Range": "bytes 100-199/1000"], asked: nil)
        #expect(unasked?.expected == .status(200) && unasked?.got == .status(206))
        let odd = mismatch(204, [:])
        #expect(odd?.expected == .status(206) && odd?.got == .status(204))
    }

    @Test func `another representation is told by the strongest thing that differs, inv16`() {
        func difference(_ fields: HTTPFields) -> Mismatch? {
            guard case .changed(let difference, _, _) = Self.verdict(206, fields, held: Self.held) else { return nil }
            return difference
        }
        let range = "bytes 100-199/1000"
        let tag = difference(["Content-Range": range, "ETag": "\"b\"", "Last-Modified": Self.otherDate])
        #expect(tag?.expected == .entityTag("\"a\"") && tag?.got == .entityTag("\"b\""))
        let length = difference(["Content-Range": "bytes 100-199/1001", "ETag": "\"b\""])
        #expect(length?.expected == .length(1000) && length?.got == .length(1001))
    }

    // MARK: The rest

    @Test func `304 says that what is held is good, if something is held`() {
        #expect(Self.verdict(304, held: Self.held) == .notModified)
        #expect(Self.verdict(304) != .notModified)
    }

    @Test func `416 tells the length, or that it is another one, bug05`() {
        #expect(Self.verdict(416, ["Content-Range": "bytes */50"]) == .pastEnd(length: 50))
        #expect(Self.verdict(416, ["Content-Range": "bytes */0"]) == .pastEnd(length: 0))
        #expect(Self.verdict(416) == .pastEnd(length: nil))
        #expect(Self.verdict(416, ["Content-Range": "bytes 0-1/50"]) == .pastEnd(length: nil))
        #expect(Self.verdict(416, ["Content-Range": "bytes */1000"], held: Self.held) == .pastEnd(length: 1000))
        #expect(
            Self.verdict(416, ["Content-Range": "bytes */50"], held: Self.held)
                == .changed(
                    Mismatch(expected: .length(1000), got: .length(50), "it was 1000 bytes long and is 50"),
                    length: 50, servesRanges: true))
        #expect(Self.verdict(416, ["Content-Range": "bytes */50"], held: Self.nothingKnown) == .pastEnd(length: 50))
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
    func `what passes is tried again, after the time the origin asks for, bug03`(status: Int) {
        #expect(Self.verdict(status) == .busy(status: status, retryAfter: nil))
        #expect(Self.verdict(status, ["Retry-After": "17"], held: Self.held) == .busy(status: status, retryAfter: 17))
        #expect(Self.verdict(status, ["Retry-After": "soon"]) == .busy(status: status, retryAfter: nil))
        let later = HTTPDate.format(1_000_060)
        #expect(Self.verdict(status, ["Retry-After": later]) == .busy(status: status, retryAfter: 60))
    }

    @Test(arguments: [
        300, 301, 302, 307, 308, 400, 401, 402, 403, 404, 405, 406, 410, 412, 418, 451, 499, 501, 505, 511, 599,
    ])
    func `what will not pass is refused, on the first answer and on every later one, bug03`(status: Int) {
        #expect(Self.verdict(status) == .refused(status: status))
        #expect(
            Self.verdict(status, ["Content-Range": "bytes 100-199/1000"], held: Self.held) == .refused(status: status))
    }

    @Test(arguments: [-1, 0, 99, 100, 103, 199, 201, 202, 203, 204, 205, 207, 226, 299, 600, 999, 100_000])
    func `a status that means nothing here is refused too, and nothing traps, bug01`(status: Int) {
        #expect(isInvalid(Self.verdict(status, ["Content-Range": "bytes 100-199/1000", "Content-Length": "100"])))
    }
}
