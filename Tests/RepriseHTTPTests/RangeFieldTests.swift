import RepriseHTTP
import RepriseRanges
import RepriseTesting
import Testing

@Suite("A Range field")
struct RangeSpecifierTests {
    struct Reading: Sendable {
        let field: String
        let parts: [RangeSpecifier]?
        init(_ field: String, _ parts: [RangeSpecifier]?) { (self.field, self.parts) = (field, parts) }
    }

    static let readings = [
        Reading("bytes=0-499", [.closed(first: 0, last: 499)]),
        Reading("bytes=500-999", [.closed(first: 500, last: 999)]),
        Reading("bytes=-500", [.suffix(500)]), Reading("bytes=9500-", [.from(9500)]),
        Reading("bytes=0-0,-1", [.closed(first: 0, last: 0), .suffix(1)]),
        Reading(
            "bytes= 0-999, 4500-5499, -1000",
            [.closed(first: 0, last: 999), .closed(first: 4500, last: 5499), .suffix(1000)]),
        Reading("BYTES=1-2", [.closed(first: 1, last: 2)]), Reading("bytes=,,1-2 ,\t,", [.closed(first: 1, last: 2)]),
        Reading("bytes=-0", [.suffix(0)]), Reading("bytes=007-08", [.closed(first: 7, last: 8)]),
        Reading("bytes=0-99999999999999999999999", [.closed(first: 0, last: .max)]),
        Reading("bytes=99999999999999999999999-", [.from(.max)]),
        Reading("bytes=-99999999999999999999", [.suffix(.max)]),
        Reading("bytes=2-1", nil), Reading("bytes=1-2,5-4", nil), Reading("bytes=", nil), Reading("bytes=,", nil),
        Reading("bytes=-", nil), Reading("bytes=--1", nil), Reading("bytes=a-b", nil), Reading("bytes=1-2-3", nil),
        Reading("bytes=+1-2", nil), Reading("bytes=1 - 2", nil), Reading("bytes=0x1-2", nil), Reading("bytes=١-٢", nil),
        Reading("bytes 0-1", nil), Reading("seconds=0-1", nil), Reading("0-1", nil), Reading("", nil),
        Reading("=", nil),
        Reading("bytes=1", nil), Reading("bytes=1-\u{301}2", nil),
    ]

    @Test(arguments: readings)
    func `is read as RFC 9110 says or ignored`(reading: Reading) {
        #expect(RangeSpecifier.parse(reading.field) == reading.parts, "\(reading.field)")
    }

    @Test func `bug29 a suffix means exactly that many last bytes`() {
        #expect(RangeSpecifier.suffix(3).resolved(length: 10) == ByteRange(7, 10))
        #expect(RangeSpecifier.suffix(10).resolved(length: 10) == ByteRange(0, 10))
        #expect(RangeSpecifier.suffix(11).resolved(length: 10) == ByteRange(0, 10))
        #expect(RangeSpecifier.suffix(.max).resolved(length: 10) == ByteRange(0, 10))
        #expect(RangeSpecifier.suffix(1).resolved(length: .max) == ByteRange(.max - 1, .max))
        #expect(RangeSpecifier.suffix(0).resolved(length: 10) == nil)
        #expect(RangeSpecifier.suffix(5).resolved(length: 0) == nil)
        #expect(RangeSpecifier.suffix(5).resolvedWithoutLength == nil)
    }

    @Test func `bug06 the last offset on the wire is included, ours is not`() {
        #expect(RangeSpecifier.closed(first: 0, last: 0).resolved(length: 10) == ByteRange(0, 1))
        #expect(RangeSpecifier.closed(first: 2, last: 4).resolved(length: 10) == ByteRange(2, 5))
        #expect(RangeSpecifier.field(for: ByteRange(2, 5)) == "bytes=2-4")
        #expect(RangeSpecifier.field(for: ByteRange(0, 1)) == "bytes=0-0")
        #expect(RangeSpecifier.field(for: .from(7)) == "bytes=7-")
    }

