import RepriseHTTP
import RepriseStorage
import RepriseTesting
import Testing

/// What an entry's description is read by. That a flipped bit of it costs the entry is among the tests of damage, its
/// literal bytes among those of the format.
@Suite("Reading a description")
struct InfoReaderTests {
    /// Everything a description can hold, with text that has to be escaped.
    static func info(_ text: String, number: Int64) -> EntryInfo {
        var info = EntryInfo(
            key: "key " + text, url: "https://origin.example/" + text, generation: 1 << 40, identity: .max,
            fileExtension: "mp4", validator: Validator(entityTag: EntityTag("\"a\""), lastModified: text),
            length: number > 0 ? number : nil, servesRanges: number % 2 == 0,
            fields: number == 0 ? [:] : ["ETag": "\"a\"", "X-Text": "x" + text + "x", "X-Empty": ""],
            checked: number, isPinned: number % 2 != 0)
        info.variant = number < 0 ? text : nil
        return info
    }

    @Test(arguments: [
        "", "plain", "\"quoted\" \\ / {\"info\" : [1, 2]} ,:", "\u{0}\u{1}\u{8}\t\n\u{b}\u{c}\r\u{1f}\u{7f}\u{80}",
        "日本語 é e\u{301} \u{2028} 🎬 👩‍🚀", "\\u0041 \\\" \\\\", "ends with \\", "  spaces   within  ",
    ])
    func `what was written is read, whatever its text holds`(text: String) throws {
        for number in [Int64.min, -1, 0, 1, 42, .max] {
            let info = InfoReaderTests.info(text, number: number)
            #expect(EntryInfo(decoding: try info.encoded()) == info)
        }
    }

    @Test func `white space between tokens and the ways to escape a character make no difference to the value`() throws
    {
        let info = InfoReaderTests.info("plain", number: 42)
        let text = String(decoding: try info.encoded(), as: UTF8.self)
        #expect(EntryInfo(decoding: Array(text.replacing(" : ", with: ":\r\n\t ").utf8)) == info)
        // Another spelling is another text, which the hash is not over.
        let spelt = text.replacing("\"extension\" : \"mp4\"", with: "\"extension\" : \"m\\u0070\\u0034\"")
        #expect(spelt != text && EntryInfo(decoding: Array(spelt.utf8)) == nil)
    }

    @Test func `what is not whole, or says more or twice, is none`() throws {
        let bytes = try InfoReaderTests.info("a \"b\" \\ 🎬", number: 42).encoded()
        for count in 0..<bytes.count - 1 {
            #expect(EntryInfo(decoding: Array(bytes[..<count])) == nil, "cut to \(count)")
        }
        #expect(EntryInfo(decoding: bytes + [0x7D]) == nil)
        let text = String(decoding: bytes, as: UTF8.self)
        for (part, other) in [
            ("\"pinned\" : false", "\"pinned\" : 0"), ("\"checked\" : 42", "\"checked\" : \"42\""),
            ("\"checked\" : 42", "\"checked\" : 42.0"), ("\"checked\" : 42", "\"checked\" : 9223372036854775808"),
            ("\"length\" : 42,", "\"length\" : null,"), ("\"length\" : 42,", "\"length\" : 42, \"more\" : 1,"),
            ("\"length\" : 42,", ""), ("\"proof\"", "\"more\" : 1, \"proof\""), ("\"generation\"", "\"Generation\""),
        ] {
            let changed = text.replacing(part, with: other)
            #expect(changed != text && EntryInfo(decoding: Array(changed.utf8)) == nil, "\(other) for \(part)")
        }
    }

    @Test func `any bytes are read without harm`() throws {
        let bytes = try InfoReaderTests.info("a \"b\" \\ 🎬", number: 42).encoded()
        var random = SeededGenerator(seed: 17)
        for _ in 0..<2000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: changed.indices, using: &random)
                let noise = Array("{}[]\",:\\u-0".utf8) + [0, 0x80, 0xFF]
                changed[index] = noise.randomElement(using: &random) ?? 0
            }
            if changed != bytes { #expect(EntryInfo(decoding: changed) == nil, "\(changed)") }
        }
    }
}
