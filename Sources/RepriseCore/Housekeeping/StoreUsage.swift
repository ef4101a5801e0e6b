import RepriseRanges

/// What a store holds.
public struct StoreUsage: Sendable, Hashable {
    /// Number of entries.
    public var entries = 0
    /// Bytes stored.
    public var stored: Int64 = 0
    /// Bytes set aside by the volume, counted in allocated blocks.
    public var allocated: Int64 = 0

    /// Nothing.
    public init() {}

    mutating func add(_ other: StoreUsage) {
        entries += other.entries
        stored = stored.adding(other.stored)
        allocated = allocated.adding(other.allocated)
    }
}
