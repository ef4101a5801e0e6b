import RepriseRanges
import Testing

@Suite("A byte range")
struct ByteRangeTests {
    @Test func `is half-open`() {
        let range = ByteRange(3, 7)
        #expect(range.count == 4)
        #expect(range.contains(3) && range.contains(6))
        #expect(!range.contains(7) && !range.contains(2))
    }

    @Test func `ends at the last offset where a sum would pass 64 bits`() {
        #expect(ByteRange(offset: .max - 2, count: 10) == ByteRange(.max - 2, .max))
        #expect(ByteRange(offset: .max, count: .max) == ByteRange(.max, .max))
        #expect(ByteRange.from(.max).isEmpty)
        #expect(ByteRange(0, .max).count == .max)
    }

    @Test func `an empty one lies in any and overlaps none`() {
        let empty = ByteRange(5, 5)
        #expect(ByteRange(0, 1).contains(empty))
        #expect(!ByteRange(0, 10).overlaps(empty) && !empty.overlaps(ByteRange(0, 10)) && !empty.overlaps(empty))
        #expect(ByteRange(0, 10).intersection(empty) == nil)
    }

    @Test func `touching ones share nothing`() {
        #expect(!ByteRange(0, 5).overlaps(ByteRange(5, 9)))
        #expect(ByteRange(0, 5).intersection(ByteRange(5, 9)) == nil)
    }

    @Test func `describes an open end as such`() {
        #expect(ByteRange(1, 3).description == "1..<3")
        #expect(ByteRange.from(4).description == "4...")
        #expect(ByteRange(Int64(2)..<4) == ByteRange(2, 4))
    }

    @Test func `refuses to run backwards or below zero`() async {
        await #expect(processExitsWith: .failure) { _ = ByteRange(2, 1) }
        await #expect(processExitsWith: .failure) { _ = ByteRange(-1, 1) }
        await #expect(processExitsWith: .failure) { _ = ByteRange(offset: 1, count: -1) }
    }
}
