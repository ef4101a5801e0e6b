/// The directives of a `Cache-Control` field in the order they came (RFC 9111 §5.2), not yet understood.
///
/// Total: names are put into lower case, quoted values lose their quotes and escapes, empty list elements are passed
/// over. A quote that is never closed hides nothing: what follows it is read as if it stood outside.
public struct CacheDirectives: Hashable, Sendable {
    /// One directive.
    public struct Directive: Hashable, Sendable {
        /// The name in lower case.
        public let name: String
        /// The argument without its quotes; `nil` where there is none.
        public let value: String?
    }

    /// The largest number of seconds that is told apart; more counts as this (RFC 9111 §1.2.2).
    public static let longest: Int64 = 2_147_483_648

    /// The directives in order.
    public let list: [Directive]

    /// Reads the field; several lines of it are to be joined by commas before.
    public init(_ field: String?) {
        list = CacheDirectives.parts(field ?? "").compactMap(CacheDirectives.directive)
    }

    /// The directives of a field that is a dictionary (RFC 9213 §2.1); `nil` where one that is known has a value of a type it
    /// cannot have: such a field is ignored.
    init?(_ dictionary: StructuredDictionary) {
        var list: [Directive] = []
        for (key, item) in dictionary.members {
            switch (CacheDirectives.kind(of: key), item) {
            case (.seconds, .integer(let number)) where number >= 0, (.other, .integer(let number)):
                list.append(Directive(name: key, value: "\(number)"))
            case (.plain, .boolean(let isSet)), (.fields, .boolean(let isSet)), (.other, .boolean(let isSet)):
                if isSet { list.append(Directive(name: key, value: nil)) }
            case (.fields, .text(let text)), (.other, .text(let text)): list.append(Directive(name: key, value: text))
            case (.other, .other): break
            default: return nil
            }
        }
        self.list = list
    }

    private enum Kind { case seconds, plain, fields, other }

    private static func kind(of name: String) -> Kind {
        switch name {
        case "max-age", "s-maxage", "stale-while-revalidate", "stale-if-error": .seconds
        case "no-store", "public", "must-revalidate", "proxy-revalidate", "must-understand", "no-transform",
            "immutable":
            .plain
        case "no-cache", "private": .fields
        default: .other
        }
    }

    /// Whether the directive is there, with or without an argument.
    public func contains(_ name: String) -> Bool { list.contains { $0.name.octets == name.octets } }

    /// The arguments of every directive of that name.
    public func values(of name: String) -> [String?] { list.filter { $0.name.octets == name.octets }.map(\.value) }

    /// The field names in the arguments of that name, in lower case: of `private="a, b"` these are a and b.
    public func fieldNames(of name: String) -> [String] {
        values(of: name).flatMap { ($0 ?? "").listMembers.map { $0.lowercased() } }
    }

    /// A directive that may list fields: whether it is there without a list, and the names that it lists otherwise. A list that
    /// names nothing is none.
    func qualified(_ name: String) -> (isWhole: Bool, fields: [String]) {
        let isWhole = values(of: name).contains { ($0 ?? "").listMembers.isEmpty }
        return (isWhole, fieldNames(of: name))
    }

    /// The number of seconds that every argument of that name agrees on. `nil` where the directive is missing,
    /// `unreadable` where an argument is no number or two of them differ (RFC 9111 §4.2.1).
    public func seconds(of name: String, unreadable: Int64) -> Int64? {
        let values = values(of: name)
        guard let first = values.first else { return nil }
        let numbers = values.map(CacheDirectives.seconds)
        guard let number = CacheDirectives.seconds(first), numbers.allSatisfy({ $0 == number }) else {
            return unreadable
        }
        return number
    }

    private static func seconds(_ value: String?) -> Int64? {
        guard let value, !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return min(Int64(value) ?? .max, longest)
    }

    // Scalars, not characters: a quote with an accent behind it is one character and still a quote on the wire.
    private static func parts(_ field: String) -> [Substring.UnicodeScalarView] {
        var parts: [Substring.UnicodeScalarView] = []
        var rest = field.unicodeScalars[...]
        // Behind a string that does not end every quote is an escaped one: none ends.
        var isOpen = false
        while true {
            var end = rest.startIndex
            while end < rest.endIndex, rest[end] != "," {
                if rest[end] == "\"", !isOpen, let closing = closing(rest[end...]) {
                    end = closing
                } else {
                    isOpen = isOpen || rest[end] == "\""
                    end = rest.index(after: end)
                }
            }
            parts.append(rest[..<end])
            guard end < rest.endIndex else { return parts }
            rest = rest[rest.index(after: end)...]
        }
    }

    /// The index behind the quote that ends the string `text` begins with; `nil` where it does not end.
    private static func closing(_ text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView.Index? {
        var index = text.index(after: text.startIndex)
        while index < text.endIndex {
            if text[index] == "\"" { return text.index(after: index) }
            if text[index] == "\\" { index = text.index(after: index) }
            if index < text.endIndex { index = text.index(after: index) }
        }
        return nil
    }

    private static func directive(_ part: Substring.UnicodeScalarView) -> Directive? {
        let text = Substring(part).trimmingOptionalWhitespace
        guard !text.isEmpty else { return nil }
        guard let (name, value) = text.cut(at: "=") else { return Directive(name: text.lowercased(), value: nil) }
        return Directive(name: name.trimmingOptionalWhitespace.lowercased(), value: unquoted(value))
    }

    private static func unquoted(_ value: Substring) -> String {
        let scalars = value.unicodeScalars
        guard scalars.count >= 2, scalars.first == "\"", scalars.last == "\"" else { return String(value) }
        var plain = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in scalars.dropFirst().dropLast() {
            if scalar == "\\", !isEscaped {
                isEscaped = true
            } else {
                plain.append(scalar)
                isEscaped = false
            }
        }
        return String(plain)
    }
}
