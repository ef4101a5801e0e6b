import RepriseRanges
import RepriseStorage

/// Sums, in bytes and counts.
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
    /// Readers that began with what was stored.
    public var hits: Int64 = 0
    /// Of these, readers that needed more than that.
    public var partials: Int64 = 0
    /// Readers whose first byte had to come from an origin.
    public var misses: Int64 = 0
    /// Blocks that failed their checksum.
    public var damagedBlocks: Int64 = 0

    /// Bytes that did not have to come from an origin.
    public var saved: Int64 { traffic.saved }

    /// Share of the bytes served that no origin had to send, 0 to 1; `nil` before anything was served.
    public var hitRatio: Double? { traffic.hitRatio }

    private var traffic: EntryStatistics { EntryStatistics(served: served, fromOrigin: fromOrigin) }

    /// All zero.
    public init() {}
}

/// Sums of a store, over all caches that ever used it.
public struct StoreStatistics: Sendable, Hashable {
    /// The sums.
    public var sums: CacheStatistics
    /// When counting began, in seconds since 1970: when the store was made, or its statistics were lost.
    public var since: Int64

    package init(sums: CacheStatistics, since: Int64) {
        self.sums = sums
        self.since = since
    }
}

extension CacheStatistics {
    /// Under which names a store keeps them.
    private static let names: [(name: String, path: any WritableKeyPath<CacheStatistics, Int64> & Sendable)] = [
        ("served", \.served), ("fromOrigin", \.fromOrigin), ("originRequests", \.originRequests),
        ("stored", \.stored), ("readers", \.readers), ("hits", \.hits), ("partials", \.partials),
        ("misses", \.misses), ("damagedBlocks", \.damagedBlocks),
    ]

    /// By name.
    var named: [String: Int64] {
        Dictionary(uniqueKeysWithValues: CacheStatistics.names.map { ($0.name, self[keyPath: $0.path]) })
    }

    /// Those that are there, the others zero.
    init(named sums: [String: Int64]) {
        for (name, path) in CacheStatistics.names { self[keyPath: path] = sums[name] ?? 0 }
    }

    /// What came since `earlier`.
    func since(_ earlier: CacheStatistics) -> CacheStatistics {
        var change = self
        for (_, path) in CacheStatistics.names { change[keyPath: path] -= earlier[keyPath: path] }
        return change
    }

    /// Both together; what no number can hold stays at the largest.
    func adding(_ other: CacheStatistics) -> CacheStatistics {
        var sum = self
        for (_, path) in CacheStatistics.names {
            sum[keyPath: path] = sum[keyPath: path].adding(other[keyPath: path])
        }
        return sum
    }
}

extension StoreStatistics {
    /// As a store keeps them.
    package var named: [String: Int64] { sums.named.merging(["since": since]) { $1 } }

    /// What a store keeps.
    package init(named sums: [String: Int64]) {
        self.init(sums: CacheStatistics(named: sums), since: sums["since"] ?? 0)
    }
}
