import RepriseHTTP
import RepriseTesting
import Testing

@Suite struct MP4LayoutTests {
    private func box(_ type: String, _ size: Int) -> [UInt8] {
        let bytes = [UInt8(size >> 24 & 255), UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255)]
        return bytes + Array(type.utf8) + [UInt8](repeating: 7, count: max(0, size - 8))
    }

    private func longBox(_ type: String, _ size: UInt64) -> [UInt8] {
        [0, 0, 0, 1] + Array(type.utf8) + (0..<8).reversed().map { UInt8(truncatingIfNeeded: size >> ($0 * 8)) }
    }

    @Test func `an index before the media plays early, one after it does not`() {
        #expect(MP4Layout(box("ftyp", 32) + box("moov", 500) + box("mdat", 100)) == .indexFirst(end: 532))
        #expect(MP4Layout(box("ftyp", 32) + box("free", 8) + box("moov", 500)) == .indexFirst(end: 540))
        #expect(MP4Layout(box("ftyp", 32) + box("mdat", 1000) + box("moov", 20)) == .indexLast(from: 1032))
        #expect(MP4Layout(box("wide", 8) + box("mdat", 1000)) == .indexLast(from: 1008))
    }

    @Test func `a fragmented file plays early, its index being first`() {
        #expect(MP4Layout(box("ftyp", 32) + box("moov", 60) + box("moof", 20) + box("mdat", 9)) == .indexFirst(end: 92))
        #expect(MP4Layout(box("styp", 24) + box("sidx", 44) + box("moof", 50)) == .indexLast(from: 118))
    }

    @Test func `large boxes and those to the end of the file are understood`() {
        #expect(MP4Layout(box("ftyp", 32) + longBox("mdat", 5 << 30)) == .indexLast(from: 32 + 5 << 30))
        #expect(MP4Layout(box("ftyp", 32) + [0, 0, 0, 0] + Array("mdat".utf8)) == .indexLast(from: nil))
        #expect(MP4Layout(box("ftyp", 32) + longBox("mdat", .max) + [1]) == .indexLast(from: nil))
        #expect(MP4Layout(box("ftyp", 32) + longBox("free", UInt64(Int64.max))) == .indexLast(from: nil))
    }

    @Test func `too few bytes ask for as many as it takes`() {
        #expect(MP4Layout([UInt8]()) == .needs(bytes: 16))
        #expect(MP4Layout(Array(box("ftyp", 32).prefix(7))) == .needs(bytes: 16))
        #expect(MP4Layout(Array(box("ftyp", 32).prefix(12))) == .needs(bytes: 48))
        #expect(MP4Layout(box("ftyp", 32)) == .needs(bytes: 48))
        #expect(MP4Layout(box("ftyp", 32) + Array(longBox("mdat", 5 << 30).prefix(12))) == .needs(bytes: 48))
        #expect(MP4Layout(box("ftyp", 32) + box("moov", 99_000).prefix(8)) == .indexFirst(end: 99_032))
    }

    @Test func `other media is none of its business`() {
        for text in ["ID3\u{4}", "RIFF1234WAVE", "OggS0000", "<html><body>", "\u{0}\u{0}\u{0}\u{0}abcdefgh"] {
            #expect(MP4Layout(Array(text.utf8) + [UInt8](repeating: 0, count: 20)) == .other)
        }
    }

    @Test(arguments: UInt64(1)...200)
    func `any bytes have an answer, and a longer beginning never takes one back`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        for _ in 0..<6 {
            let type = ["ftyp", "moov", "mdat", "free", "uuid", "moof"].randomElement(using: &random)!
            bytes += box(type, Int.random(in: 0...40, using: &random))
        }
        if seed % 3 == 0 { bytes = bytes.map { $0 ^ (UInt8.random(in: 0..<50, using: &random) == 0 ? 255 : 0) } }
        var known: MP4Layout?
        for count in 0...bytes.count {
            let layout = MP4Layout(bytes.prefix(count))
            if let known { #expect(layout == known, "at \(count)") }
            if case .needs(let more) = layout { #expect(more > Int64(count) - 16) } else { known = layout }
        }
    }
}
