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
    /// Blocks that failed their proof.
    public var damagedBlocks: Int64 = 0

    /// Bytes that did not have to come from an origin.
    public var saved: Int64 { max(0, served - fromOrigin) }

    /// Share of the bytes served that no origin had to send, 0 to 1; `nil` before anything was served.
    public var hitRatio: Double? { served > 0 ? Double(saved) / Double(served) : nil }

    /// All zero.
    public init() {}
}
