import RepriseHTTP
import RepriseTesting
import Testing

@Suite("An entity tag")
struct EntityTagTests {
    @Test(arguments: [
        ("\"xyzzy\"", "\"xyzzy\"", false), ("W/\"xyzzy\"", "\"xyzzy\"", true), ("\"\"", "\"\"", false),
        ("w/\"a\"", "\"a\"", true), (" \"a\" ", "\"a\"", false), ("abc", "\"abc\"", false), ("W/abc", "\"abc\"", true),
        ("\"a,b\"", "\"a,b\"", false), ("\"*\"", "\"*\"", false), ("\"ä\"", "\"ä\"", false),
    ])
    func `is read with its mark`(field: String, opaque: String, isWeak: Bool) {
        #expect(EntityTag(field) == EntityTag(opaque: opaque, isWeak: isWeak))
    }

    @Test(arguments: [
        "", " ", "*", "\"", "\"a", "a\"", "\"a\"b\"", "W/", "\"a\", \"b\"", "a, b", "a,b", "\"a b\"", "a\u{7}", "W/*",
    ])
    func `is nothing where it is not one`(field: String) {
        #expect(EntityTag(field) == nil)
    }

    @Test func `compares as the table of RFC 9110 8 8 3 2 says`() throws {
        let weak1 = try #require(EntityTag("W/\"1\"")), weak2 = try #require(EntityTag("W/\"2\""))
        let strong1 = try #require(EntityTag("\"1\""))
        #expect(!weak1.matchesStrongly(weak1) && weak1.matchesWeakly(weak1))
        #expect(!weak1.matchesStrongly(weak2) && !weak1.matchesWeakly(weak2))
        #expect(!weak1.matchesStrongly(strong1) && weak1.matchesWeakly(strong1))
        #expect(strong1.matchesStrongly(strong1) && strong1.matchesWeakly(strong1))
    }

    @Test func `inv16 compares bytes, not what looks alike`() throws {
        let composed = try #require(EntityTag("\"\u{E9}\"")), decomposed = try #require(EntityTag("\"e\u{301}\""))
        #expect(!composed.matchesStrongly(decomposed) && !composed.matchesWeakly(decomposed))
        #expect(composed != decomposed && Set([composed, decomposed]).count == 2)
    }

    @Test func `conditions hold lists with commas inside tags`() throws {
        let tag = try #require(EntityTag("\"a,b\""))
        let condition = EntityTagCondition("\"x\", W/\"y\" ,, \"a,b\"")
        #expect(condition == .list([EntityTag(opaque: "\"x\""), EntityTag(opaque: "\"y\"", isWeak: true), tag]))
        #expect(condition.matches(tag, strongly: true))
        #expect(!condition.matches(EntityTag(opaque: "\"y\""), strongly: true))
        #expect(condition.matches(EntityTag(opaque: "\"y\""), strongly: false))
        #expect(!condition.matches(nil, strongly: false))
        #expect(EntityTagCondition(" * ") == .any && EntityTagCondition("*").matches(nil, strongly: true))
        #expect(EntityTagCondition("") == .list([]) && EntityTagCondition("\"open, \"x\"") != .any)
    }
}

@Suite("A validator")
struct ValidatorTests {
    static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test func `inv16 offers for If-Range only what is strong`() {
        #expect(Validator(fields: ["etag": "\"a\"", "last-modified": ValidatorTests.date]).ifRange == "\"a\"")
        #expect(Validator(fields: ["ETag": "W/\"a\"", "Last-Modified": ValidatorTests.date]).ifRange == nil)
        #expect(Validator(fields: ["Last-Modified": ValidatorTests.date]).ifRange == ValidatorTests.date)
        #expect(Validator(fields: [:]).isEmpty && Validator(fields: [:]).ifRange == nil)
    }

    @Test func `takes nothing it cannot read`() {
        #expect(Validator(fields: ["Last-Modified": "0", "ETag": ""]).isEmpty)
        #expect(Validator(fields: ["ETag": "\"a\"", "etag": "\"b\""]).isEmpty, "two tags are none")
        #expect(!Validator(lastModified: ValidatorTests.date).isEmpty)
    }
}

@Suite("A date")
struct HTTPDateTests {
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800), ("Monday, 01-Jan-69 00:00:00 GMT", 3_124_224_000),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ] as [(String, Int64)])
    func `is read in all three forms`(text: String, seconds: Int64) {
        #expect(HTTPDate.parse(text) == seconds)
    }

    @Test(arguments: [
        "", "0", "-1", "now", "Sun, 06 Nov 1994", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Nov 1994 08:49:37 EST", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 99999999999999999999 08:49:37 GMT",
        "Sun, 06 Nov 19940 08:49:37 GMT", "Sun Nov 6 8:-1:37 1994", "Thu, 31 Feb 1994 08:49:37 GMT",
        "Wed, 29 Feb 1995 08:49:37 GMT", "Thu, 29 Feb 1900 08:49:37 GMT", "Thu, 31 Apr 1994 08:49:37 GMT",
    ])
    func `is nothing where it is not one`(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    @Test(arguments: UInt64(1)...4)
    func `is read back as it was written`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let seconds = Int64.random(in: 0...253_402_300_799, using: &random)
            #expect(HTTPDate.parse(HTTPDate.format(seconds)) == seconds, "seed \(seed)")
        }
        #expect(HTTPDate.format(784_111_777) == ValidatorTests.date)
        #expect(HTTPDate.format(-5) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate.format(.min) == HTTPDate.format(0))
        #expect(HTTPDate.format(.max) == "Fri, 31 Dec 9999 23:59:59 GMT")
    }
}
