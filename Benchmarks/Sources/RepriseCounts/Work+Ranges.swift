import RepriseRanges
import RepriseTesting

extension Work {
    /// Floor 0: sets of byte ranges in three sizes. Every fragment is 100 bytes long with a gap of 100 behind it.
    static var ranges: [Work] {
        [10, 1_000, 100_000].flatMap { size in of(size) }
    }

    private static func of(_ size: Int) -> [Work] {
        let row = "ranges, \(size) fragments: "
        return [
            // A fragment that touches none comes and goes, so that the set keeps its size.
            Work(row + "insert and remove", count: 200, from: Fragments(size)) { start in
                var fragments = start
                return { _ in
                    let offset = fragments.offset() + 140
                    fragments.set.insert(ByteRange(offset, offset + 20))
                    fragments.set.remove(ByteRange(offset, offset + 20))
                    return fragments.set.ranges.count
                }
            },
            Work(row + "insert that fills a gap, and remove", count: 200, from: Fragments(size)) { start in
                var fragments = start
                return { _ in
                    let offset = fragments.offset() + 100
                    fragments.set.insert(ByteRange(offset, offset + 100))
                    fragments.set.remove(ByteRange(offset, offset + 100))
                    return fragments.set.ranges.count
                }
            },
            Work(row + "contains", count: 5_000, from: Fragments(size)) { start in
                var fragments = start
                return { _ in fragments.set.contains(fragments.offset() + 50) ? 1 : 0 }
            },
            Work(row + "gaps of 8 fragments", count: 1_000, from: Fragments(size)) { start in
                var fragments = start
                return { _ in
                    let offset = fragments.offset()
                    return fragments.set.gaps(in: ByteRange(offset, offset + 1_600)).count
                }
            },
        ]
    }
}

/// A set of so many fragments, and places in it that are the same in every run.
private struct Fragments {
    var set: ByteRangeSet
    private let size: Int
    private var random = SeededGenerator(seed: 4)

    init(_ size: Int) {
        self.size = size
        set = ByteRangeSet((0..<Int64(size)).map { ByteRange($0 * 200, $0 * 200 + 100) })
    }

    /// Where some fragment begins.
    mutating func offset() -> Int64 { Int64.random(in: 0..<Int64(size), using: &random) * 200 }
}
