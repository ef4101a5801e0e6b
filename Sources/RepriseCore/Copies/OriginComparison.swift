public import RepriseRanges

/// What stored bytes are like, compared with those the origin sends now.
public struct OriginComparison: Sendable, Hashable {
    /// So many bytes that are equal by chance between two differences are counted as different, too: without that,
    /// everything being different would be millions of ranges.
    private static let join: Int64 = 16

    /// Bytes that were compared.
    public private(set) var compared: Int64 = 0
    /// Bytes that are stored and that the origin has otherwise, or not at all; half-open, in order.
    public private(set) var differing: [ByteRange] = []
    /// Bytes that are stored and do not match their own checksum, so that there is nothing to compare: they are never served.
    public private(set) var damaged: [ByteRange] = []
    /// Length in bytes as it is stored.
    public internal(set) var storedLength: Int64?
    /// Length in bytes as the origin says it now; `nil` where it does not.
    public internal(set) var originLength: Int64?
    /// Whether the origin's validator is another one than the stored one. The bytes may be the same.
    public internal(set) var hasOtherValidator = false

    /// Up to where bytes were looked at in one run.
    private var lookedAtUntil: Int64 = -1

    package init(storedLength: Int64?) { self.storedLength = storedLength }

    /// Whether the origin says another length.
    public var hasOtherLength: Bool { storedLength != nil && originLength != nil && storedLength != originLength }

    /// Whether what was compared is what the origin has.
    public var isSame: Bool { differing.isEmpty && damaged.isEmpty && !hasOtherLength }

    /// Takes bytes of the origin and as many that are stored at the same place; places ascend.
    package mutating func take(_ origin: ArraySlice<UInt8>, stored: ArraySlice<UInt8>, at offset: Int64) {
        compared += Int64(origin.count)
        defer { lookedAtUntil = offset.adding(Int64(origin.count)) }
        if origin == stored { return }
        var start: Int64?
        for (index, (theirs, ours)) in zip(origin, stored).enumerated() {
            if theirs != ours {
                start = start ?? offset.adding(Int64(index))
            } else if let first = start {
                note(ByteRange(first, offset.adding(Int64(index))), in: offset)
                start = nil
            }
        }
        if let start { note(ByteRange(start, offset.adding(Int64(origin.count))), in: offset) }
    }

    /// Stored bytes that the origin does not have.
    mutating func notThere(_ range: ByteRange) { if !range.isEmpty { differing.append(range) } }

    /// Stored bytes that cannot be compared.
    mutating func notVerified(_ range: ByteRange) { damaged.append(joining: range) }

    // Joins a difference to the one before it, where all between them was looked at.
    private mutating func note(_ range: ByteRange, in pieceStart: Int64) {
        if let last = differing.last, range.lowerBound - last.upperBound <= OriginComparison.join,
            last.upperBound >= pieceStart || lookedAtUntil == pieceStart
        {
            differing[differing.count - 1] = ByteRange(last.lowerBound, range.upperBound)
        } else {
            differing.append(range)
        }
    }
}

extension [ByteRange] {
    /// Adds a range behind the others, to the last one where it adjoins that.
    mutating func append(joining range: ByteRange) {
        if let last, last.upperBound == range.lowerBound {
            self[count - 1] = ByteRange(last.lowerBound, range.upperBound)
        } else if !range.isEmpty {
            append(range)
        }
    }
}
