/// A dictionary of structured fields (RFC 9651 §3.2), as far as a cache needs one: keys and bare items.
///
/// Strict, as the standard has it: where one character is out of place the whole field says nothing. Parameters and inner lists
/// are read over.
struct StructuredDictionary {
    /// A member's value.
    enum Item: Hashable {
        case boolean(Bool)
        case integer(Int64)
        case text(String)
        /// A decimal, a token, bytes, a date, or a list: no directive has one.
        case other
    }

    /// The members in order; of several with one key the last (§4.2.2).
    private(set) var members: [(key: String, item: Item)] = []

    /// Reads the field; `nil` where it is not one.
    init?(_ field: String) {
        var reader = Reader(rest: Array(field.utf8)[...])
        reader.skip(" ")
        while !reader.isAtEnd {
            guard let key = reader.key() else { return nil }
            var item = Item.boolean(true)
            if reader.take("=") {
                guard let read = reader.itemOrList() else { return nil }
                item = read
            }
            guard reader.parameters() else { return nil }
            members.removeAll { $0.key.octets == key.octets }
            members.append((key, item))
            reader.skip(" \t")
            if reader.isAtEnd { return }
            guard reader.take(",") else { return nil }
            reader.skip(" \t")
            // A comma at the end is one too many.
            if reader.isAtEnd { return nil }
        }
    }
}

/// Takes items off the front of a field's bytes.
private struct Reader {
    var rest: ArraySlice<UInt8>

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ mark: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: mark) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func skip(_ marks: String) {
        rest = rest.drop { marks.utf8.contains($0) }
    }

    private mutating func text(while isPart: (UInt8) -> Bool) -> String {
        let part = rest.prefix(while: isPart)
        rest = rest[part.endIndex...]
        return String(decoding: part, as: UTF8.self)
    }

    mutating func key() -> String? {
        guard let first = rest.first, isLower(first) || first == UInt8(ascii: "*") else { return nil }
        return text { isLower($0) || isDigit($0) || "_-.*".utf8.contains($0) }
    }

    /// Parameters of an item, which say nothing here; `false` where they cannot be read.
    mutating func parameters() -> Bool {
        while take(";") {
            skip(" ")
            guard key() != nil else { return false }
            if take("="), item() == nil { return false }
        }
        return true
    }

    mutating func itemOrList() -> StructuredDictionary.Item? {
        guard take("(") else { return item() }
        while true {
            skip(" ")
            if take(")") { return .other }
            guard item() != nil, parameters(), rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: ")") else {
                return nil
            }
        }
    }

    private mutating func item() -> StructuredDictionary.Item? {
        switch rest.first {
        case UInt8(ascii: "?")?:
            rest.removeFirst()
            if take("1") { return .boolean(true) }
            return take("0") ? .boolean(false) : nil
        case UInt8(ascii: "\"")?: return string()
        case UInt8(ascii: ":")?:
            rest.removeFirst()
            _ = text { isLetter($0) || isDigit($0) || "+/=".utf8.contains($0) }
            return take(":") ? .other : nil
        case UInt8(ascii: "@")?:
            rest.removeFirst()
            return number() == nil ? nil : .other
        case let first? where isLetter(first) || first == UInt8(ascii: "*"):
            _ = text { isLetter($0) || isDigit($0) || "!#$%&'*+-.^_`|~:/".utf8.contains($0) }
            return .other
        default: return number()
        }
    }

    private mutating func number() -> StructuredDictionary.Item? {
        let isNegative = take("-")
        let whole = text(while: isDigit)
        guard (1...15).contains(whole.utf8.count), let number = whole.decimal else { return nil }
        guard take(".") else { return .integer(isNegative ? 0 - number : number) }
        return whole.utf8.count <= 12 && (1...3).contains(text(while: isDigit).utf8.count) ? .other : nil
    }

    private mutating func string() -> StructuredDictionary.Item? {
        rest.removeFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return .text(String(decoding: bytes, as: UTF8.self))
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), "\"\\".utf8.contains(escaped) else { return nil }
                bytes.append(escaped)
            case 0x20..<0x7F: bytes.append(byte)
            default: return nil
            }
        }
        return nil
    }
}

private func isLower(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
private func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
