package import RepriseRanges

extension MediaResource {
    /// What is known of a resource at a moment.
    package struct Snapshot: Sendable, Hashable {
        /// Bytes stored, as far as this open of the entry knows them.
        package var stored: ByteRangeSet
        /// Length in bytes, `nil` while it is not known.
        package var length: Int64?
    }

    /// What is known now, without asking anybody; `nil` while nobody has the resource open.
    package func snapshot() -> Snapshot? {
        cache.table.open(request.key).map { Snapshot(stored: $0.storedRanges, length: $0.length) }
    }
}
