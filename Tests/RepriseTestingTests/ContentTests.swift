import RepriseRanges
import RepriseTesting
import Testing

@Suite struct ContentTests {
    /// The same pattern, byte by byte.
    private func byte(_ content: PositionCodedContent, _ offset: Int64) -> UInt8 {
        if offset < content.signature.count { return content.signature[Int(offset)] }
        func mix(_ value: UInt64) -> UInt64 {
            var mixed = (value &+ 0x9E37_79B9_7F4A_7C15) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
        let first = mix(UInt64(offset / 16))
        let word = offset % 16 < 8 ? first : mix(first ^ UInt64(content.generation))
        return UInt8(truncatingIfNeeded: word >> UInt64(offset % 8 * 8))
    }

    @Test(arguments: 1...40)
    func `any piece is what it is byte by byte, and clipped to the length`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let content = PositionCodedContent(length: Int64.random(in: 0...300, using: &random), generation: seed % 5)
        let start = Int64.random(in: 0...310, using: &random)
        let range = ByteRange(start, Int64.random(in: start...320, using: &random))
        let expected = (start..<max(start, min(range.upperBound, content.length))).map { byte(content, $0) }
        #expect(content.bytes(in: range) == expected, "seed \(seed)")
        #expect(content.firstMismatch(expected, at: start) == nil)
    }

    @Test(arguments: [0, 1, 7, 8, 15, 16, 17, 63, 99])
    func `one wrong byte is found where it is`(index: Int) {
        let content = PositionCodedContent(length: 1000)
        for start in [0, 1, 5, 16] as [Int64] {
            var bytes = content.bytes(in: ByteRange(start, start + 100))
            bytes[index] ^= 1
            #expect(content.firstMismatch(bytes, at: start) == start + Int64(index))
            #expect(content.firstMismatch(bytes[...], at: start) == start + Int64(index))
        }
    }

    @Test func `offsets, generations and bytes past the end disagree`() {
        let content = PositionCodedContent(length: 1000)
        let bytes = content.bytes(in: ByteRange(100, 140))
        #expect(content.firstMismatch(bytes, at: 101) != nil)
        #expect(PositionCodedContent(length: 1000, generation: 2).firstMismatch(bytes, at: 100) != nil)
        #expect(PositionCodedContent(length: 120).firstMismatch(bytes, at: 100) == 120)
    }

    @Test func `offsets near the end of 64 bits have bytes too`() {
        let content = PositionCodedContent(length: .max)
        let bytes = content.bytes(in: ByteRange(.max - 33, .max - 1))
        #expect(bytes.count == 32)
        #expect(content.firstMismatch(bytes, at: .max - 33) == nil)
    }

    @Test func `a seed repeats its numbers`() {
        var (left, right) = (SeededGenerator(seed: 4), SeededGenerator(seed: 4))
        #expect((0..<50).map { _ in left.next() } == (0..<50).map { _ in right.next() })
        #expect(left.bytes(10).count == 10)
    }
}
