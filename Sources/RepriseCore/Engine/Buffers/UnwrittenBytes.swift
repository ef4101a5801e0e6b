import ReprisePlatform

/// Bytes of all entries that are in memory and wait for the disk. Beyond the limit nothing new is stored, and what is being
/// stored is received only as fast as the disk takes it. Safe to use from any thread; its lock is a leaf.
package final class UnwrittenBytes: Sendable {
    private struct State {
        var bytes: Int64 = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let limit: Int64
    private let state = Lock(State())

    /// - Parameter limit: In bytes.
    package init(limit: Int64) { self.limit = limit }

    /// Counts so many bytes more, or fewer; those that wait for fewer are told.
    package func add(_ count: Int64) {
        let told = state.withLock { state -> [@Sendable () -> Void] in
            state.bytes += count
            guard state.bytes < limit else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for tell in told { tell() }
    }

    /// Whether so much waits that nothing may be added to it.
    package var isExceeded: Bool { state.withLock { $0.bytes >= limit } }

    /// Calls `tell` once, when it is not exceeded any more; at once where it is not now.
    package func whenBelow(_ tell: @escaping @Sendable () -> Void) {
        let isBelow = state.withLock { state in
            if state.bytes >= limit { state.waiting.append(tell) }
            return state.bytes < limit
        }
        if isBelow { tell() }
    }

    /// Bytes now.
    package var count: Int64 { state.withLock { $0.bytes } }
}
