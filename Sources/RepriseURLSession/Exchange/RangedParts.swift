package import RepriseCore
package import RepriseHTTP
import RepriseRanges

/// Cuts one request for a long or open range into requests for bounded ones, and makes their answers look like one.
///
/// A system that pushes bodies without backpressure can then never have more than one part under way. No I/O: it says
/// what to ask, what an answer means, and when it is all there.
///
///     first --head--> [ passes as it is ]                 no ranges, an error, one part is all of it, no strong validator
///           --head--> part --ended--> part ... --> done   each with If-Range, checked against the first
///
/// All parts must agree: another total, another validator or a 200 between parts means that the object was replaced,
/// and ends the exchange as interrupted; the engine's next request then meets the new object. Only a strong entity tag shows
/// that, or a date of change well before the answer's (RFC 9110 §8.8.1, §8.8.2.2): without one the first part is the whole
/// answer, and the engine asks for what comes behind it, with the bytes that it compares. Under `.strict` sameness it does not, and
/// what is longer than a part ends there.
package struct RangedParts: Sendable {
    /// What follows when a part's body has ended.
    package enum Next: Sendable, Hashable {
        /// Another part is to be asked for, with `fields`.
        case part
        /// All that was asked for has come.
        case end
        /// The body ended elsewhere than its head said.
        case failed(OriginFailure)
    }

    private struct Series: Sendable {
        /// Of the first answer.
        var validator: Validator
        var total: Int64
        /// Past the last byte of all parts.
        var end: Int64
        var isFollowing = false
    }

    private let given: HTTPFields
    private let size: Int64
    private let asked: ByteRange?
    private var series: Series?
    private var position: Int64
    /// Bytes of this part that have not come yet.
    private var missing: Int64 = 0

    /// - Parameters:
    ///   - fields: The request's own fields.
    ///   - size: Most bytes of one part; `nil` to leave every request as it is.
    package init(fields: HTTPFields, size: Int64?) {
        given = fields
        self.size = max(1, size ?? .max)
        let specifiers = fields["Range"].flatMap(RangeSpecifier.parse) ?? []
        let range = specifiers.count == 1 ? specifiers[0].resolvedWithoutLength : nil
        asked = range.flatMap { [size = self.size] range in range.count > size ? range : nil }
        position = asked?.lowerBound ?? 0
    }

    /// Whether the answer is put together from parts; known once the first head has come.
    package var isSeries: Bool { series != nil }

    /// The fields of the request to send now.
    package var fields: HTTPFields {
        guard asked != nil else { return given }
        var fields = given
        fields["Range"] = RangeSpecifier.field(for: partRange)
        if let condition = series?.validator.ifRange { fields["If-Range"] = condition }
        return fields
    }

    private var partRange: ByteRange {
        let end = ByteRange(offset: position, count: size).upperBound
        return ByteRange(position, min(end, series?.end ?? asked?.upperBound ?? .max))
    }

    /// Takes the head of an answer.
    /// - Returns: The head to hand on, for the first; `nil` for one of a part that follows.
    package mutating func received(_ head: OriginResponseHead) throws(OriginFailure) -> OriginResponseHead? {
        guard let asked else { return head }
        if series?.isFollowing == true {
            try follow(head)
            return nil
        }
        guard head.status == 206, case .satisfied(let range, let total?)? = contentRange(head),
            range.lowerBound == position, range.upperBound <= partRange.upperBound,
            range.upperBound < min(asked.upperBound, total)
        else { return head }
        let validator = Validator(fields: head.fields)
        guard isStrong(validator, head) else { return head }
        let end = min(asked.upperBound, total)
        series = Series(validator: validator, total: total, end: end)
        missing = range.count
        var whole = head
        whole.fields["Content-Range"] = ContentRange.satisfied(ByteRange(position, end), total: total).field
        if head.fields.contains("Content-Length") { whole.fields["Content-Length"] = "\(end - position)" }
        return whole
    }

    private func isStrong(_ validator: Validator, _ head: OriginResponseHead) -> Bool {
        validator.entityTag.map { !$0.isWeak } ?? PartialContentRule.hasStrongDate(head.fields)
    }

    private func contentRange(_ head: OriginResponseHead) -> ContentRange? {
        head.fields["Content-Range"].flatMap(ContentRange.parse)
    }

    private mutating func follow(_ head: OriginResponseHead) throws(OriginFailure) {
        guard let series else { return }
        guard head.status == 206 else {
            throw OriginFailure(.interrupted, "the origin answered \(head.status) in the middle of the body")
        }
        guard case .satisfied(let range, let total?)? = contentRange(head), range.lowerBound == position,
            range.upperBound <= partRange.upperBound
        else {
            let words = head.fields["Content-Range"] ?? "nothing"
            throw OriginFailure(.malformed, "Content-Range is \(words) for \(partRange)")
        }
        guard total == series.total else {
            throw OriginFailure(.interrupted, "the object's length changed from \(series.total) to \(total)")
        }
        guard agrees(Validator(fields: head.fields), series.validator) else {
            throw OriginFailure(.interrupted, "the object was replaced while it was read")
        }
        missing = range.count
    }

    private func agrees(_ new: Validator, _ old: Validator) -> Bool {
        if let new = new.entityTag, let old = old.entityTag { return new == old }
        if let new = new.lastModified, let old = old.lastModified { return new == old }
        return true
    }

    /// Takes note of `count` bytes of a body; throws where they are more than was announced.
    package mutating func received(_ count: Int) throws(OriginFailure) {
        guard series != nil else { return }
        guard Int64(count) <= missing else {
            throw OriginFailure(.malformed, "more bytes came than the answer announced")
        }
        missing -= Int64(count)
        position += Int64(count)
    }

    /// Takes note of the end of a part's body.
    package mutating func ended() -> Next {
        guard let series else { return .end }
        guard missing == 0 else {
            return .failed(OriginFailure(.interrupted, "the body ended \(missing) bytes early"))
        }
        if position >= series.end { return .end }
        self.series?.isFollowing = true
        return .part
    }
}
