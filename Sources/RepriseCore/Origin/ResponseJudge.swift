package import RepriseHTTP
package import RepriseRanges

/// Decides what an answer means for what was asked and what is held. No I/O; every answer has a verdict.
package struct ResponseJudge: Sendable {
    /// What is held of the resource, as far as an answer must agree with it.
    package struct Held: Sendable, Hashable {
        package var validator: Validator
        package var length: Int64?
        /// Whether the same date of change means the same bytes, not only that nothing speaks against it (RFC 9110 §8.8.2.2).
        package var isDateStrong: Bool
        /// Whether it is the resource; otherwise another answer, such as 404, that nothing of the resource can be part of.
        package var isResource: Bool

        package init(validator: Validator, length: Int64?, isDateStrong: Bool = true, isResource: Bool = true) {
            self.validator = validator
            self.length = length
            self.isDateStrong = isDateStrong
            self.isResource = isResource
        }
    }

    package enum Verdict: Sendable, Hashable {
        /// 206 for bytes of the held (or, where nothing is held, a new) representation.
        case part(ByteRange, total: Int64?)
        /// 200: everything from 0, of the held (or a new) representation.
        case whole(length: Int64?)
        /// The origin has another representation now, as the difference shows.
        case changed(Mismatch, length: Int64?, servesRanges: Bool)
        /// 304: what is held is still good.
        case notModified
        /// 416: what was asked lies past the end.
        case pastEnd(length: Int64?)
        /// The origin refuses for good: to be passed on.
        case refused(status: Int)
        /// The origin cannot answer now.
        case busy(status: Int, retryAfter: Int64?)
        /// The answer contradicts itself or what was asked; nothing of it may be used.
        case invalid(Mismatch)
    }

    /// The range that was asked for; `nil` where no `Range` was sent.
    package var asked: ByteRange?
    /// What is held; `nil` before the first answer.
    package var held: Held?
    /// Whether a differing entity tag alone means another representation. False for a host known to disagree with itself.
    package var trustsEntityTags = true
    /// Whether another date of change means another representation. False for another host than the held one's.
    package var trustsDates = true
    /// Seconds since 1970, for `Retry-After` given as a date.
    package var now: Int64

    package init(
        asked: ByteRange?, held: Held?, trustsEntityTags: Bool = true, trustsDates: Bool = true, now: Int64
    ) {
        self.asked = asked
        self.held = held
        self.trustsEntityTags = trustsEntityTags
        self.trustsDates = trustsDates
        self.now = now
    }

    /// The verdict on an answer's head.
    package func verdict(_ head: OriginResponseHead) -> Verdict {
        switch head.status {
        case 206: return partial(head)
        case 200: return whole(head)
        case 304 where held != nil: return .notModified
        case 416: return pastEnd(head)
        case 408, 425, 429, 500, 502, 503, 504:
            return .busy(status: head.status, retryAfter: RetryAfter.seconds(head.fields["Retry-After"], now: now))
        case 300...399, 400...499, 501, 505...599: return .refused(status: head.status)
        default:
            let expected: Mismatch.Value = .status(asked == nil ? 200 : 206)
            return .invalid(Mismatch(expected: expected, got: .status(head.status), "status \(head.status)"))
        }
    }

    /// Whether validators show that an answer is what is held, not only that nothing speaks against it.
    /// - Parameter strongly: Whether the bytes have to be the same (RFC 9110 §8.8.1), for combining them.
    package func isConfirmed(by head: OriginResponseHead, strongly: Bool) -> Bool {
        guard let held, held.isResource || head.status == 304 else { return false }
        let new = Validator(fields: head.fields)
        if trustsEntityTags, let old = held.validator.entityTag, let tag = new.entityTag {
            return strongly ? old.matchesStrongly(tag) : old.matchesWeakly(tag)
        }
        guard trustsDates, held.isDateStrong || !strongly, held.validator.lastModified != nil else { return false }
        return held.validator.hasDate(of: new)
    }

    /// Whether an answer's validator is such as will show that another answer has the same bytes.
    package func identifies(_ validator: Validator) -> Bool {
        if trustsEntityTags, let tag = validator.entityTag { return !tag.isWeak }
        return trustsDates && validator.lastModified != nil
    }

    /// No resource is longer than 2^60 bytes: what says so is not used in any arithmetic.
    private func isPlausible(_ length: Int64?) -> Bool { length.map { $0 <= ResponseJudge.longestResource } ?? true }

    /// Bytes.
    package static let longestResource: Int64 = 1 << 60

    /// The length an answer tells of its body, in bytes; `nil` where a coding frames it, or nothing tells (RFC 9112 §6.3).
    package static func bodyLength(_ head: OriginResponseHead) -> Int64? {
        head.fields.contains("Transfer-Encoding") ? nil : head.fields["Content-Length"]?.decimal
    }

    private func encoding(_ head: OriginResponseHead) -> Verdict? {
        guard let coding = head.fields.contentCoding else { return nil }
        return .invalid(
            Mismatch(
                expected: .contentCoding("identity"), got: .contentCoding(coding),
                "the body is content-encoded though identity was asked for"))
    }

    private func partial(_ head: OriginResponseHead) -> Verdict {
        if let encoding = encoding(head) { return encoding }
        guard let asked else {
            return .invalid(
                Mismatch(expected: .status(200), got: .status(206), "206 though no range was asked for"))
        }
        guard case .satisfied(let range, let total)? = head.fields["Content-Range"].flatMap(ContentRange.parse) else {
            return .invalid(
                Mismatch(expected: .range(asked), got: .nothing, "206 without a usable Content-Range"))
        }
        // One that begins before or ends after what was asked for is honest as long as its first wanted byte is in it.
        guard range.contains(asked.lowerBound), isPlausible(range.upperBound), isPlausible(total) else {
            return .invalid(
                Mismatch(expected: .range(asked), got: .range(range), "Content-Range \(range) for \(asked)"))
        }
        if let length = head.fields["Content-Length"]?.decimal, length != range.count {
            return .invalid(
                Mismatch(
                    expected: .length(range.count), got: .length(length),
                    "Content-Length \(length) for a range of \(range.count) bytes"))
        }
        // A range that ends early without being the end of the object is legal but must say so by its total.
        if let difference = difference(head, total: total) {
            return .changed(difference, length: total, servesRanges: true)
        }
        return .part(range, total: total)
    }

    private func whole(_ head: OriginResponseHead) -> Verdict {
        if let encoding = encoding(head) { return encoding }
        let length = ResponseJudge.bodyLength(head)
        guard isPlausible(length) else {
            return .invalid(
                Mismatch(
                    expected: .nothing, got: .length(length ?? 0), "the origin claims a length of \(length ?? 0) bytes")
            )
        }
        if let difference = difference(head, total: length) {
            return .changed(difference, length: length, servesRanges: acceptsRanges(head))
        }
        return .whole(length: length)
    }

    private func pastEnd(_ head: OriginResponseHead) -> Verdict {
        guard case .unsatisfied(let total)? = head.fields["Content-Range"].flatMap(ContentRange.parse) else {
            return .pastEnd(length: nil)
        }
        guard isPlausible(total) else { return .pastEnd(length: nil) }
        if let length = held?.length, length != total {
            return .changed(.length(length, total), length: total, servesRanges: true)
        }
        return .pastEnd(length: total)
    }

    private func acceptsRanges(_ head: OriginResponseHead) -> Bool {
        head.fields["Accept-Ranges"]?.equalsIgnoringCase("bytes") ?? false
    }

    /// How an answer differs from what is held; `nil` where nothing says that it is another representation.
    private func difference(_ head: OriginResponseHead, total: Int64?) -> Mismatch? {
        guard let held else { return nil }
        if !held.isResource { return Mismatch(expected: .nothing, got: .status(head.status), "there was no resource") }
        if let total, let length = held.length, total != length { return .length(length, total) }
        let new = Validator(fields: head.fields)
        if trustsEntityTags, let old = held.validator.entityTag, let tag = new.entityTag {
            if old == tag { return nil }
            return Mismatch(
                expected: .entityTag(old.field), got: .entityTag(tag.field),
                "the entity tag was \(old.field) and is \(tag.field)")
        }
        if trustsDates, let old = held.validator.lastModified, let date = new.lastModified,
            !held.validator.hasDate(of: new)
        {
            return Mismatch(
                expected: .lastModified(old), got: .lastModified(date), "it was changed at \(old) and now at \(date)")
        }
        return nil
    }
}

extension OriginResponseHead {
    /// The same, where a range of a coded body is all of it: it can be handed on as no part can.
    var codedWhole: OriginResponseHead {
        guard status == 206, fields.contentCoding != nil,
            case .satisfied(let range, let total?)? = fields["Content-Range"].flatMap(ContentRange.parse),
            range == ByteRange(0, total)
        else { return self }
        var whole = self
        whole.status = 200
        whole.fields.remove(["Content-Range"])
        return whole
    }
}
