import ReprisePlatform

/// Bytes of all entries that are in memory and wait for the disk. Beyond the limit nothing new is stored, and what is being
/// stored is received only as fast as the disk takes it. Safe to use from any thread; its lock is a leaf.
package final class UnwrittenBytes: Sendable {
    private let limit: Int64
    private let bytes = Lock<Int64>(0)

    /// - Parameter limit: In bytes.
    package init(limit: Int64) { self.limit = limit }

    /// Counts so many bytes more, or fewer.
    package func add(_ count: Int64) { bytes.withLock { $0 += count } }

    /// Whether so much waits that nothing may be added to it.
    package var isExceeded: Bool { bytes.withLock { $0 >= limit } }

    /// Bytes now.
    package var count: Int64 { bytes.withLock { $0 } }
}
