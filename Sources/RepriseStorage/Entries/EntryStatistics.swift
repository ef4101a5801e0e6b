import ReprisePlatform
import RepriseRanges

/// What one entry has brought, as long as there is one: in the header of its `blocks` file, beside the summary, whole by
/// its hash or not there. A hint like that: written when the entry is synced or closed, so that a process that is killed
/// loses what came since.
public struct EntryStatistics: Sendable, Hashable {
    /// Bytes handed to readers.
    public var served: Int64 = 0
    /// Body bytes received from origins for it.
    public var fromOrigin: Int64 = 0

    /// Bytes that did not have to come from an origin.
    public var saved: Int64 { max(0, served - fromOrigin) }

    /// Share of the bytes served that no origin had to send, 0 to 1; `nil` before anything was served.
    public var hitRatio: Double? { served > 0 ? Double(saved) / Double(served) : nil }

    /// All zero.
    public init() {}

    package init(served: Int64, fromOrigin: Int64) {
        self.served = served
        self.fromOrigin = fromOrigin
    }

    /// Where in the header, behind what a sealed generation has there.
    static let headerOffset: Int64 = 256
    static let encodedSize = 24

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: served)
        bytes.append(littleEndian: fromOrigin)
        bytes.append(littleEndian: XXH64.hash(bytes))
        return bytes
    }

    /// What stands there; all zero where nothing does, or nothing whole.
    init(_ bytes: [UInt8], at index: Int) {
        guard bytes.count >= index + EntryStatistics.encodedSize,
            bytes.littleEndian(at: index + 16) as UInt64 == XXH64.hash(Array(bytes[index..<index + 16]))
        else { return }
        let (served, fromOrigin): (Int64, Int64) = (bytes.littleEndian(at: index), bytes.littleEndian(at: index + 8))
        guard served >= 0, fromOrigin >= 0 else { return }
        self.served = min(served, EntrySummary.largest)
        self.fromOrigin = min(fromOrigin, EntrySummary.largest)
    }

    /// Adds other sums; what no number can hold stays at the largest.
    package mutating func add(_ other: EntryStatistics) {
        served = served.adding(other.served)
        fromOrigin = fromOrigin.adding(other.fromOrigin)
    }

    /// Of each sum the larger one: what is on disk may be behind what is in memory, and the other way round.
    package func latest(_ other: EntryStatistics) -> EntryStatistics {
        var sums = self
        sums.served = max(served, other.served)
        sums.fromOrigin = max(fromOrigin, other.fromOrigin)
        return sums
    }
}
