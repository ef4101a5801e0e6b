/// A half-open range of byte offsets, `lowerBound ..< upperBound`, in 64 bits.
///
/// Offsets are never negative. A range may be empty; a `ByteRangeSet` never holds an empty one.
public struct ByteRange: Hashable, Sendable {
    /// Offset of the first byte.
    public let lowerBound: Int64
    /// Offset just past the last byte.
    public let upperBound: Int64

    /// Makes the range `lowerBound ..< upperBound`.
    ///
    /// - Precondition: `0 <= lowerBound <= upperBound`.
    public init(_ lowerBound: Int64, _ upperBound: Int64) {
        precondition(
            lowerBound >= 0 && lowerBound <= upperBound, "a byte range runs upwards from an offset of 0 or more")
        self.lowerBound = lowerBound
        self.upperBound = upperBound
    }

    /// Makes a range from Swift's own half-open range, under the same precondition.
    public init(_ range: Range<Int64>) {
        self.init(range.lowerBound, range.upperBound)
    }

    /// The range of `count` bytes from `offset`; it ends at `Int64.max` where the sum would pass it.
    public init(offset: Int64, count: Int64) {
        self.init(offset, offset.adding(count))
    }

    /// Everything from `offset` on, as far as 64 bits reach.
    public static func from(_ offset: Int64) -> ByteRange { ByteRange(offset, .max) }

    /// Number of bytes.
    public var count: Int64 { upperBound - lowerBound }

    /// Whether the range holds no byte.
    public var isEmpty: Bool { lowerBound == upperBound }

    /// Whether `offset` lies in the range.
    public func contains(_ offset: Int64) -> Bool { offset >= lowerBound && offset < upperBound }

    /// Whether every byte of `other` lies in the range. An empty range lies in any.
    public func contains(_ other: ByteRange) -> Bool {
        other.isEmpty || (other.lowerBound >= lowerBound && other.upperBound <= upperBound)
    }

    /// Whether the two share a byte.
    public func overlaps(_ other: ByteRange) -> Bool {
        lowerBound < other.upperBound && other.lowerBound < upperBound && !isEmpty && !other.isEmpty
    }

    /// What both hold, or `nil` where they share no byte.
    public func intersection(_ other: ByteRange) -> ByteRange? {
        let lower = max(lowerBound, other.lowerBound)
        let upper = min(upperBound, other.upperBound)
        return lower < upper ? ByteRange(lower, upper) : nil
    }
}

extension ByteRange: CustomStringConvertible {
    /// `lower..<upper`, the upper bound left out where the range is open.
    public var description: String {
        upperBound == .max ? "\(lowerBound)..." : "\(lowerBound)..<\(upperBound)"
    }
}
