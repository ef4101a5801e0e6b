package import RepriseRanges

/// What is known of a file: some pieces of it, and perhaps its length. No I/O.
package struct KnownBytes: Sendable {
    /// Length of the whole; `nil` where nobody knows it.
    package var length: Int64?
    /// How often it was read from.
    package private(set) var looks = 0
    private var pieces: [(range: ByteRange, bytes: [UInt8])] = []

    package init(length: Int64? = nil) { self.length = length }

    /// How many bytes were read.
    var count: Int64 { pieces.reduce(0) { $0.adding($1.range.count) } }

    /// Adds what was read at `offset`. Of what is known twice the first stays.
    package mutating func add(_ bytes: [UInt8], at offset: Int64) {
        looks += 1
        if !bytes.isEmpty { pieces.append((ByteRange(offset: offset, count: Int64(bytes.count)), bytes)) }
    }

    /// The range without what lies past the file's end.
    package func clipped(_ range: ByteRange) -> ByteRange {
        guard let length else { return range }
        return ByteRange(min(range.lowerBound, length), min(range.upperBound, length))
    }

    /// The bytes of a range, as far as the file goes; `nil` where some are not known.
    package func bytes(_ range: ByteRange) -> [UInt8]? {
        let wanted = clipped(range)
        var position = wanted.lowerBound
        var found: [UInt8] = []
        while position < wanted.upperBound {
            guard let piece = pieces.first(where: { $0.range.contains(position) }) else { return nil }
            let start = Int(position - piece.range.lowerBound)
            let part = piece.bytes[start...].prefix(Int(wanted.upperBound - position))
            found += part
            position += Int64(part.count)
        }
        return found
    }

    /// Whether nothing of a range has to be read any more.
    package func covers(_ range: ByteRange) -> Bool { bytes(range) != nil }
}

/// What is to be done next to know what a file's head is.
package enum HeadStep: Sendable, Hashable {
    /// These bytes have to be known.
    case look(ByteRange)
    /// These ranges, besides what was looked at, are what a player needs to begin. Sorted, without overlaps.
    case keep([ByteRange])
}

/// Reading numbers.
extension [UInt8] {
    /// An unsigned number of up to 8 bytes, the highest first; `nil` where there are too few bytes. Capped at `Int64.max`.
    func number(_ offset: Int, _ count: Int) -> Int64? {
        guard offset >= 0, count <= 8, offset <= self.count - count else { return nil }
        let value = self[offset..<(offset + count)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int64(clamping: value)
    }

    /// The same, the lowest first.
    func littleNumber(_ offset: Int, _ count: Int) -> Int64? {
        guard offset >= 0, count <= 8, offset <= self.count - count else { return nil }
        let value = self[offset..<(offset + count)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int64(clamping: value)
    }

    func begins(_ text: String, at offset: Int = 0) -> Bool {
        offset >= 0 && offset <= count && self[offset...].starts(with: text.utf8)
    }
}

extension Int64 {
    /// So many seconds at this rate, and a quarter more, as rates vary.
    static func bytes(_ seconds: Double, at rate: Double) -> Int64 {
        let bytes = seconds * rate * 1.25
        return bytes.isFinite && bytes < 0x1p40 ? Int64(bytes < 0 ? 0 : bytes) : 1 << 40
    }
}
