/// What is known of an entry when it is decided which are to go.
public struct StoredUse: Sendable, Hashable {
    /// Name of the entry's folder; says nothing but which is which.
    public var name: String
    /// When it was last used, in seconds since 1970.
    public var lastUse: Int64
    /// How often it was used, as the logarithm to base 2 of the number of sessions: 0 for one session.
    public var logUseCount: Int
    /// Whether it is pinned. Pinned entries are not offered to a policy.
    public var isPinned: Bool
    /// Bytes it takes on the volume.
    public var allocated: Int64
    /// Length of the whole in bytes, `nil` while unknown.
    public var length: Int64?

    /// Describes an entry.
    public init(
        name: String, lastUse: Int64, logUseCount: Int = 0, isPinned: Bool = false, allocated: Int64,
        length: Int64? = nil
    ) {
        self.name = name
        self.lastUse = lastUse
        self.logUseCount = logUseCount
        self.isPinned = isPinned
        self.allocated = allocated
        self.length = length
    }
}

/// Decides in which order entries go when space is needed. Called on a background thread, with all entries at once.
public protocol EvictionPolicy: Sendable {
    /// The same entries, the first to go first.
    /// - Parameter now: Seconds since 1970.
    func order(_ uses: [StoredUse], now: Int64) -> [StoredUse]
}

/// The default: what was not used for longest goes first, and what was used in one session only is taken for half-way
/// there from the start. So a burst of things looked at once does not flush what is played daily. (As lists with an
/// insertion point in their middle do it in databases' buffer pools.)
public struct LeastRecentlyUsed: EvictionPolicy {
    /// By how much something used in one session is taken for older than it is.
    public var handicap: Duration

    /// - Parameter handicap: By default half of the 90 days that `StoreLimits.device` keeps what is not used.
    public init(handicap: Duration = .days(45)) { self.handicap = handicap }

    /// See `EvictionPolicy`.
    public func order(_ uses: [StoredUse], now: Int64) -> [StoredUse] {
        let handicap = handicap.components.seconds
        func rank(_ use: StoredUse) -> Int64 { use.logUseCount == 0 ? use.lastUse - handicap : use.lastUse }
        return uses.sorted { (rank($0), $0.name) < (rank($1), $1.name) }
    }
}

/// What was used least often goes first; among equals what was not used for longest. Counts are logarithms, so twice
/// as many uses make one step.
public struct LeastFrequentlyUsed: EvictionPolicy {
    /// The only one there is.
    public init() {}

    /// See `EvictionPolicy`.
    public func order(_ uses: [StoredUse], now: Int64) -> [StoredUse] {
        uses.sorted { ($0.logUseCount, $0.lastUse, $0.name) < ($1.logUseCount, $1.lastUse, $1.name) }
    }
}

/// Which entries go, given all of them. No I/O.
package struct EvictionPlan: Sendable {
    /// Entries that are too old: they go whatever space there is.
    package let expired: [StoredUse]
    /// The others, the first to go first.
    package let order: [StoredUse]

    /// - Parameters:
    ///   - age: How long an entry that is not used is kept.
    ///   - now: Seconds since 1970.
    package init(_ uses: [StoredUse], age: Duration?, policy: any EvictionPolicy, now: Int64) {
        let free = uses.filter { !$0.isPinned }
        let limit = age.map { now - $0.components.seconds } ?? .min
        expired = free.filter { $0.lastUse < limit }
        order = policy.order(free.filter { $0.lastUse >= limit }, now: now)
    }
}
