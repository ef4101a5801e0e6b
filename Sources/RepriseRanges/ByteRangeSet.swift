/// A set of byte offsets, kept as sorted, coalesced, non-empty half-open ranges in one array.
///
///     0        4        9      12             20
///     |########|........|######|..............|
///      ranges[0]         ranges[1]
///
/// Look-ups are a binary search; an insertion or removal moves the ranges behind it once.
public struct ByteRangeSet: Hashable, Sendable {
    /// The ranges, ascending, none empty, none touching its neighbour.
    public private(set) var ranges: [ByteRange]

    /// The empty set.
    public init() { ranges = [] }

    /// The set of one range (or of none, if the range is empty).
    public init(_ range: ByteRange) { ranges = range.isEmpty ? [] : [range] }

    /// The union of `ranges`, which may come in any order and overlap.
    public init(_ ranges: some Sequence<ByteRange>) {
        self.init()
        for range in ranges { insert(range) }
    }

    /// Whether no byte is in the set.
    public var isEmpty: Bool { ranges.isEmpty }

    /// Number of bytes in the set.
    public var count: Int64 { ranges.reduce(0) { $0.adding($1.count) } }

    /// The first offset past the last byte, 0 for the empty set.
    public var upperBound: Int64 { ranges.last?.upperBound ?? 0 }

    /// Index of the first range that ends after `offset`: the one that holds it, or the next one.
    private func index(endingAfter offset: Int64) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound > offset { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// The range that holds `offset`.
    public func range(containing offset: Int64) -> ByteRange? {
        let index = index(endingAfter: offset)
        guard index < ranges.count, ranges[index].lowerBound <= offset else { return nil }
        return ranges[index]
    }

    /// The first range with a byte at or after `offset`.
    public func range(endingAfter offset: Int64) -> ByteRange? {
        let index = index(endingAfter: offset)
        return index < ranges.count ? ranges[index] : nil
    }

    /// Whether `offset` is in the set.
    public func contains(_ offset: Int64) -> Bool { range(containing: offset) != nil }

    /// Whether every byte of `range` is in the set.
    public func contains(_ range: ByteRange) -> Bool {
        range.isEmpty || (self.range(containing: range.lowerBound)?.upperBound ?? -1) >= range.upperBound
    }

    /// Number of bytes in the set from `offset` on without a hole.
    public func run(from offset: Int64) -> Int64 {
        guard let range = range(containing: offset) else { return 0 }
        return range.upperBound - offset
    }

    /// The first offset at or after `offset` that is not in the set.
    public func firstMissing(from offset: Int64) -> Int64 {
        range(containing: offset)?.upperBound ?? offset
    }

    /// Adds every byte of `range`.
    public mutating func insert(_ range: ByteRange) {
        guard !range.isEmpty else { return }
        // The usual case of a download: it goes on where the last range ends.
        if let last = ranges.last, last.upperBound == range.lowerBound {
            ranges[ranges.count - 1] = ByteRange(last.lowerBound, range.upperBound)
            return
        }
        // Ranges that touch are merged as well, so the search begins one offset earlier.
        let first = range.lowerBound == 0 ? 0 : index(endingAfter: range.lowerBound - 1)
        var last = first
        var lower = range.lowerBound
        var upper = range.upperBound
        while last < ranges.count, ranges[last].lowerBound <= range.upperBound {
            lower = min(lower, ranges[last].lowerBound)
            upper = max(upper, ranges[last].upperBound)
            last += 1
        }
        ranges.replaceSubrange(first..<last, with: CollectionOfOne(ByteRange(lower, upper)))
    }

    /// Takes every byte of `range` out.
    public mutating func remove(_ range: ByteRange) {
        guard !range.isEmpty else { return }
        let first = index(endingAfter: range.lowerBound)
        var last = first
        var kept: [ByteRange] = []
        while last < ranges.count, ranges[last].lowerBound < range.upperBound {
            if ranges[last].lowerBound < range.lowerBound {
                kept.append(ByteRange(ranges[last].lowerBound, range.lowerBound))
            }
            if ranges[last].upperBound > range.upperBound {
                kept.append(ByteRange(range.upperBound, ranges[last].upperBound))
            }
            last += 1
        }
        ranges.replaceSubrange(first..<last, with: kept)
    }

    /// Adds every byte of `other`.
    public mutating func formUnion(_ other: ByteRangeSet) {
        for range in other.ranges { insert(range) }
    }

    /// What both the set and `range` hold.
    public func intersection(_ range: ByteRange) -> ByteRangeSet {
        var result = ByteRangeSet()
        for piece in pieces(of: range) {
            if case .extent(let extent) = piece { result.ranges.append(extent) }
        }
        return result
    }

    /// What `range` holds and the set does not, ascending.
    public func gaps(in range: ByteRange) -> [ByteRange] {
        pieces(of: range).compactMap { piece in
            if case .gap(let gap) = piece { gap } else { nil }
        }
    }

    /// Walks `range` in order as extents (in the set) and gaps (not in it), a partition without overlap.
    public func pieces(of range: ByteRange) -> Pieces { Pieces(set: self, range: range) }
}

extension ByteRangeSet {
    /// A part of a range that is either wholly in a set or wholly outside it.
    public enum Piece: Hashable, Sendable {
        /// Present bytes.
        case extent(ByteRange)
        /// Missing bytes.
        case gap(ByteRange)
    }

    /// The walk over a range's extents and gaps; one binary search, then a step a piece.
    public struct Pieces: Sequence, IteratorProtocol, Sendable {
        private let set: ByteRangeSet
        private let end: Int64
        private var position: Int64
        private var index: Int

        fileprivate init(set: ByteRangeSet, range: ByteRange) {
            self.set = set
            end = range.upperBound
            position = range.lowerBound
            index = set.index(endingAfter: range.lowerBound)
        }

        /// The next piece, or `nil` at the end of the range.
        public mutating func next() -> Piece? {
            guard position < end else { return nil }
            let start = position
            guard index < set.ranges.count else {
                position = end
                return .gap(ByteRange(start, end))
            }
            let range = set.ranges[index]
            if range.lowerBound > start {
                position = Swift.min(range.lowerBound, end)
                return .gap(ByteRange(start, position))
            }
            position = Swift.min(range.upperBound, end)
            index += 1
            return .extent(ByteRange(start, position))
        }
    }
}

extension ByteRangeSet: CustomStringConvertible {
    /// The ranges in brackets, separated by commas.
    public var description: String { "[" + ranges.map(\.description).joined(separator: ", ") + "]" }
}
