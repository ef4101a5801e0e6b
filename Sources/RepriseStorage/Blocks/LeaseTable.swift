import RepriseRanges

/// The extents of a generation that are leased.
///
/// An array in the order in which they were: few are held at a time, and the newest ends first more often than not.
struct LeaseTable {
    private var leases: [(id: UInt64, extent: ByteRange)] = []
    private var newest: UInt64 = 0

    /// Those that are held.
    var extents: some Sequence<ByteRange> { leases.lazy.map(\.extent) }

    /// Begins a lease; its number is never used again.
    mutating func begin(_ extent: ByteRange) -> UInt64 {
        newest += 1
        leases.append((newest, extent))
        return newest
    }

    mutating func end(_ id: UInt64) {
        if let index = leases.lastIndex(where: { $0.id == id }) { leases.remove(at: index) }
    }
}
