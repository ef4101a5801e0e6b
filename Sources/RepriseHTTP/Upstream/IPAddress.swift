/// An IPv4 or IPv6 address. One that is mapped (`::ffff:192.0.2.1`) is the IPv4 address it stands for.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 bytes, most significant first.
    package let bytes: [UInt8]

    /// - Parameter bytes: 4 or 16 of them; `nil` for any other number.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        let isMapped = bytes.count == 16 && bytes[..<12].elementsEqual(IPAddress.mappedPrefix)
        self.bytes = isMapped ? Array(bytes[12...]) : bytes
    }

    /// Reads an address as URLs and systems write it: in brackets or not, with a zone or not, and IPv4 in every spelling
    /// that resolvers understand: `169.254.1.1`, `0xa9.254.257`, `2851995905`, `0251.0376.1.1`.
    package init?(_ text: some StringProtocol) {
        var text = Substring(text)
        text = text.inBrackets ?? text
        let found = text.has(":") ? IPAddress.version6(text) : IPAddress.version4(text)
        guard let found else { return nil }
        self.init(bytes: found)
    }

    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// Whether it has 4 bytes.
    package var isVersion4: Bool { bytes.count == 4 }

    /// The IPv4 address that a translator or tunnel makes of this one: NAT64's, 6to4's and the old compatible form.
    package var carried: IPAddress? {
        guard !isVersion4 else { return nil }
        if bytes.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
            return IPAddress(bytes: Array(bytes[12...]))
        }
        if bytes.starts(with: [0x20, 0x02]) { return IPAddress(bytes: Array(bytes[2..<6])) }
        // `::` and `::1` have the form of a compatible one and mean something else.
        let isCompatible = bytes[..<12].allSatisfy { $0 == 0 } && bytes[12...].contains { $0 != 0 }
        return isCompatible && bytes[12...] != [0, 0, 0, 1] ? IPAddress(bytes: Array(bytes[12...])) : nil
    }

    /// Whether it is this machine itself.
    package var isLoopback: Bool {
        isVersion4 ? bytes[0] == 127 : bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] == 1
    }

    /// Whether it stands for every address of a machine, as what listens has it: `0.0.0.0` or `::`.
    package var isUnspecified: Bool { bytes.allSatisfy { $0 == 0 } }

    /// The usual spelling: dotted, or groups in hexadecimal with the longest run of zeros left out.
    package var description: String {
        if isVersion4 { return bytes.map { String($0) }.joined(separator: ".") }
        let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        var longest = 0..<0
        var start = 0
        for index in 0...8 where index == 8 || groups[index] != 0 {
            if index - start > max(longest.count, 1) { longest = start..<index }
            start = index + 1
        }
        func text(_ part: ArraySlice<UInt16>) -> String { part.map { String($0, radix: 16) }.joined(separator: ":") }
        if longest.isEmpty { return text(groups[...]) }
        return text(groups[..<longest.lowerBound]) + "::" + text(groups[longest.upperBound...])
    }

    // The rules of inet_aton: one to four numbers, each decimal, 0octal or 0xhexadecimal; the last fills what is left.
    private static func version4(_ text: Substring) -> [UInt8]? {
        let parts = (text.without(suffix: ".") ?? text).parts(between: ".")
        guard (1...4).contains(parts.count) else { return nil }
        var numbers: [UInt32] = []
        for part in parts {
            guard let number = number(part) else { return nil }
            numbers.append(number)
        }
        guard let last = numbers.popLast(), numbers.allSatisfy({ $0 <= 255 }) else { return nil }
        let left = 4 - numbers.count
        guard left == 4 || last < 1 << (8 * left) else { return nil }
        return numbers.map { UInt8($0) } + (0..<left).reversed().map { UInt8(truncatingIfNeeded: last >> (8 * $0)) }
    }

    private static func number(_ text: Substring) -> UInt32? {
        let lowered = text.lowercased()
        let (digits, radix) =
            if let digits = lowered.without(prefix: "0x") {
                (digits, 16)
            } else if let digits = lowered.without(prefix: "0"), !digits.isEmpty {
                (digits, 8)
            } else {
                (lowered[...], 10)
            }
        // A sign is no digit.
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }) else {
            return nil
        }
        return UInt32(digits, radix: radix)
    }

    private static func version6(_ text: Substring) -> [UInt8]? {
        let text = text.upTo("%")
        // Splitting by the double colon: at most one, so one or two halves.
        guard let gap = doubleColon(text) else {
            let groups = groups(text)
            return groups?.count == 16 ? groups : nil
        }
        let (head, tail) = (text[..<gap.lowerBound], text[gap.upperBound...])
        guard let front = head.isEmpty ? [] : groups(head), let back = tail.isEmpty ? [] : groups(tail),
            front.count + back.count <= 14
        else { return nil }
        return front + Array(repeating: 0, count: 16 - front.count - back.count) + back
    }

    private static func doubleColon(_ text: Substring) -> Range<Substring.Index>? {
        var index = text.startIndex
        while index < text.endIndex {
            let next = text.index(after: index)
            if text[index] == ":", next < text.endIndex, text[next] == ":" { return index..<text.index(after: next) }
            index = next
        }
        return nil
    }

    private static func groups(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        let parts = text.parts(between: ":")
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.has(".") {
                guard part.parts(between: ".").count == 4, let last = version4(part)
                else { return nil }
                bytes += last
                continue
            }
            guard (1...4).contains(part.utf8.count),
                part.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
                let group = UInt16(part, radix: 16)
            else { return nil }
            bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
        }
        return bytes.count <= 16 ? bytes : nil
    }
}
