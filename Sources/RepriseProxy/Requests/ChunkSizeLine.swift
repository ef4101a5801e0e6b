/// The line that says how long a chunk is (RFC 9112 §7.1), byte by byte. Extensions are read and mean nothing, but must be
/// of their form: what hides in them is how requests were smuggled.
struct ChunkSizeLine: Sendable, Hashable {
    private enum Place: Sendable, Hashable {
        case size, extensions, quoted, escaped, returned
    }

    private var place = Place.size
    private var size: Int64 = 0
    private var digits = 0
    private var extensionBytes = 0
    private var hasValue = false
    private var last: UInt8 = 0

    /// Most digits of a size, and most bytes of a chunk's extensions.
    private static let digitLimit = 15
    private static let extensionLimit = 256

    /// Takes the line's next byte; the size, when the line is complete.
    mutating func take(_ byte: UInt8) throws(RequestRefusal) -> Int64? {
        defer { last = byte }
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
            if byte == UInt8(ascii: ";") {
                place = .extensions
            } else if byte == UInt8(ascii: "\r") {
                place = .returned
            } else {
                throw RequestRefusal(400, "a chunk's size is not a hexadecimal number")
            }
        case .extensions:
            let isOpen = last == UInt8(ascii: ";") || last == UInt8(ascii: "=")
            switch byte {
            case UInt8(ascii: "\r") where !isOpen: place = .returned
            case UInt8(ascii: "\"") where last == UInt8(ascii: "="): place = .quoted
            case UInt8(ascii: ";") where !isOpen: hasValue = false
            case UInt8(ascii: "=") where !isOpen && !hasValue: hasValue = true
            case _ where byte.isTokenByte && last != UInt8(ascii: "\""): break
            default: throw malformed
            }
        case .quoted:
            if byte == UInt8(ascii: "\"") {
                place = .extensions
            } else if byte == UInt8(ascii: "\\") {
                place = .escaped
            } else if byte < 0x20 && byte != UInt8(ascii: "\t") || byte == 0x7F {
                throw malformed
            }
        case .escaped:
            guard byte >= 0x20 && byte != 0x7F || byte == UInt8(ascii: "\t") else { throw malformed }
            place = .quoted
        case .returned:
            guard byte == UInt8(ascii: "\n") else { throw RequestRefusal(400, "a CR without an LF") }
            return size
        }
        extensionBytes += 1
        guard extensionBytes <= ChunkSizeLine.extensionLimit else { throw malformed }
        return nil
    }

    private var malformed: RequestRefusal { RequestRefusal(400, "a chunk's extension is not of its form") }
}

extension UInt8 {
    fileprivate var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