    @Test func `inv09 clips to the length, and is unsatisfiable only from the length on`() {
        #expect(RangeSpecifier.closed(first: 9, last: 100).resolved(length: 10) == ByteRange(9, 10))
        #expect(RangeSpecifier.closed(first: 0, last: .max).resolved(length: 10) == ByteRange(0, 10))
        #expect(RangeSpecifier.closed(first: 10, last: 11).resolved(length: 10) == nil)
        #expect(RangeSpecifier.from(9).resolved(length: 10) == ByteRange(9, 10))
        #expect(RangeSpecifier.from(10).resolved(length: 10) == nil)
        #expect(RangeSpecifier.from(0).resolved(length: 0) == nil)
        #expect(RangeSpecifier.from(.max).resolved(length: .max) == nil)
        #expect(RangeSpecifier.closed(first: 3, last: 5).resolvedWithoutLength == ByteRange(3, 6))
        #expect(RangeSpecifier.closed(first: 3, last: .max).resolvedWithoutLength == .from(3))
        #expect(RangeSpecifier.from(3).resolvedWithoutLength == .from(3))
    }

    @Test(arguments: UInt64(1)...4)
    func `bug06 what we ask for is what we meant`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let lower = Int64.random(in: 0..<(.max - 1), using: &random) >> Int64.random(in: 0..<62, using: &random)
            let upper = Int64.random(in: lower + 1 ... .max, using: &random)
            let range = ByteRange(lower, upper)
            let parts = RangeSpecifier.parse(RangeSpecifier.field(for: range))
            #expect(parts?.count == 1 && parts?.first?.resolved(length: .max) == range, "seed \(seed), \(range)")
        }
    }
}

@Suite("A Content-Range field")
struct ContentRangeTests {
    struct Reading: Sendable {
        let field: String
        let value: ContentRange?
        init(_ field: String, _ value: ContentRange?) { (self.field, self.value) = (field, value) }
    }

    static let readings = [
        Reading("bytes 42-1233/1234", .satisfied(ByteRange(42, 1234), total: 1234)),
        Reading("bytes 42-1233/*", .satisfied(ByteRange(42, 1234), total: nil)),
        Reading("bytes */1234", .unsatisfied(total: 1234)), Reading("bytes */0", .unsatisfied(total: 0)),
        Reading("Bytes 0-0/1", .satisfied(ByteRange(0, 1), total: 1)),
        Reading(" bytes  0-0/1\t", .satisfied(ByteRange(0, 1), total: 1)),
        Reading("bytes 0-9223372036854775806/*", .satisfied(.from(0), total: nil)),
        Reading("bytes 0-9223372036854775806/9223372036854775807", .satisfied(.from(0), total: .max)),
        Reading("bytes 0-9223372036854775807/*", nil), Reading("bytes 0-10/10", nil), Reading("bytes 0-9/5", nil),
        Reading("bytes 5-4/10", nil), Reading("bytes */*", nil), Reading("bytes 0-/10", nil),
        Reading("bytes -5/10", nil),
        Reading("bytes=0-4/10", nil), Reading("bytes 0-4", nil), Reading("bytes 0-4/", nil), Reading("bytes /10", nil),
        Reading("bytes 0-4/10/10", nil), Reading("bytes 0 - 4/10", nil), Reading("bytes 0-4/ 10", nil),
        Reading("bytes 0-4/-1", nil), Reading("items 0-4/10", nil), Reading("bytes", nil), Reading("", nil),
        Reading("bytes 0-4/99999999999999999999", nil), Reading("bytes */99999999999999999999", nil),
        Reading("bytes 0-4/10, bytes 0-4/10", nil),
    ]

    @Test(arguments: readings)
    func `inv09 is read exactly or not at all`(reading: Reading) {
        #expect(ContentRange.parse(reading.field) == reading.value, "\(reading.field)")
    }

    @Test(arguments: UInt64(1)...4)
    func `inv09 is read back as it was written`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<1000 {
            let lower = Int64.random(in: 0..<(.max - 2), using: &random) >> Int64.random(in: 0..<60, using: &random)
            let upper = Int64.random(in: lower + 1..<(.max), using: &random)
            let total = Bool.random(using: &random) ? Int64.random(in: upper ... .max, using: &random) : nil
            let value = ContentRange.satisfied(ByteRange(lower, upper), total: total)
            #expect(ContentRange.parse(value.field) == value, "seed \(seed), \(value.field)")
        }
        #expect(ContentRange.unsatisfied(total: 7).field == "bytes */7")
        #expect(ContentRange.satisfied(ByteRange(42, 1234), total: nil).field == "bytes 42-1233/*")
    }
}
