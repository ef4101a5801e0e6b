import Testing

@testable import RepriseHTTP

@Suite struct OctetStringTests {
    @Test(arguments: [
        ("\u{212A}", "K"), ("\u{E9}", "e\u{301}"), (";", "\u{37E}"), ("a\u{301}\u{323}", "a\u{323}\u{301}"),
    ])
    func `what only Unicode calls equal is not`(one: String, other: String) {
        #expect(one == other)
        #expect(one.octets != other.octets)
        #expect(Set([one.octets, other.octets]).count == 2)
        #expect(HTTPFields([("Cookie", one)]).hasSame("cookie", as: HTTPFields([("Cookie", other)])) == false)
        #expect(!Validator(lastModified: one).hasDate(of: Validator(lastModified: other)))
    }

    @Test(arguments: ["", "a", "fifteen letters", "more than fifteen letters, on the heap"])
    func `the same octets are equal, however they came`(text: String) {
        let copy = String(decoding: Array(text.utf8), as: UTF8.self)
        #expect(text.octets == copy.octets)
        #expect(text.octets == Substring(copy).octets)
        #expect(Set([text.octets, copy.octets]).count == 1)
        #expect((text + "b").octets != text.octets)
    }
}
