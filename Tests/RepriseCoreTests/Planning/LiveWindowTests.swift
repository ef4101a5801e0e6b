import RepriseCore
import RepriseRanges
import RepriseTesting
import Testing

@Suite struct LiveWindowTests {
    @Test func `a new window holds nothing`() {
        let window = LiveWindow(at: 70)
        #expect(window.range == ByteRange(70, 70))
        #expect(window.slice(at: 70, limit: 9) == nil)
        #expect(window.undrainedPieces(limit: 100).isEmpty)
    }

    @Test func `a slice is shared with its piece and outlives the window's own copy`() {
        var window = LiveWindow(at: 10)
        window.append([1, 2, 3, 4][...])
        let slice = window.slice(at: 11, limit: 2)
        window.drained = 14
        window.trim(before: 14)
        #expect(slice.map(Array.init) == [2, 3])
        #expect(window.slice(at: 11, limit: 2) == nil)
        #expect(window.count == 0)
    }

    @Test func `a piece that is needed in part is kept whole`() {
        var window = LiveWindow(at: 0)
        window.append([1, 2, 3, 4][...])
        window.drained = 2
        window.trim(before: 2)
        #expect(window.range == ByteRange(0, 4))
        #expect(window.undrained == 2)
        #expect(window.undrainedPieces(limit: 10).map(Array.init) == [[3, 4]])
    }

    /// The model is all bytes ever appended, and two numbers.
    @Test(arguments: 1...60)
    func `whatever is appended, drained and trimmed, the window agrees with a byte array`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let origin = Int64.random(in: 0...1000, using: &random)
        var window = LiveWindow(at: origin)
        var all: [UInt8] = []
        var drained = origin
        var trimmed = origin
        for _ in 0..<300 {
            switch Int.random(in: 0..<7, using: &random) {
            case 0...2:
                let piece = random.bytes(Int.random(in: 1...40, using: &random))
                all += piece
                window.append(piece[...])
            case 3:
                let pieces = window.undrainedPieces(limit: Int64.random(in: 1...90, using: &random))
                let bytes = pieces.flatMap { $0 }
                let start = Int(drained - origin)
                #expect(bytes == Array(all[start..<start + bytes.count]), "seed \(seed)")
                if drained < window.head { #expect(!bytes.isEmpty) }
                drained += Int64(bytes.count)
                window.drained = drained
            case 4:
                trimmed = max(trimmed, Int64.random(in: origin...drained, using: &random))
                window.trim(before: trimmed)
            case 5 where window.count > 0:
                let start = Int64.random(in: window.base..<window.head, using: &random)
                let range = ByteRange(start, Int64.random(in: start...window.head + 5, using: &random))
                let end = Int(min(range.upperBound, window.head) - origin)
                #expect(window.bytes(in: range) == Array(all[Int(start - origin)..<end]), "seed \(seed)")
            default:
                let offset = Int64.random(in: origin...origin + Int64(all.count) + 3, using: &random)
                let limit = Int.random(in: 1...60, using: &random)
                let slice = window.slice(at: offset, limit: limit)
                #expect((slice != nil) == window.range.contains(offset), "seed \(seed)")
                if let slice {
                    let start = Int(offset - origin)
                    #expect(Array(slice) == Array(all[start..<start + slice.count]), "seed \(seed)")
                    #expect(slice.count <= limit && !slice.isEmpty)
                }
            }
            #expect(window.head == origin + Int64(all.count), "seed \(seed)")
            #expect(window.base <= max(trimmed, origin) && window.base >= origin)
            #expect(
                window.base + 512 + 40 > trimmed || window.base == window.head, "no more than one joined chunk too many"
            )
            #expect(window.drained == drained)
            #expect(window.undrained == window.head - drained)
            #expect(window.count == window.head - window.base)
        }
    }
}
