import RepriseCore
import RepriseHTTP
import RepriseRanges
import RepriseURLSession
import Testing

/// One long range as several short ones, without sockets.
@Suite struct RangedPartsTests {
    private func head(_ range: ByteRange, total: Int64?, tag: String? = "\"a\"", _ more: HTTPFields = [:])
        -> OriginResponseHead
    {
        var fields = more
        fields["Content-Range"] = ContentRange.satisfied(range, total: total).field
        fields["Content-Length"] = "\(range.count)"
        fields["ETag"] = tag
        return OriginResponseHead(status: 206, fields: fields)
    }

    /// Plays an origin of `total` bytes and answers the ranges that were asked, after the first head.
    private func play(_ parts: inout RangedParts, total: Int64) throws -> (head: OriginResponseHead?, asked: [String]) {
        var asked: [String] = []
        var first: OriginResponseHead?
        while true {
            let field = try #require(parts.fields["Range"])
            asked.append(field)
            let range = try #require(RangeSpecifier.parse(field)?.first?.resolved(length: total))
            let given = try parts.received(head(range, total: total))
            #expect((given == nil) == (asked.count > 1))
            first = first ?? given
            try parts.received(Int(range.count))
            switch parts.ended() {
            case .part: continue
            case .end: return (first, asked)
            case .failed(let failure): throw failure
            }
        }
    }

    @Test func `an open range is asked in parts, and its head looks like that of the whole, bug06`() throws {
        var parts = RangedParts(fields: ["Range": "bytes=5-"], size: 10)
        let (head, asked) = try play(&parts, total: 38)
        #expect(asked == ["bytes=5-14", "bytes=15-24", "bytes=25-34", "bytes=35-37"])
        #expect(head?.fields["Content-Range"] == "bytes 5-37/38")
        #expect(head?.fields["Content-Length"] == "33")
        #expect(parts.isSeries)
    }

    @Test func `a long closed range ends where it was asked to, or at the object's end`() throws {
        var parts = RangedParts(fields: ["Range": "bytes=0-24"], size: 10)
        var played = try play(&parts, total: 100)
        #expect(played.asked == ["bytes=0-9", "bytes=10-19", "bytes=20-24"])
        #expect(played.head?.fields["Content-Range"] == "bytes 0-24/100")
        parts = RangedParts(fields: ["Range": "bytes=0-24"], size: 10)
        played = try play(&parts, total: 15)
        #expect(played.asked == ["bytes=0-9", "bytes=10-14"])
        #expect(played.head?.fields["Content-Range"] == "bytes 0-14/15")
    }

    @Test(arguments: ["bytes=0-9", "bytes=7-7", "bytes=-50", "bytes=0-1,5-90", "bytes=9-2", "items=0-", ""])
    func `what is short, or no single range, goes as it came`(field: String) throws {
        var fields: HTTPFields = ["Accept-Encoding": "identity", "If-Range": "\"x\""]
        if !field.isEmpty { fields["Range"] = field }
        var parts = RangedParts(fields: fields, size: 10)
        #expect(parts.fields == fields)
        let head = head(ByteRange(0, 10), total: nil)
        #expect(try parts.received(head) == head)
        try parts.received(1_000_000)
        #expect(parts.ended() == .end)
        #expect(!parts.isSeries)
    }

    @Test func `without a size nothing is ever cut`() {
        let parts = RangedParts(fields: ["Range": "bytes=0-"], size: nil)
        #expect(parts.fields["Range"] == "bytes=0-")
    }

    @Test func `the caller's If-Range guards the first part, the first answer's validator those after`() throws {
        var parts = RangedParts(fields: ["Range": "bytes=0-", "If-Range": "\"old\""], size: 10)
        #expect(parts.fields["If-Range"] == "\"old\"")
        _ = try parts.received(head(ByteRange(0, 10), total: 30, tag: "\"new\""))
        try parts.received(10)
        #expect(parts.ended() == .part)
        #expect(parts.fields["If-Range"] == "\"new\"")
    }

    /// A weak tag may stay as bytes change, and a date within its second.
    @Test(
        arguments: [
            (nil, "Tue, 15 Sep 2020 12:26:41 GMT"), (nil, nil), ("W/\"w\"", "Tue, 15 Sep 2020 13:26:40 GMT"),
        ] as [(String?, String?)])
    func `where nothing strong tells versions apart the first part is the answer, inv01`(
        tag: String?, date: String?
    ) throws {
        var fields: HTTPFields = ["Last-Modified": "Tue, 15 Sep 2020 12:26:40 GMT"]
        fields["Date"] = date
        let first = head(ByteRange(0, 10), total: 30, tag: tag, fields)
        var parts = RangedParts(fields: ["Range": "bytes=0-"], size: 10)
        #expect(try parts.received(first) == first)
        try parts.received(10)
        #expect(parts.ended() == .end && !parts.isSeries)
    }

