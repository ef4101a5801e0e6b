package import RepriseHTTP
package import RepriseRanges

/// A GET or HEAD for a resource with its range and its conditions: which of the bytes are meant, and under which head.
/// Every door that speaks HTTP answers by it. No I/O.
package struct ConditionalRequest: Sendable {
    /// A head, and which bytes go with it.
    package struct Answer: Sendable, Hashable {
        package var status: Int
        package var fields: HTTPFields
        /// Bytes of the resource to send; `nil` where there is no body, or one of parts.
        package var range: ByteRange?
        /// The body of several parts.
        package var parts: MultipartByteRanges?
        /// Whether the length is announced.
        package var isDelimited = true
    }

    /// Most parts one answer has; who asks for more gets the whole.
    package static let partLimit = 16

    package let method: String
    package let fields: HTTPFields
    /// Separates the parts of an answer; `nil` for a door that cannot send parts, and answers with the whole.
    package let boundary: String?
    /// Whether the origin's fields are told as they came, and nothing is added to them: a shared cache does so.
    package let isTransparent: Bool
    /// The ranges asked for; none where there are none, or none that are to be heeded (RFC 9110 §14.2).
    package let ranges: [RangeSpecifier]

    /// A request.
    /// - Parameters:
    ///   - boundary: A random text to separate the parts of an answer with.
    ///   - isTransparent: Whether the origin's fields are told as they came: its own entity tag or none, its own type or none.
    package init(method: String, fields: HTTPFields, boundary: String? = nil, isTransparent: Bool = false) {
        self.isTransparent = isTransparent
        self.method = method
        self.fields = fields
        self.boundary = boundary
        ranges = ConditionalRequest.ranges(method, fields, limit: boundary == nil ? 1 : ConditionalRequest.partLimit)
    }

    private static func ranges(_ method: String, _ fields: HTTPFields, limit: Int) -> [RangeSpecifier] {
        guard method == "GET" else { return [] }
        var value: String?
        for line in fields.lines where line.name.equalsIgnoringCase("Range") {
            // Two lines are none.
            guard value == nil else { return [] }
            value = line.value
        }
        guard let parts = value.flatMap(RangeSpecifier.parse) else { return [] }
        return parts.count <= limit ? parts : []
    }

    /// Where reading should begin before anything is known of the resource.
    package var presumedRange: ByteRange {
        if ranges.isEmpty { return .from(0) }
        // What may come from the store alone has to be there in whole where one range does not say what is meant.
        if RequestCacheControl(fields).onlyIfCached, ranges.count > 1 || fields["If-Range"] != nil { return .from(0) }
        if ranges.count == 1 {
            return ranges[0].resolvedWithoutLength.flatMap { $0.lowerBound < .max ? $0 : nil } ?? .from(0)
        }
        let known = ranges.compactMap(\.resolvedWithoutLength)
        // Parts that overlap whatever the length is are answered with the whole; a suffix needs the length first. The
        // foremost part, as an origin that cannot give it can give none of them.
        guard known.count == ranges.count, areApart(known),
            let presumed = known.min(by: { $0.lowerBound < $1.lowerBound }), presumed.lowerBound < .max
        else { return .from(0) }
        return presumed
    }

    /// The range such a request means whatever else is known of the resource but its length: one range and no condition.
    package func plainRange(length: Int64?) -> ByteRange? {
        guard ranges.count == 1, let length, let range = ranges[0].resolved(length: length) else { return nil }
        let conditions = ["If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"]
        let hasCondition = fields.lines.contains { line in
            conditions.contains { line.name.equalsIgnoringCase($0) }
        }
        return hasCondition ? nil : range
    }

    private func areApart(_ ranges: [ByteRange]) -> Bool {
        if ranges.count < 2 { return true }
        let sorted = ranges.sorted { $0.lowerBound < $1.lowerBound }
        return zip(sorted, sorted.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }
    }

    /// The answer once the resource is known: 200, 206, 304, 412 or 416; or what the origin answered instead of it.
    package func answer(_ info: ContentInfo) -> Answer {
        var head = commonFields(info)
        // Conditions are about what would be a success (RFC 9110 §13.2.1).
        guard (200...299).contains(info.status) else { return whole(info, head) }
        if let refused = failedPrecondition(info) {
            if refused == 304 {
                head.remove(["Content-Type"])
            } else {
                // What the origin says of the resource's freshness is none of the refusal's, which a cache between could store
                // for a request without the condition.
                head.remove(["Content-Type", "Content-Encoding", "CDN-Cache-Control", "Expires", "Age"])
                head["Cache-Control"] = "no-store"
            }
            return Answer(status: refused, fields: head)
        }
        guard info.isResource else { return whole(info, head) }
        head["Accept-Ranges"] = info.length != nil || info.servesRanges ? "bytes" : "none"
        let wanted = ranges
        guard !wanted.isEmpty, ifRangeHolds(info) else { return whole(info, head) }
        guard let length = info.length else {
            // A range of an unknown length can be served where its end is given; the total is never guessed.
            guard wanted.count == 1, case .closed(let first, let last) = wanted[0], info.servesRanges, last < .max
            else { return whole(info, head) }
            return part(ByteRange(first, last.adding(1)), total: nil, head)
        }
        let ranges = wanted.compactMap { $0.resolved(length: length) }
        switch ranges.count {
        case 0: return Answer(status: 416, fields: ["Content-Range": ContentRange.unsatisfied(total: length).field])
        case 1: return part(ranges[0], total: length, head)
        default: return parts(ranges, total: length, head) ?? whole(info, head)
        }
    }

    /// `nil` where the whole is cheaper, or parts overlap (RFC 9110 §14.2, §15.3.7.2).
    private func parts(_ ranges: [ByteRange], total: Int64, _ head: HTTPFields) -> Answer? {
        guard let boundary, areApart(ranges) else { return nil }
        let parts = MultipartByteRanges(
            ranges: ranges, total: total, partType: head["Content-Type"] ?? "application/octet-stream",
            boundary: boundary)
        let length = parts.length
        guard length < total else { return nil }
        var head = head
        head["Content-Type"] = parts.contentType
        head["Content-Length"] = "\(length)"
        return Answer(status: 206, fields: head, parts: parts)
    }

    private func part(_ range: ByteRange, total: Int64?, _ head: HTTPFields) -> Answer {
        var head = head
        head["Content-Range"] = ContentRange.satisfied(range, total: total).field
        head["Content-Length"] = "\(range.count)"
        return Answer(status: 206, fields: head, range: range)
    }

    private func whole(_ info: ContentInfo, _ head: HTTPFields) -> Answer {
        // It has no body, and no field may say how long that is (RFC 9110 §8.6).
        if info.status == 204 { return Answer(status: 204, fields: head) }
        var head = head
        // Behind a body of an announced length no field can come.
        let length = info.trailers.isEmpty ? info.length : nil
        if let length { head["Content-Length"] = "\(length)" }
        return Answer(
            status: info.status, fields: head, range: method == "HEAD" ? nil : ByteRange(0, info.length ?? .max),
            isDelimited: length != nil)
    }

    private func commonFields(_ info: ContentInfo) -> HTTPFields {
        var head = RelayedAnswer.fields(info.fields, age: nil)
        // A stored answer must not carry what belonged to the moment it was stored.
        head.remove(["Date", "Age", "Accept-Ranges", "ETag", "Connection"])
        head = RelayedAnswer.fields(head, age: info.age)
        if isAsItCame(info) {
            for name in ["Date", "ETag", "Accept-Ranges"] { head[name] = info.fields[name] }
            return head
        }
        head["ETag"] = info.entityTag
        head["Last-Modified"] = info.lastModified
        if head["Content-Type"] == nil { head["Content-Type"] = "application/octet-stream" }
        return head
    }

    // RFC 9110 §13.2.2: the order of conditions.
    private func failedPrecondition(_ info: ContentInfo) -> Int? {
        let tag = entityTag(of: info)
        if let condition = fields["If-Match"] {
            if !EntityTagCondition(condition).matches(tag, strongly: true) { return 412 }
        } else if let date = fields["If-Unmodified-Since"].flatMap(HTTPDate.parse),
            let modified = info.lastModified.flatMap(HTTPDate.parse), modified > date
        {
            return 412
        }
        if let condition = fields["If-None-Match"] {
            return EntityTagCondition(condition).matches(tag, strongly: false) ? 304 : nil
        }
        // Where the origin told no date of change, it was not changed after it was sent (RFC 9111 §4.3.2).
        if let date = fields["If-Modified-Since"].flatMap(HTTPDate.parse),
            let modified = (info.lastModified ?? (isAsItCame(info) ? info.fields["Date"] : nil))
                .flatMap(HTTPDate.parse),
            modified <= date
        {
            return 304
        }
        return nil
    }

    /// Whether the origin's fields are told as they came. What is never stored has no version of ours that a tag could name.
    package func isAsItCame(_ info: ContentInfo) -> Bool { isTransparent || info.isTransient }

    /// What conditions are compared with.
    private func entityTag(of info: ContentInfo) -> EntityTag? {
        isAsItCame(info) ? info.fields["ETag"].flatMap { EntityTag($0) } : EntityTag(info.entityTag)
    }

    private func ifRangeHolds(_ info: ContentInfo) -> Bool {
        guard let condition = fields["If-Range"] else { return true }
        if let tag = EntityTag(condition), condition.has("\"") {
            return entityTag(of: info).map { $0.matchesStrongly(tag) } ?? false
        }
        // Where every version has a tag of ours, a date says enough; else it has to be a strong one (RFC 9110 §13.1.5).
        return condition.octets == info.lastModified?.octets
            && (!isAsItCame(info) || PartialContentRule.hasStrongDate(info.fields))
    }
}
