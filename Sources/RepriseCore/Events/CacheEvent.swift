import ReprisePlatform

/// Something that happened, for an app's log or display.
public enum CacheEvent: Sendable, Hashable {
    /// A reader got its first byte from what was stored.
    case hit(key: String)
    /// A reader's first byte had to come from the origin.
    case miss(key: String)
    /// A request was sent to the origin.
    case originRequest(key: String, range: String)
    /// Bytes reached the store.
    case stored(key: String, bytes: Int64)
    /// The entry cannot be stored now; playback goes on.
    case degraded(key: String, reason: String)
    /// The system deleted files of an entry that is in use; what comes from now on is stored anew.
    case purged(key: String)
    /// What was stored of it went to make room: all of it, or where it is being read, blocks far from every reader.
    case evicted(key: String, bytes: Int64)
    /// The origin has another representation; a new generation was begun.
    case generationChanged(key: String)
    /// Blocks failed their proof and will be fetched again.
    case damaged(key: String, blocks: Int64)
    /// The origin's nodes disagree about entity tags; judged by length, date and overlap for a day.
    case demotedEntityTags(host: String)
    /// An answer was not what was asked for.
    case mismatch(key: String, reason: String)
    /// The origin could not be used.
    case originError(key: String, reason: String)
    /// A request failed at one of several origins; where another is well it was asked instead.
    case originFailed(origin: String, reason: String)
}

/// Sums since the cache was opened, in bytes and counts.
public struct CacheStatistics: Sendable, Hashable {
    /// Bytes handed to readers.
    public var served: Int64 = 0
    /// Body bytes received from origins.
    public var fromOrigin: Int64 = 0
    /// Requests sent to origins.
    public var originRequests: Int64 = 0
    /// Bytes written to the store.
    public var stored: Int64 = 0
    /// Readers opened.
    public var readers: Int64 = 0
    /// Blocks that failed their proof.
    public var damagedBlocks: Int64 = 0

    /// Bytes that did not have to come from an origin.
    public var saved: Int64 { max(0, served - fromOrigin) }

    /// All zero.
    public init() {}
}

/// Takes events to whoever listens, and counts. Listeners are called in order, and must be quick.
package final class EventHub: Sendable {
    private struct State {
        /// In the order they came.
        var listeners: [(id: Int, tell: @Sendable (CacheEvent) -> Void)] = []
        var next = 0
        var statistics = CacheStatistics()
    }

    private let state = Lock(State())

    package init() {}

    package func add(_ listener: @escaping @Sendable (CacheEvent) -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.listeners.append((state.next, listener))
            return state.next
        }
    }

    package func remove(_ id: Int) { state.withLock { state in state.listeners.removeAll { $0.id == id } } }

    package func send(_ event: CacheEvent) {
        for listener in state.withLock({ $0.listeners }) { listener.tell(event) }
    }

    package func count(_ change: (inout CacheStatistics) -> Void) { state.withLock { change(&$0.statistics) } }

    package var statistics: CacheStatistics { state.withLock { $0.statistics } }
}
