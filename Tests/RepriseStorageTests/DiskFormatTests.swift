import RepriseHTTP
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// Literal bytes of format 1. When one of these fails the format has changed: give it a new number in `format`,
/// keep these bytes, and say what happens to stores that hold them.
@Suite("The format on disk")
struct DiskFormatTests {
    static let content = PositionCodedContent(length: 40, generation: 1)

    private func fixture() throws -> (StoreFixture, EntryInfo) {
        let fixture = StoreFixture(blockSize: 16)
        let info = try StoreFixture.add(
            "key", DiskFormatTests.content, [ByteRange(0, 5), ByteRange(16, 40)], to: fixture.open()
        ).info
        return (fixture, info)
    }

    private func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test func `of a root is one line each for version, block and proof`() throws {
        let (fixture, _) = try fixture()
        #expect(try fixture.memory.contents("/cache/format") == Array("reprise 1\nblock 16\nproof hashed\n".utf8))
    }

    @Test func `of names is a hash, a number and an extension`() throws {
        let (fixture, _) = try fixture()
        let folder = "/cache/entries/2c/2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683"
        #expect(
            fixture.memory.paths == [
                folder + "/blocks.1", folder + "/body.1.mp3", folder + "/info.json", "/cache/format", "/cache/lock",
            ])
    }

    @Test func `of the header and its summary has not changed`() throws {
        let (fixture, info) = try fixture()
        let bytes = try fixture.memory.contents(fixture.path(info, "blocks.1"))
        #expect(hex(bytes[0..<32]) == DiskFormatTests.header)
        #expect(bytes[32..<64].allSatisfy { $0 == 0 } && bytes[112..<4096].allSatisfy { $0 == 0 })
        #expect(hex(bytes[64..<112]) == DiskFormatTests.summary)
    }

    @Test func `of slots has not changed`() throws {
        let (fixture, info) = try fixture()
        let bytes = try fixture.memory.contents(fixture.path(info, "blocks.1"))
        #expect(stride(from: 4096, to: bytes.count, by: 16).map { hex(bytes[$0..<$0 + 16]) } == DiskFormatTests.slots)
    }

    @Test func `of a description has not changed`() throws {
        let (fixture, info) = try fixture()
        let text = String(decoding: try fixture.memory.contents(fixture.path(info, "info.json")), as: UTF8.self)
        #expect(text == DiskFormatTests.description)
    }

    @Test func `of the body is the content itself`() throws {
        let (fixture, info) = try fixture()
        let bytes = try fixture.memory.contents(fixture.path(info, "body.1.mp3"))
        let content = DiskFormatTests.content
        #expect(
            bytes == content.bytes(in: ByteRange(0, 5)) + [UInt8](repeating: 0, count: 11)
                + content.bytes(in: ByteRange(16, 40)))
    }

    @Test func `is read from literal bytes`() throws {
        let fixture = StoreFixture(blockSize: 16)
        func bytes(_ text: String) -> [UInt8] {
            stride(from: 0, to: text.utf8.count, by: 2).compactMap { offset in
                let start = text.index(text.startIndex, offsetBy: offset)
                return UInt8(text[start..<text.index(start, offsetBy: 2)], radix: 16)
            }
        }
        let content = DiskFormatTests.content
        var info = StoreFixture.info("key", content)
        info.generation = 1
        let summary = bytes(DiskFormatTests.summary)
        var blocks = bytes(DiskFormatTests.header) + [UInt8](repeating: 0, count: 32) + summary
        blocks += [UInt8](repeating: 0, count: 4096 - blocks.count) + DiskFormatTests.slots.flatMap(bytes)
        try fixture.memory.replace("/cache/format", with: Array("reprise 1\nblock 16\nproof hashed\n".utf8))
        try fixture.memory.replace(fixture.path(info, "info.json"), with: Array(DiskFormatTests.description.utf8))
        try fixture.memory.replace(fixture.path(info, "blocks.1"), with: blocks)
        try fixture.memory.replace(fixture.path(info, "body.1.mp3"), with: content.bytes(in: ByteRange(0, 40)))
        let store = try fixture.open()
        let entry = try #require(try store.open(key: "key"))
        #expect(entry.info == info)
        #expect(try StoreFixture.served(entry.generation, content).ranges == [ByteRange(0, 5), ByteRange(16, 40)])
        let described = try #require(try store.describe(name: Store.entryName(key: "key")))
        #expect(described.summary.length == 40 && described.summary.lastUse == 1_700_000_000)
    }

    static let header = "52505253424c4b310100000010000000ef1e0000000000000e009b86c37070bc"
    static let summary =
        "000001000000000000f15365000000002800000000000000"
        + "00000000000000000000000000000000d38d3d16852fb208"
    static let slots = [
        "0500000029d47bbc0ad08958ec083cd5",
        "10000000fbb8844ce705ff2db2837c87",
        "08000000799aca4db72e6daaf6d81015",
    ]
    static let description = #"""
        {
          "info" : {
            "checked" : 1700000000,
            "entityTag" : "\"1\"",
            "extension" : "mp3",
            "fields" : [
              [
                "Content-Type",
                "audio/mpeg"
              ]
            ],
            "generation" : 1,
            "identity" : "1eef",
            "key" : "key",
            "length" : 40,
            "pinned" : false,
            "servesRanges" : true,
            "url" : "https://origin.example/key",
            "version" : 1
          },
          "proof" : "92eaf37a7bcd73cf"
        }

        """#
}
