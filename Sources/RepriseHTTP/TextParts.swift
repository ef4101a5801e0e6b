// Text that came from outside, taken apart where its octets say so. `String` takes it apart by characters: a comma with an accent
// behind it is one character there, and a comma on the wire, to everybody else who reads it.

extension StringProtocol {
    /// Whether it begins with the octets of `other`.
    @inlinable package func beginsLike(_ other: some StringProtocol) -> Bool { utf8.starts(with: other.utf8) }

    /// Whether it ends with the octets of `other`.
    @inlinable package func endsLike(_ other: some StringProtocol) -> Bool {
        utf8.count >= other.utf8.count && utf8.suffix(other.utf8.count).elementsEqual(other.utf8)
    }

    /// Whether the octets of `other` are somewhere in it.
    @inlinable package func has(_ other: some StringProtocol) -> Bool {
        var rest = utf8[...]
        while true {
            if rest.starts(with: other.utf8) { return true }
            if rest.popFirst() == nil { return false }
        }
    }

    /// What stands behind `prefix`; `nil` where it does not begin with the octets of that.
    @inlinable package func without(prefix: some StringProtocol) -> SubSequence? {
        beginsLike(prefix) ? self[utf8.index(startIndex, offsetBy: prefix.utf8.count)...] : nil
    }

    /// What stands in front of `suffix`; `nil` where it does not end with the octets of that.
    @inlinable package func without(suffix: some StringProtocol) -> SubSequence? {
        endsLike(suffix) ? self[..<utf8.index(endIndex, offsetBy: -suffix.utf8.count)] : nil
    }

    /// What stands in brackets, as an address of version 6 does in a URL; `nil` where it is in none.
    @inlinable package var inBrackets: SubSequence.SubSequence? { without(prefix: "[")?.without(suffix: "]") }

    /// What stands before the first of `separators`, each an ASCII letter or sign; all of it where there is none.
    @inlinable package func upTo(_ separators: String) -> SubSequence {
        let end = utf8.firstIndex { separators.utf8.contains($0) } ?? endIndex
        return self[..<end]
    }

    /// What stands before and behind the first `separator`, which is ASCII; `nil` where there is none.
    @inlinable package func cut(at separator: Unicode.Scalar) -> (head: SubSequence, tail: SubSequence)? {
        guard let index = utf8.firstIndex(of: UInt8(ascii: separator)) else { return nil }
        return (self[..<index], self[utf8.index(after: index)...])
    }

    /// What stands before and behind the last `separator`, which is ASCII; `nil` where there is none.
    @inlinable package func cut(atLast separator: Unicode.Scalar) -> (head: SubSequence, tail: SubSequence)? {
        let octet = UInt8(ascii: separator)
        guard var index = utf8.firstIndex(of: octet) else { return nil }
        while let next = utf8[utf8.index(after: index)...].firstIndex(of: octet) { index = next }
        return (self[..<index], self[utf8.index(after: index)...])
    }

    /// The parts between separators, which are ASCII, empty ones among them.
    @inlinable package func parts(between separator: Unicode.Scalar) -> [SubSequence] {
        var parts: [SubSequence] = []
        var start = startIndex
        while let end = utf8[start...].firstIndex(of: UInt8(ascii: separator)) {
            parts.append(self[start..<end])
            start = utf8.index(after: end)
        }
        parts.append(self[start...])
        return parts
    }

    /// The names in a path, what is between slashes and not empty.
    @inlinable package var pathComponents: [SubSequence] { parts(between: "/").filter { !$0.isEmpty } }

    /// The members of a list (RFC 9110 §5.6.1): what is between commas, without white space around it, and not empty.
    @inlinable package var listMembers: [SubSequence.SubSequence] {
        parts(between: ",").map(\.trimmingOptionalWhitespace).filter { !$0.isEmpty }
    }

    /// Its octets with percent escapes undone (RFC 3986 §2.1); what is no escape stays.
    package var percentDecoded: [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.isTwoHexadecimalDigits,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
