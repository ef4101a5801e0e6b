import ReprisePlatform
package import RepriseRanges

/// Reads an entry's bytes, each block verified as it is read, and remembers the last one. I/O; one caller at a time.
package struct StoredBytes: Sendable {
    private let snapshot: EntrySnapshot
    private var block: Int64 = -1
    private var bytes: [UInt8]?

    package init(_ snapshot: EntrySnapshot) { self.snapshot = snapshot }

    /// What there is of a range up to the end of its first block; at least one byte.
    package enum Piece {
        case bytes(ArraySlice<UInt8>)
        /// So many are stored and do not fit their checksum.
        case damaged(Int64)
        /// So many were given back since the entry was opened.
        case gone(Int64)

        package var count: Int64 {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .damaged(let count), .gone(let count): count
            }
        }
    }

    /// The next piece of `range`.
    package mutating func next(in range: ByteRange) throws(StoreError) -> Piece {
        let layout = snapshot.layout
        let wanted = layout.block(at: range.lowerBound)
        if wanted != block {
            do throws(FileError) { bytes = try snapshot.verified(wanted) } catch {
                throw StoreError(error, doing: "reading what is stored")
            }
            block = wanted
        }
        let start = Int(range.lowerBound - layout.start(of: wanted))
        let count = min(range.count, layout.blockSize - Int64(start))
        guard let bytes, start < bytes.count else {
            // Looked up anew where the checksum did not fit.
            return snapshot.claimed.contains(range.lowerBound) ? .damaged(count) : .gone(count)
        }
        return .bytes(bytes[start..<min(start + Int(count), bytes.count)])
    }
}