    @Test func `a date well before the answer's tells versions apart`() throws {
        let changed = "Tue, 15 Sep 2020 12:26:40 GMT"
        var parts = RangedParts(fields: ["Range": "bytes=0-"], size: 10)
        _ = try parts.received(
            head(
                ByteRange(0, 10), total: 30, tag: nil,
                ["Last-Modified": changed, "Date": "Tue, 15 Sep 2020 13:26:40 GMT"]))
        #expect(parts.isSeries && parts.fields["If-Range"] == changed)
    }

    @Test(arguments: [200, 404, 416, 500, 503])
    func `any first answer but 206 is the answer, bug02`(status: Int) throws {
        var parts = RangedParts(fields: ["Range": "bytes=5-"], size: 10)
        let head = OriginResponseHead(status: status, fields: ["Content-Length": "100"])
        #expect(try parts.received(head) == head)
        try parts.received(100)
        #expect(parts.ended() == .end)
    }

    @Test(arguments: [
        "bytes 6-15/100", "bytes 5-15/100", "bytes 5-99/100", "bytes 5-14/*", "bytes 5-12/13", "potato", "bytes */100",
    ])
    func `a first 206 that cannot be continued is handed on for the engine to judge`(field: String) throws {
        var parts = RangedParts(fields: ["Range": "bytes=5-"], size: 10)
        let head = OriginResponseHead(status: 206, fields: ["Content-Range": field])
        #expect(try parts.received(head) == head)
        #expect(!parts.isSeries)
    }

    @Test func `an origin that gives less than a part is asked on from there`() throws {
        var parts = RangedParts(fields: ["Range": "bytes=0-"], size: 10)
        _ = try parts.received(head(ByteRange(0, 4), total: 12))
        try parts.received(4)
        #expect(parts.ended() == .part)
        #expect(parts.fields["Range"] == "bytes=4-11")
    }

    private func afterOnePart() throws -> RangedParts {
        var parts = RangedParts(fields: ["Range": "bytes=0-"], size: 10)
        _ = try parts.received(
            head(ByteRange(0, 10), total: 30, ["Last-Modified": "Tue, 15 Sep 2020 12:26:40 GMT"]))
        try parts.received(10)
        #expect(parts.ended() == .part)
        return parts
    }

    @Test func `parts of two objects are never put together, bug03`() throws {
        let old = "Tue, 15 Sep 2020 12:26:40 GMT"
        let others = [
            head(ByteRange(10, 20), total: 31), head(ByteRange(10, 20), total: 30, tag: "\"b\""),
            head(ByteRange(10, 20), total: 30, tag: "W/\"a\""),
            head(ByteRange(10, 20), total: 30, tag: nil, ["Last-Modified": "Wed, 16 Sep 2020 12:26:40 GMT"]),
            OriginResponseHead(status: 200, fields: ["Content-Length": "30", "ETag": "\"b\""]),
            OriginResponseHead(status: 416, fields: ["Content-Range": "bytes */5"]),
            OriginResponseHead(status: 403, fields: [:]), OriginResponseHead(status: 503, fields: [:]),
        ]
        for other in others {
            var parts = try afterOnePart()
            let failure = #expect(throws: OriginFailure.self) { try parts.received(other) }
            #expect(failure?.kind == .interrupted, "\(other)")
        }
        var parts = try afterOnePart()
        #expect(try parts.received(head(ByteRange(10, 20), total: 30, tag: nil, ["Last-Modified": old])) == nil)
    }

    @Test func `a part that is not the one asked for is malformed`() throws {
        let others = [
            head(ByteRange(11, 20), total: 30), head(ByteRange(10, 21), total: 30), head(ByteRange(10, 20), total: nil),
            OriginResponseHead(status: 206, fields: [:]),
        ]
        for other in others {
            var parts = try afterOnePart()
            let failure = #expect(throws: OriginFailure.self) { try parts.received(other) }
            #expect(failure?.kind == .malformed, "\(other)")
        }
    }

    @Test func `a part that ends early is interrupted, one that goes on is malformed`() throws {
        var parts = RangedParts(fields: ["Range": "bytes=0-"], size: 10)
        _ = try parts.received(head(ByteRange(0, 10), total: 30))
        try parts.received(9)
        guard case .failed(let failure) = parts.ended() else {
            Issue.record("a short part passed")
            return
        }
        #expect(failure.kind == .interrupted)
        let tooMuch = #expect(throws: OriginFailure.self) { try parts.received(2) }
        #expect(tooMuch?.kind == .malformed)
    }
}
