package import RepriseHTTP
package import RepriseRanges

/// What may be done with a stored part of a representation (RFC 9111 §3.3, §3.4; RFC 9110 §14, §15.3.7). No I/O.
package enum PartialContentRule {
    /// Whether parts that came in different answers may be put together (RFC 9110 §15.3.7.3): only under one strong
    /// validator, the tag where both have one, and never where the lengths differ.
    package static func mayCombine(
        _ stored: HTTPFields, length: Int64?, with new: HTTPFields, length newLength: Int64?
    ) -> Bool {
        if let length, let newLength, length != newLength { return false }
        let (old, new) = (Held(stored), Held(new))
        if let tag = old.validator.entityTag, let other = new.validator.entityTag { return tag.matchesStrongly(other) }
        guard old.validator.entityTag == nil, new.validator.entityTag == nil else { return false }
        return old.hasStrongDate && new.hasStrongDate && old.validator.hasDate(of: new.validator)
    }

    /// Whether a stored part may be completed by a later request: its validator must be a strong one.
    package static func mayComplete(_ stored: HTTPFields) -> Bool { Held(stored).isStrong }

    /// Whether the date of change tells versions apart for certain.
    package static func hasStrongDate(_ stored: HTTPFields) -> Bool { Held(stored).hasStrongDate }

    /// The bytes a range means in a stored representation, if it holds all of them: then the origin is not asked.
    /// `nil` for the whole where the length is not known, for bytes past the end, and where any byte is missing.
    package static func servable(_ wanted: RangeSpecifier?, length: Int64?, stored: ByteRangeSet) -> ByteRange? {
        guard let range = meant(wanted, length), !range.isEmpty else { return nil }
        return stored.contains(range) ? range : nil
    }

    /// What is missing of the bytes a range means, in order; empty where nothing is, or where it is not known what is
    /// meant.
    package static func missing(_ wanted: RangeSpecifier?, length: Int64?, stored: ByteRangeSet) -> [ByteRange] {
        meant(wanted, length).map { Array(stored.gaps(in: $0)) } ?? []
    }

    /// Whether what is stored is a whole answer, which alone may be sent as 200 (RFC 9111 §3.3).
    package static func isComplete(length: Int64?, stored: ByteRangeSet) -> Bool {
        length.map { stored.contains(ByteRange(0, $0)) } ?? false
    }

    private static func meant(_ wanted: RangeSpecifier?, _ length: Int64?) -> ByteRange? {
        guard let length else { return wanted?.resolvedWithoutLength.flatMap { $0.upperBound < .max ? $0 : nil } }
        guard let wanted else { return ByteRange(0, length) }
        return wanted.resolved(length: length)
    }

    private struct Held {
        let validator: Validator
        let date: String?

        init(_ fields: HTTPFields) {
            validator = Validator(fields: fields)
            date = fields["Date"]
        }

        var isStrong: Bool { validator.entityTag.map { !$0.isWeak } ?? hasStrongDate }

        /// A date tells apart what changes within a second only once that second is long over (RFC 9110 §8.8.2.2); a
        /// minute allows for clocks that disagree.
        var hasStrongDate: Bool {
            guard let modified = validator.lastModified.flatMap(HTTPDate.parse),
                let date = date.flatMap(HTTPDate.parse)
            else { return false }
            return date - modified >= 60
        }
    }
}
