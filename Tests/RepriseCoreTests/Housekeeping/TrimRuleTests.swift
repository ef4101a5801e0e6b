import RepriseCore
import RepriseRanges
import RepriseStorage
import Testing

@Suite struct TrimRuleTests {
    static let mega: Int64 = 1 << 20

    private func rule(
        _ claimed: [ByteRange], readers: [Int64], spared: [ByteRange] = [], block: Int64 = 32 * 1024
    ) -> TrimRule {
        var set = ByteRangeSet()
        for range in claimed { set.insert(range) }
        return TrimRule(
            claimed: set, readers: readers, spared: spared, layout: BlockLayout(blockSize: block),
            spareBehind: Self.mega,
            spareAhead: 4 * Self.mega)
    }

    @Test func `what is far behind every reader goes first, from the start on`() {
        let rule = rule([ByteRange(0, 100 * Self.mega)], readers: [60 * Self.mega, 50 * Self.mega])
        #expect(rule.ranges(giving: 2 * Self.mega) == [ByteRange(0, Self.mega), ByteRange(Self.mega, 2 * Self.mega)])
    }

    @Test func `then what is farthest ahead of the reader before it`() {
        let rule = rule([ByteRange(0, 100 * Self.mega)], readers: [Self.mega, 90 * Self.mega])
        // Nothing is behind all; between the two 89 MiB are ahead of the first, and 10 MiB are ahead of the second.
        #expect(rule.ranges(giving: 1) == [ByteRange(88 * Self.mega, 89 * Self.mega)])
        let all = rule.ranges(giving: .max)
        #expect(all.last == ByteRange(94 * Self.mega, 95 * Self.mega))
    }

    @Test func `what readers and transfers are at stays, whatever is wanted, inv27`() {
        let spared = ByteRange(30 * Self.mega + 5, 31 * Self.mega)
        let rule = rule([ByteRange(0, 64 * Self.mega)], readers: [10 * Self.mega, 40 * Self.mega], spared: [spared])
        let given = rule.ranges(giving: .max)
        for reader in rule.readers {
            let kept = ByteRange(reader - rule.spareBehind, reader + rule.spareAhead)
            #expect(given.allSatisfy { $0.intersection(kept) == nil })
        }
        #expect(given.allSatisfy { $0.intersection(spared) == nil })
        #expect(
            given.allSatisfy {
                $0.lowerBound % rule.layout.blockSize == 0 && $0.upperBound % rule.layout.blockSize == 0
            })
    }

    @Test func `only stored whole blocks are given, no more than needed`() {
        let rule = rule([ByteRange(5, 40), ByteRange(1000, 1004)], readers: [], block: 16)
        #expect(rule.ranges(giving: .max) == [ByteRange(16, 32)])
        #expect(rule.ranges(giving: 0).isEmpty)
    }
}
