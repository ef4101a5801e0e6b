/// Header or trailer fields in the order they came; names compare in any case (RFC 9110 §5.1).
public struct HTTPFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// One field line.
    public struct Field: Sendable, Hashable {
        /// The name as it was written.
        public var name: String
        /// The value without surrounding white space.
        public var value: String

        /// Two lines are equal where their bytes are: what Unicode calls equal may be two credentials.
        public static func == (left: Field, right: Field) -> Bool {
            left.name.octets == right.name.octets && left.value.octets == right.value.octets
        }

        /// Hashes the bytes.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name.octets)
            hasher.combine(value.octets)
        }

        /// Makes a field line; the value is trimmed.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value.hasOptionalWhitespaceAtEnds ? String(value.trimmingOptionalWhitespace) : value
        }
    }

    /// The lines in order.
    public private(set) var lines: [Field]

    /// Whether there are none.
    public var isEmpty: Bool { lines.isEmpty }

    /// No fields.
    public init() { lines = [] }

    /// Fields from pairs, in order.
    public init(_ pairs: some Sequence<(String, String)>) { lines = pairs.map { Field($0.0, $0.1) } }

    /// Fields from a literal, in order.
    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements) }

    /// All values of `name` in order, joined by ", " (RFC 9110 §5.3), or `nil` where there is none.
    /// Setting replaces every line of that name; setting `nil` removes them.
    public subscript(name: String) -> String? {
        get {
            var joined: String?
            for line in lines where line.name.equalsIgnoringCase(name) {
                joined = joined.map { $0 + ", " + line.value } ?? line.value
            }
            return joined
        }
        set {
            let first = lines.firstIndex { $0.name.equalsIgnoringCase(name) }
            lines.removeAll { $0.name.equalsIgnoringCase(name) }
            if let newValue {
                lines.insert(Field(name, newValue), at: min(first ?? lines.count, lines.count))
            }
        }
    }

    /// The values of each line of `name`, in order.
    public func values(of name: String) -> [String] {
        lines.filter { $0.name.equalsIgnoringCase(name) }.map(\.value)
    }

    /// Whether a line of that name exists.
    public func contains(_ name: String) -> Bool { lines.contains { $0.name.equalsIgnoringCase(name) } }

    /// Whether both have the same value of a field, or neither has it.
    package func hasSame(_ name: String, as other: HTTPFields) -> Bool { self[name]?.octets == other[name]?.octets }

    /// Adds a line and keeps those of the same name.
    public mutating func add(_ name: String, _ value: String) { lines.append(Field(name, value)) }

    /// Puts another value in the line at `index`.
    package mutating func setValue(_ value: String, at index: Int) { lines[index] = Field(lines[index].name, value) }

    /// Removes every line whose name is in `names`.
    public mutating func remove(_ names: [String]) {
        lines.removeAll { line in names.contains { line.name.equalsIgnoringCase($0) } }
    }

    /// These lines, behind those of `standard` whose names they do not have. A field may have several lines: they are one list
    /// (RFC 9110 §5.3).
    package func replacing(in standard: HTTPFields) -> HTTPFields {
        var all = standard
        all.remove(lines.map(\.name))
        for line in lines { all.add(line.name, line.value) }
        return all
    }

    /// The lines whose name is in `names`.
    package func keeping(_ names: [String]) -> HTTPFields {
        var kept = HTTPFields()
        kept.lines = lines.filter { line in names.contains { line.name.equalsIgnoringCase($0) } }
        return kept
    }

    /// The members of the list-valued field `name`, of all its lines.
    package func members(of name: String) -> [Substring] { values(of: name).flatMap(\.listMembers) }

    /// Whether the list-valued field `name` has the token `token`, in any case.
    public func has(token: String, in name: String) -> Bool {
        members(of: name).contains { $0.equalsIgnoringCase(token) }
    }

    /// `Content-Encoding`; `nil` where the bytes are the resource's own.
    package var contentCoding: String? {
        self["Content-Encoding"].flatMap { $0.isEmpty || $0.equalsIgnoringCase("identity") ? nil : $0 }
    }

    /// Fields a proxy must not pass on: those of one connection (RFC 9110 §7.6.1), those `Connection` names, and what announces
    /// trailers, where those do not go on.
    public mutating func removeHopByHop() { removeConnectionFields(besides: ["Trailer"]) }

    /// The same where trailers go on.
    /// - Parameter others: Names of fields that go with them.
    package mutating func removeConnectionFields(besides others: [String] = []) {
        let named = members(of: "Connection").map { String($0) }
        remove(
            [
                "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authentication-Info",
                "Proxy-Authorization", "TE", "Transfer-Encoding", "Upgrade",
            ] + others + named)
    }
}

// Names are compared dozens of times a request: the common types have functions of their own, as those that are generic
// are not specialised for callers in other modules.
extension String {
    /// Equality of ASCII letters in any case, byte for byte otherwise.
    package func equalsIgnoringCase(_ other: String) -> Bool { areEqualIgnoringCase(utf8, other.utf8) }

    /// Equality of ASCII letters in any case, byte for byte otherwise.
    package func equalsIgnoringCase(_ other: Substring) -> Bool { areEqualIgnoringCase(utf8, other.utf8) }

    fileprivate var hasOptionalWhitespaceAtEnds: Bool {
        guard let first = utf8.first, let last = utf8.last else { return false }
        return first == 0x20 || first == 0x09 || last == 0x20 || last == 0x09
    }
}

extension Substring {
    /// Equality of ASCII letters in any case, byte for byte otherwise.
    package func equalsIgnoringCase(_ other: String) -> Bool { areEqualIgnoringCase(utf8, other.utf8) }
}

@inline(__always)
private func areEqualIgnoringCase(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    // By hand: a zip of two generic views is not unrolled, and this is most of what reading a head costs.
    var i = left.startIndex, j = right.startIndex
    while i != left.endIndex {
        let a = left[i], b = right[j]
        if a != b, a.asciiLowercased != b.asciiLowercased { return false }
        left.formIndex(after: &i)
        right.formIndex(after: &j)
    }
    return true
}

extension StringProtocol {
    /// Equality of ASCII letters in any case, byte for byte otherwise.
    package func equalsIgnoringCase(_ other: some StringProtocol) -> Bool { areEqualIgnoringCase(utf8, other.utf8) }

    /// The text without spaces and tabs at its ends (RFC 9110 §5.6.3).
    @inlinable package var trimmingOptionalWhitespace: SubSequence {
        // Scalars, not characters: a space with an accent behind it is one character.
        let scalars = unicodeScalars
        var start = scalars.startIndex
        var end = scalars.endIndex
        while start < end, scalars[start] == " " || scalars[start] == "\t" { start = scalars.index(after: start) }
        while start < end {
            let before = scalars.index(before: end)
            guard scalars[before] == " " || scalars[before] == "\t" else { break }
            end = before
        }
        return self[start..<end]
    }

    /// A non-negative decimal number of digits only, `nil` for anything else or past 64 bits.
    package var decimal: Int64? {
        guard !isEmpty, utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int64(self)
    }
}

extension UInt8 {
    fileprivate var asciiLowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}
