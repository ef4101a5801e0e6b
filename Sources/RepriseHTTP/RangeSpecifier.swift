public import RepriseRanges

/// One part of a `Range` field in bytes (RFC 9110 §14.1.2).
public enum RangeSpecifier: Hashable, Sendable {
    /// `a-b`, both offsets included, as on the wire.
    case closed(first: Int64, last: Int64)
    /// `a-`
    case from(Int64)
    /// `-n`: the last `n` bytes.
    case suffix(Int64)

    /// The parts of a `Range` field, or `nil` where the field is to be ignored: another unit, bad syntax,
    /// or a last offset below the first. Numbers past 64 bits are taken as the largest one.
    public static func parse(_ field: String) -> [RangeSpecifier]? {
        if let range = plain(field) { return [range] }
        // Bytes, not characters: every byte that means something here is one by itself.
        let bytes = field.utf8
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        guard field[..<equals].trimmingOptionalWhitespace.equalsIgnoringCase("bytes") else { return nil }
        var parts: [RangeSpecifier] = []
        var rest = bytes[bytes.index(after: equals)...]
        while true {
            let item = rest.prefix { $0 != UInt8(ascii: ",") }
            let text = trimmed(item)
            // Empty list elements are allowed, RFC 9110 §5.6.1.
            if !text.isEmpty {
                guard let part = parsePart(text) else { return nil }
                parts.append(part)
            }
            guard item.endIndex < rest.endIndex else { break }
            rest = rest[rest.index(after: item.endIndex)...]
        }
        return parts.isEmpty ? nil : parts
    }

    /// What nearly every player writes, `bytes=a-b` or `bytes=a-` without more, in one pass; `nil` for all else, good or
    /// bad.
    private static func plain(_ field: String) -> RangeSpecifier? {
        var bytes = field.utf8.makeIterator()
        for expected in "bytes=".utf8 where bytes.next() != expected { return nil }
        var numbers: (Int64, Int64) = (0, 0)
        var digits = (0, 0)
        var isBehindDash = false
        while let byte = bytes.next() {
            if byte == UInt8(ascii: "-"), !isBehindDash {
                isBehindDash = true
                continue
            }
            // As many as fit 64 bits for certain.
            guard byte >= 0x30, byte <= 0x39, digits.0 < 18, digits.1 < 18 else { return nil }
            let digit = Int64(byte - 0x30)
            if isBehindDash {
                numbers.1 = numbers.1.multiplied(by: 10).adding(digit)
                digits.1 += 1
            } else {
                numbers.0 = numbers.0.multiplied(by: 10).adding(digit)
                digits.0 += 1
            }
        }
        guard isBehindDash, digits.0 > 0 else { return nil }
        if digits.1 == 0 { return .from(numbers.0) }
        return numbers.1 >= numbers.0 ? .closed(first: numbers.0, last: numbers.1) : nil
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text = text.dropLast() }
        return text
    }

    private static func parsePart(_ text: Substring.UTF8View) -> RangeSpecifier? {
        guard let dash = text.firstIndex(of: UInt8(ascii: "-")) else { return nil }
        let first = text[..<dash]
        let last = text[text.index(after: dash)...]
        if first.isEmpty { return saturatingDecimal(last).map(RangeSpecifier.suffix) }
        guard let start = saturatingDecimal(first) else { return nil }
        if last.isEmpty { return .from(start) }
        guard let end = saturatingDecimal(last), end >= start else { return nil }
        return .closed(first: start, last: end)
    }

    private static func saturatingDecimal(_ text: Substring.UTF8View) -> Int64? {
        guard !text.isEmpty else { return nil }
        var number: Int64 = 0
        for byte in text {
            guard byte >= 0x30 && byte <= 0x39 else { return nil }
            number = number.multiplied(by: 10).adding(Int64(byte - 0x30))
        }
        return number
    }

    /// The bytes meant in a representation of `length` bytes; `nil` where it cannot be satisfied.
    /// Ends past the length are clipped (RFC 9110 §14.1.2); an empty representation satisfies nothing.
    package func resolved(length: Int64) -> ByteRange? {
        switch self {
        case .closed(let first, let last):
            return first < length ? ByteRange(first, min(last.adding(1), length)) : nil
        case .from(let first):
            return first < length ? ByteRange(first, length) : nil
        case .suffix(let count):
            return count > 0 && length > 0 ? ByteRange(max(0, length - count), length) : nil
        }
    }

    /// The bytes meant where the length is not known yet; `nil` for a suffix, which needs it.
    package var resolvedWithoutLength: ByteRange? {
        switch self {
        case .closed(let first, let last): ByteRange(first, last.adding(1))
        case .from(let first): .from(first)
        case .suffix: nil
        }
    }

    /// The `Range` field's value for a half-open range; one without an end for a range that runs to `Int64.max`.
    package static func field(for range: ByteRange) -> String {
        range.upperBound == .max ? "bytes=\(range.lowerBound)-" : "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
    }
}

/// A `Content-Range` field in bytes (RFC 9110 §14.4).
public enum ContentRange: Hashable, Sendable {
    /// `bytes a-b/total`; the total is `nil` for `*`. The range is half-open.
    case satisfied(ByteRange, total: Int64?)
    /// `bytes */total`
    case unsatisfied(total: Int64)

    /// Reads the field, or `nil` for anything that is not exactly of its form, or contradicts itself.
    public static func parse(_ field: String) -> ContentRange? {
        let text = field.trimmingOptionalWhitespace
        guard let (unit, rest) = text.cut(at: " "), unit.equalsIgnoringCase("bytes"),
            let (range, size) = rest.trimmingOptionalWhitespace.cut(at: "/")
        else { return nil }
        if range == "*" { return size.decimal.map(ContentRange.unsatisfied(total:)) }
        guard let bounds = range.cut(at: "-"), let first = bounds.head.decimal, let last = bounds.tail.decimal,
            last >= first, last < .max
        else { return nil }
        if size == "*" { return .satisfied(ByteRange(first, last.adding(1)), total: nil) }
        guard let total = size.decimal, total > last else { return nil }
        return .satisfied(ByteRange(first, last.adding(1)), total: total)
    }

    /// The field's value.
    public var field: String {
        switch self {
        case .satisfied(let range, let total):
            "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total.map(String.init) ?? "*")"
        case .unsatisfied(let total):
            "bytes */\(total)"
        }
    }
}
