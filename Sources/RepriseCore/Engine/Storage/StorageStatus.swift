import RepriseRanges
import RepriseStorage

/// Where what a reader reads is stored, if it is.
struct StorageStatus: Sendable {
    enum Place: Sendable {
        /// An answer has to come, or files to be made.
        case undecided
        /// Too few of the first bytes have come to tell media from a page.
        case unsniffed
        case stored(Generation, EntryInfo)
        case notStored
        /// The reader has ended, or is to go on elsewhere: its next read tells.
        case ended
    }

    var place: Place
    /// Length of the representation in bytes, if it is known.
    var length: Int64?
    /// Whether more of it will be stored without anything being fetched.
    var isWriting: Bool
    /// Whether the entry was removed or replaced: its files are there as long as it has readers.
    var isRemoved = false

    /// How many bytes are stored in one run from `offset` on, as far as that is known.
    func stored(in range: ByteRange) -> Int64 {
        count(in: range) { $0.claimedEnd(from: $1) }
    }

    /// How many bytes are stored and verified in one run from `offset` on.
    func verified(in range: ByteRange) -> Int64 {
        count(in: range) { $0.verifiedEnd(from: $1) }
    }

    private func count(in range: ByteRange, upTo end: (Generation, Int64) -> Int64) -> Int64 {
        guard case .stored(let generation, _) = place else { return 0 }
        return min(end(generation, range.lowerBound), range.upperBound) - range.lowerBound
    }
}
