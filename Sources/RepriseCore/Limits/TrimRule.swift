package import RepriseRanges
package import RepriseStorage

/// Which stored bytes of something that is being read go first: those least likely to be asked for soon. No I/O.
///
///        readers:            1                 2
///     |----------------------*=======----------*=======----------|
///      first to go, from 0    |    then what is farthest ahead of the reader before it
///                             +-- spared: the bytes about each reader and each transfer
package struct TrimRule: Sendable {
    /// Decisions are made for pieces of this size, aligned to it.
    package static let step: Int64 = 1 << 20

    /// What is stored.
    package var claimed: ByteRangeSet
    /// Where readers stand.
    package var readers: [Int64]
    /// What must not be touched.
    package var spared: [ByteRange]
    /// Where blocks lie: only whole ones can be given back.
    package var layout: BlockLayout
    /// Bytes behind a reader that stay.
    package var spareBehind: Int64
    /// Bytes ahead of a reader that stay.
    package var spareAhead: Int64

    package init(
        claimed: ByteRangeSet, readers: [Int64], spared: [ByteRange], layout: BlockLayout, spareBehind: Int64,
        spareAhead: Int64
    ) {
        self.spareBehind = spareBehind
        self.spareAhead = spareAhead
        self.claimed = claimed
        self.readers = readers.sorted()
        self.spared = spared
        self.layout = layout
    }

    /// The ranges to give back, the first to go first, together at least `wanted` bytes where there are as many.
    package func ranges(giving wanted: Int64) -> [ByteRange] {
        var free = claimed
        for range in spared { free.remove(range) }
        for reader in readers {
            let ahead = ByteRange(offset: reader, count: spareAhead).upperBound
            free.remove(ByteRange(max(0, reader - spareBehind), ahead))
        }
        var pieces = free.ranges.flatMap(cut)
        // Behind all readers comes first, from the start on; then what is farthest ahead of the reader before it.
        pieces.sort { first, second in
            switch (distance(first), distance(second)) {
            case (nil, nil): first.lowerBound < second.lowerBound
            case (nil, _): true
            case (_, nil): false
            case (let one?, let other?): (other, first.lowerBound) < (one, second.lowerBound)
            }
        }
        var result: [ByteRange] = []
        var sum: Int64 = 0
        for piece in pieces where sum < wanted {
            result.append(piece)
            sum += piece.count
        }
        return result
    }

    /// How far the nearest reader before it is; `nil` where all are behind it already.
    private func distance(_ piece: ByteRange) -> Int64? {
        readers.last { $0 <= piece.lowerBound }.map { piece.lowerBound - $0 }
    }

    /// Whole blocks of a range, in pieces.
    private func cut(_ range: ByteRange) -> [ByteRange] {
        // The last block of a file is whole where it ends with the file; it stays.
        let end = layout.blockStart(of: range.upperBound)
        var pieces: [ByteRange] = []
        var position = layout.blockEnd(of: range.lowerBound)
        while position < end {
            let step = (position - position % TrimRule.step).adding(TrimRule.step)
            let next = layout.blockStart(of: min(end, max(step, position.adding(layout.blockSize))))
            pieces.append(ByteRange(position, next))
            position = next
        }
        return pieces
    }
}
