/// An entity tag (RFC 9110 §8.8.3).
public struct EntityTag: Hashable, Sendable {
    /// The opaque part with its quotes.
    public let opaque: String
    /// Whether it was marked `W/`.
    public let isWeak: Bool

    /// Makes a tag from its opaque part, quotes included.
    public init(opaque: String, isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Reads one tag; `nil` for anything else. An origin's tag without quotes, which is common, is quoted.
    public init?(_ field: String) {
        // Scalars, not characters: a quote with an accent behind it is one character and still a quote on the wire.
        var text = field.trimmingOptionalWhitespace.unicodeScalars
        var isWeak = false
        if text.starts(with: "W/".unicodeScalars) || text.starts(with: "w/".unicodeScalars) {
            isWeak = true
            text = text.dropFirst(2)
        }
        guard !text.isEmpty, !text.elementsEqual("*".unicodeScalars),
            !text.contains(where: { $0.value < 0x21 || $0.value == 0x7F })
        else { return nil }
        let quoted = text.count >= 2 && text.first == "\"" && text.last == "\""
        let inner = quoted ? text.dropFirst().dropLast() : text
        guard !inner.contains("\""), quoted || !inner.contains(",") else { return nil }
        self.init(opaque: "\"" + String(inner) + "\"", isWeak: isWeak)
    }

    /// The same mark and the same bytes; text that only looks alike is another tag.
    public static func == (left: EntityTag, right: EntityTag) -> Bool {
        left.isWeak == right.isWeak && left.matchesWeakly(right)
    }

    /// Hashes mark and bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(isWeak)
        hasher.combine(opaque.octets)
    }

    /// The field's value.
    public var field: String { (isWeak ? "W/" : "") + opaque }

    /// Strong comparison: both strong and equal.
    public func matchesStrongly(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && matchesWeakly(other) }

    /// Weak comparison: equal whatever their marks.
    public func matchesWeakly(_ other: EntityTag) -> Bool { opaque.octets == other.opaque.octets }
}

/// What `If-Match` and `If-None-Match` ask for.
public enum EntityTagCondition: Hashable, Sendable {
    /// `*`
    case any
    /// A list; entries that could not be read are left out.
    case list([EntityTag])

    /// Reads the field; never fails, as a condition that cannot be read matches nothing.
    public init(_ field: String) {
        let text = field.trimmingOptionalWhitespace
        if text == "*" {
            self = .any
            return
        }
        // A tag may hold a comma between its quotes, so the list is cut at commas outside them.
        var tags: [EntityTag] = []
        var part = String.UnicodeScalarView()
        var inQuotes = false
        for scalar in text.unicodeScalars {
            if scalar == "\"" { inQuotes.toggle() }
            if scalar == ",", !inQuotes {
                EntityTag(String(part)).map { tags.append($0) }
                part.removeAll()
            } else {
                part.append(scalar)
            }
        }
        EntityTag(String(part)).map { tags.append($0) }
        self = .list(tags)
    }

    /// Whether `tag` is meant, by strong or weak comparison. `*` means any representation that exists.
    public func matches(_ tag: EntityTag?, strongly: Bool) -> Bool {
        switch self {
        case .any: true
        case .list(let tags):
            tag.map { tag in tags.contains { strongly ? tag.matchesStrongly($0) : tag.matchesWeakly($0) } } ?? false
        }
    }
}

/// What an origin says to tell one representation of a resource from another.
public struct Validator: Hashable, Sendable {
    /// The entity tag, if the origin sent one.
    public var entityTag: EntityTag?
    /// `Last-Modified`, as the origin wrote it.
    public var lastModified: String?

    /// Makes a validator.
    public init(entityTag: EntityTag? = nil, lastModified: String? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// The validator of an answer.
    public init(fields: HTTPFields) {
        entityTag = fields["ETag"].flatMap { EntityTag($0) }
        lastModified = fields["Last-Modified"].flatMap { HTTPDate.parse($0) != nil ? $0 : nil }
    }

    /// What to send as `If-Range`: a strong entity tag, else the date (RFC 9110 §13.1.5), else nothing.
    public var ifRange: String? {
        if let entityTag { return entityTag.isWeak ? nil : entityTag.field }
        return lastModified
    }

    /// What of a validator may differ.
    package enum Part: Hashable, Sendable { case entityTag, lastModified }

    /// What shows that an answer of the same host with that validator is of another version: the tags where there is one, else
    /// the dates; `nil` where nothing does.
    package func difference(from other: Validator, byTags: Bool) -> Part? {
        guard byTags, entityTag != nil || other.entityTag != nil else {
            return hasDate(of: other) ? nil : .lastModified
        }
        guard let entityTag, let tag = other.entityTag, entityTag.matchesWeakly(tag) else { return .entityTag }
        return nil
    }

    /// Whether both tell the same date, or neither tells one.
    package func hasDate(of other: Validator) -> Bool { lastModified?.octets == other.lastModified?.octets }

    /// Whether neither part is known.
    public var isEmpty: Bool { entityTag == nil && lastModified == nil }
}
