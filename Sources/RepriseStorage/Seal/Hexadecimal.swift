extension Sequence<UInt8> {
    /// Two digits a byte, letters small.
    var hexadecimal: String {
        func digit(_ half: UInt8) -> UInt8 {
            half < 10 ? UInt8(ascii: "0") + half : UInt8(ascii: "a") + half - 10
        }
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }
}

extension [UInt8] {
    /// The bytes that `hexadecimal` writes so; `nil` for anything else.
    init?(hexadecimal digits: some StringProtocol) {
        self = []
        var first: UInt8?
        for digit in digits.utf8 {
            let half: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): half = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): half = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let high = first { append(high << 4 | half) }
            first = first == nil ? half : nil
        }
        if first != nil { return nil }
    }
}
