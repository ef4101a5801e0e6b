import RepriseRanges
import RepriseTesting
import Testing

/// The oracle: one Boolean an offset, laid at a base that may lie near the end of 64 bits.
private struct Bitmap {
    static let width: Int64 = 96
    let base: Int64
    var bits = [Bool](repeating: false, count: Int(width))

    func has(_ offset: Int64) -> Bool { offset >= base && offset - base < Bitmap.width && bits[Int(offset - base)] }

    mutating func set(_ range: ByteRange, _ value: Bool) {
        for offset in range.lowerBound..<range.upperBound { bits[Int(offset - base)] = value }
    }

    var ranges: [ByteRange] {
        var result: [ByteRange] = []
        var start: Int64?
        for index in 0...Bitmap.width {
            let isSet = index < Bitmap.width && bits[Int(index)]
            if isSet, start == nil { start = base + index }
            if !isSet, let first = start {
                result.append(ByteRange(first, base + index))
                start = nil
            }
        }
        return result
    }

    func randomRange(_ random: inout SeededGenerator) -> ByteRange {
        let lower = Int64.random(in: 0...Bitmap.width, using: &random)
        let length =
            Bool.random(using: &random) ? Int64.random(in: 0...4, using: &random) : .random(in: 0...96, using: &random)
        return ByteRange(base + lower, base + min(Bitmap.width, lower + length))
    }
}

@Suite("A byte range set")
struct ByteRangeSetTests {
    static let bases: [Int64] = [0, 1, 32_768 - 48, 1 << 32, .max - Bitmap.width]

    private func checkShape(_ set: ByteRangeSet, _ comment: Comment) {
        #expect(set.ranges.allSatisfy { !$0.isEmpty }, comment)
        #expect(zip(set.ranges, set.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }, comment)
    }

    @Test(arguments: bases, UInt64(1)...6)
    func `inv07 agrees with a bitmap after any operations`(base: Int64, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var model = Bitmap(base: base)
        var set = ByteRangeSet()
        let comment: Comment = "seed \(seed), base \(base)"
        for _ in 0..<1500 {
            let range = model.randomRange(&random)
            if Int.random(in: 0..<5, using: &random) < 3 {
                set.insert(range)
                model.set(range, true)
            } else {
                set.remove(range)
                model.set(range, false)
            }
            #expect(set.ranges == model.ranges, comment)
            checkShape(set, comment)
            #expect(set.count == Int64(model.bits.count { $0 }), comment)
            #expect(set.isEmpty == !model.bits.contains(true), comment)
            #expect(set.upperBound == model.ranges.last?.upperBound ?? 0, comment)

            let probe = model.randomRange(&random)
            let offset = probe.lowerBound
            #expect(set.contains(offset) == model.has(offset), comment)
            #expect(set.contains(probe) == (offset..<probe.upperBound).allSatisfy(model.has), comment)
            let holder = model.ranges.first { $0.contains(offset) }
            #expect(set.range(containing: offset) == holder, comment)
            #expect(set.run(from: offset) == holder.map { $0.upperBound - offset } ?? 0, comment)
            #expect(set.firstMissing(from: offset) == holder?.upperBound ?? offset, comment)
            #expect(set.range(endingAfter: offset) == model.ranges.first { $0.upperBound > offset }, comment)
        }
    }

    @Test(arguments: bases, UInt64(1)...4)
    func `inv08 extents and gaps partition any query in order`(base: Int64, seed: UInt64) {
        var random = SeededGenerator(seed: seed &* 77)
        let comment: Comment = "seed \(seed), base \(base)"
        for _ in 0..<800 {
            var model = Bitmap(base: base)
            var set = ByteRangeSet()
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let range = model.randomRange(&random)
                set.insert(range)
                model.set(range, true)
            }
            let query = model.randomRange(&random)
            var position = query.lowerBound
            var wasExtent: Bool?
            for piece in set.pieces(of: query) {
                let (range, isExtent) =
                    switch piece {
                    case .extent(let range): (range, true)
                    case .gap(let range): (range, false)
                    }
                #expect(range.lowerBound == position && !range.isEmpty && isExtent != wasExtent, comment)
                #expect((range.lowerBound..<range.upperBound).allSatisfy { model.has($0) == isExtent }, comment)
                position = range.upperBound
                wasExtent = isExtent
            }
            #expect(position == query.upperBound, comment)

            let gaps = set.gaps(in: query)
            let extents = set.intersection(query)
            checkShape(extents, comment)
            #expect(extents.count + gaps.reduce(0) { $0 + $1.count } == query.count, comment)
            #expect(gaps.allSatisfy { !$0.isEmpty && set.intersection($0).isEmpty }, comment)
        }
    }

    @Test(arguments: UInt64(1)...8)
    func `inv07 is the same whatever the order of insertion`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var model = Bitmap(base: 0)
            let ranges = (0..<8).map { _ in model.randomRange(&random) }
            ranges.forEach { model.set($0, true) }
            let set = ByteRangeSet(ranges.shuffled(using: &random))
            var union = ByteRangeSet(ranges[..<4])
            union.formUnion(ByteRangeSet(ranges[4...]))
            #expect(set.ranges == model.ranges && union == set, "seed \(seed)")
        }
    }

    @Test func `inv07 zero lengths change nothing`() {
        var set = ByteRangeSet(ByteRange(4, 8))
        for offset in [Int64(0), 3, 4, 6, 8, 9, .max] {
            set.insert(ByteRange(offset, offset))
            set.remove(ByteRange(offset, offset))
        }
        #expect(set.ranges == [ByteRange(4, 8)])
        #expect(ByteRangeSet(ByteRange(9, 9)).isEmpty)
        #expect(set.contains(ByteRange(100, 100)) && Array(set.pieces(of: ByteRange(5, 5))).isEmpty)
    }

    @Test func `inv07 touching ends are one range`() {
        var set = ByteRangeSet([ByteRange(0, 4), ByteRange(8, 12)])
        set.insert(ByteRange(4, 8))
        #expect(set.ranges == [ByteRange(0, 12)])
        set.insert(ByteRange(20, 24))
        set.insert(ByteRange(16, 20))
        set.insert(ByteRange(12, 16))
        #expect(set.ranges == [ByteRange(0, 24)])
    }

    @Test func `inv07 holds everything that 64 bits can name`() {
        var set = ByteRangeSet(ByteRange.from(0))
        #expect(set.count == .max && set.contains(.max - 1) && !set.contains(.max))
        set.remove(ByteRange(5, 6))
        #expect(set.ranges == [ByteRange(0, 5), .from(6)])
        #expect(set.firstMissing(from: .max) == .max && set.run(from: .max) == 0)
        set.insert(.from(.max))
        set.insert(ByteRange(5, 6))
        #expect(set.ranges == [.from(0)])
        #expect(set.description == "[0...]")
        set.remove(.from(0))
        #expect(set.isEmpty && set.upperBound == 0)
    }
}
