import RepriseRanges
import RepriseStorage

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

    /// The sum of what is stored.
    init(_ entries: [IndexedEntry]) {
        for entry in entries {
            // What a process that was killed left takes space, too.
            allocated = allocated.adding(entry.use.allocated)
            guard entry.key != nil else { continue }
            self.entries += 1
            stored = stored.adding(entry.stored)
        }
    }
}
