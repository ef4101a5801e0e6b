/// Reads the JSON that `EntryInfo` writes: one description an entry is read for every list and count of a store, so this
/// knows one shape only, and answers `nil` for every other.
struct InfoReader {
    /// The text without white space between its tokens, which is also what the checksum is over.
    private var text: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        text = bytes
        var (count, isQuoted, isEscaped) = (0, false, false)
        for byte in bytes {
            if isQuoted {
                isQuoted = isEscaped || byte != InfoReader.quote
                isEscaped = !isEscaped && byte == InfoReader.backslash
            } else {
                if byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { continue }
                isQuoted = byte == InfoReader.quote
            }
            text[count] = byte
            count += 1
        }
        text.removeLast(text.count - count)
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    /// Whether all was read.
    var isAtEnd: Bool { index == text.count }

    /// What `read` takes: its value, and the bytes it stands in.
    mutating func bytes<Value>(of read: (inout InfoReader) -> Value?) -> (Value, ArraySlice<UInt8>)? {
        let start = index
        guard let value = read(&self) else { return nil }
        return (value, text[start..<index])
    }

    /// Takes `byte`, if it is next.
    mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard index < text.count, text[index] == UInt8(ascii: byte) else { return false }
        index += 1
        return true
    }

    /// Reads an object; `member` reads the value of each name, and answers whether it could.
    mutating func object(_ member: (String, inout InfoReader) -> Bool) -> Bool {
        guard take("{") else { return false }
        if take("}") { return true }
        repeat {
            guard let name = string(), take(":"), member(name, &self) else { return false }
        } while take(",")
        return take("}")
    }

    /// Reads a list whose elements `element` reads.
    mutating func list<Element>(_ element: (inout InfoReader) -> Element?) -> [Element]? {
        var elements: [Element] = []
        guard take("[") else { return nil }
        if take("]") { return elements }
        repeat {
            guard let next = element(&self) else { return nil }
            elements.append(next)
        } while take(",")
        return take("]") ? elements : nil
    }

    /// Reads `true` or `false`.
    mutating func truth() -> Bool? {
        for (word, value) in [("true", true), ("false", false)] where text[index...].starts(with: word.utf8) {
            index += word.utf8.count
            return value
        }
        return nil
    }

    /// Reads a whole number.
    mutating func number<Number: FixedWidthInteger & SignedInteger>(_: Number.Type = Number.self) -> Number? {
        let isNegative = take("-")
        let start = index
        var value: Number = 0
        while index < text.count, let digit = InfoReader.digit(text[index]), digit < 10 {
            let (tens, isOver) = value.multipliedReportingOverflow(by: 10)
            let (sum, isOverNow) =
                isNegative
                ? tens.subtractingReportingOverflow(Number(digit)) : tens.addingReportingOverflow(Number(digit))
            guard !isOver, !isOverNow else { return nil }
            value = sum
            index += 1
        }
        return index > start ? value : nil
    }

    /// Reads a string (RFC 8259 §7).
    mutating func string() -> String? {
        guard take("\"") else { return nil }
        let start = index
        while index < text.count, text[index] != InfoReader.quote, text[index] != InfoReader.backslash { index += 1 }
        if take("\"") { return String(decoding: text[start..<index - 1], as: UTF8.self) }
        var plain = Array(text[start..<index])
        while index < text.count {
            let byte = text[index]
            index += 1
            if byte == InfoReader.quote { return String(decoding: plain, as: UTF8.self) }
            if byte != InfoReader.backslash {
                plain.append(byte)
            } else {
                guard let scalar = escaped() else { return nil }
                plain += Array(String(scalar).utf8)
            }
        }
        return nil
    }

    private mutating func escaped() -> Unicode.Scalar? {
        guard index < text.count else { return nil }
        index += 1
        switch text[index - 1] {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            guard let first = unit() else { return nil }
            guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
            guard take("\\"), take("u"), let second = unit(), UTF16.isTrailSurrogate(second) else { return nil }
            return Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
        default: return nil
        }
    }

    /// Four hexadecimal digits.
    private mutating func unit() -> UInt16? {
        guard text.count - index >= 4 else { return nil }
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = InfoReader.digit(text[index]) else { return nil }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
