/// The line that says how long a chunk is (RFC 9112 §7.1), byte by byte. An extension is refused, though the RFC has it read
/// over: no player sends one, readers disagree about where one ends, and what hides in them is how requests were smuggled.
struct ChunkSizeLine: Sendable, Hashable {
    private enum Place: Sendable, Hashable {
        case size, returned
    }

    private var place = Place.size
    private var size: Int64 = 0
    private var digits = 0

    /// Most digits of a size.
    private static let digitLimit = 15

    /// Takes the line's next byte; the size, when the line is complete.
    mutating func take(_ byte: UInt8) throws(RequestRefusal) -> Int64? {
        switch place {
        case .size:
            if let digit = byte.hexDigit {
                digits += 1
                size = size << 4 | Int64(digit)
                guard digits <= ChunkSizeLine.digitLimit else {
                    throw RequestRefusal(400, "a chunk's size is too large")
                }
                return nil
            }
            guard digits > 0 else { throw RequestRefusal(400, "a chunk has no size") }
            if byte == UInt8(ascii: ";") { throw RequestRefusal(400, "a chunk has an extension") }
            guard byte == UInt8(ascii: "\r") else {
                throw RequestRefusal(400, "a chunk's size is not a hexadecimal number")
            }
            place = .returned
            return nil
        case .returned:
            guard byte == UInt8(ascii: "\n") else { throw RequestRefusal(400, "a CR without an LF") }
            return size
        }
    }
}

extension UInt8 {
    /// What it is worth as a hexadecimal digit.
    var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
