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
        guard let equals = field.firstIndex(of: "=") else { return nil }
        guard field[..<equals].trimmingOptionalWhitespace.equalsIgnoringCase("bytes") else { return nil }
        var parts: [RangeSpecifier] = []
        for item in field[field.index(after: equals)...].split(separator: ",", omittingEmptySubsequences: false) {
            let text = item.trimmingOptionalWhitespace
            if text.isEmpty { continue }  // empty list elements are allowed, RFC 9110 §5.6.1
            guard let part = parsePart(text) else { return nil }
            parts.append(part)
        }
        return parts.isEmpty ? nil : parts
    }

    private static func parsePart(_ text: Substring) -> RangeSpecifier? {
        guard let dash = text.firstIndex(of: "-") else { return nil }
        let first = text[..<dash]
        let last = text[text.index(after: dash)...]
        if first.isEmpty { return saturatingDecimal(last).map(RangeSpecifier.suffix) }
        guard let start = saturatingDecimal(first) else { return nil }
        if last.isEmpty { return .from(start) }
        guard let end = saturatingDecimal(last), end >= start else { return nil }
        return .closed(first: start, last: end)
    }

    private static func saturatingDecimal(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int64(text) ?? .max
    }

    /// The bytes meant in a representation of `length` bytes; `nil` where it cannot be satisfied.
    /// Ends past the length are clipped (RFC 9110 §14.1.2); an empty representation satisfies nothing.
    package func resolved(length: Int64) -> ByteRange? {
        switch self {
        case .closed(let first, let last):
            return first < length ? ByteRange(first, min(last, length - 1) + 1) : nil
        case .from(let first):
            return first < length ? ByteRange(first, length) : nil
        case .suffix(let count):
            return count > 0 && length > 0 ? ByteRange(max(0, length - count), length) : nil
        }
    }

    /// The bytes meant where the length is not known yet; `nil` for a suffix, which needs it.
    package var resolvedWithoutLength: ByteRange? {
        switch self {
        case .closed(let first, let last): last < .max ? ByteRange(first, last + 1) : .from(first)
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
        guard let space = text.firstIndex(of: " ") else { return nil }
        guard text[..<space].equalsIgnoringCase("bytes") else { return nil }
        let rest = text[text.index(after: space)...].trimmingOptionalWhitespace
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        let range = rest[..<slash]
        let size = rest[rest.index(after: slash)...]
        if range == "*" { return size.decimal.map(ContentRange.unsatisfied(total:)) }
        guard let dash = range.firstIndex(of: "-"), let first = range[..<dash].decimal,
            let last = range[range.index(after: dash)...].decimal, last >= first, last < .max
        else { return nil }
        if size == "*" { return .satisfied(ByteRange(first, last + 1), total: nil) }
        guard let total = size.decimal, total > last else { return nil }
        return .satisfied(ByteRange(first, last + 1), total: total)
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
