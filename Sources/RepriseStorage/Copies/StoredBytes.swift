import ReprisePlatform
package import RepriseRanges

/// Reads an entry's bytes, each block proved as it is read, and remembers the last one. I/O; one caller at a time.
package struct StoredBytes: Sendable {
    private let snapshot: EntrySnapshot
    private var block: Int64 = -1
    private var bytes: [UInt8]?

    package init(_ snapshot: EntrySnapshot) { self.snapshot = snapshot }

    /// The stored bytes of `range` up to the end of its first block, which are at least one; `nil`, and how many bytes to pass
    /// over, where they are damaged or not there any more.
    package mutating func next(in range: ByteRange) throws(StoreError) -> (bytes: ArraySlice<UInt8>?, count: Int64) {
        let layout = snapshot.layout
        let wanted = layout.block(at: range.lowerBound)
        if wanted != block {
            do throws(FileError) { bytes = try snapshot.proved(wanted) } catch {
                throw StoreError(error, doing: "reading what is stored")
            }
            block = wanted
        }
        let start = Int(range.lowerBound - layout.start(of: wanted))
        let count = min(range.count, layout.blockSize - Int64(start))
        guard let bytes, start < bytes.count else { return (nil, count) }
        let part = bytes[start..<min(start + Int(count), bytes.count)]
        return (part, Int64(part.count))
    }
}
