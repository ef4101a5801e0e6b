package import RepriseHTTP
package import RepriseRanges

/// A GET or HEAD for a resource with its range and its conditions: which of the bytes are meant, and under which head.
/// Every door that speaks HTTP answers by it. No I/O.
package struct ConditionalRequest: Sendable {
    /// A head, and which bytes go with it.
    package struct Answer: Sendable, Hashable {
        package var status: Int
        package var fields: HTTPFields
        /// Bytes of the resource to send; `nil` where there is no body.
        package var range: ByteRange?
        /// Whether the length is announced.
        package var isDelimited = true
    }

    package var method: String
    package var fields: HTTPFields

    package init(method: String, fields: HTTPFields) {
        self.method = method
        self.fields = fields
    }

    /// The single range asked for; `nil` where there is none, or none that is to be heeded. More than one range is
    /// answered with the whole.
    package var range: RangeSpecifier? {
        guard method == "GET", fields.values(of: "Range").count == 1,
            let parts = fields["Range"].flatMap(RangeSpecifier.parse), parts.count == 1
        else { return nil }
        return parts[0]
    }

    /// Where reading should begin before anything is known of the resource.
    package var presumedRange: ByteRange {
        guard let presumed = range?.resolvedWithoutLength, presumed.lowerBound < .max else { return .from(0) }
        return presumed
    }

    /// The answer once the resource is known: 200, 206, 304, 412 or 416.
    package func answer(_ info: ContentInfo) -> Answer {
        var head = commonFields(info)
        if let refused = failedPrecondition(info) {
            if refused == 304 { head.remove(["Content-Type"]) }
            return Answer(status: refused, fields: head)
        }
        head["Accept-Ranges"] = info.length != nil || info.servesRanges ? "bytes" : "none"
        guard let wanted = range, ifRangeHolds(info) else { return whole(info, head) }
        guard let length = info.length else {
            // A range of an unknown length can be served where its end is given; the total is never guessed.
            guard case .closed(let first, let last) = wanted, info.servesRanges, last < .max else {
                return whole(info, head)
            }
            return part(ByteRange(first, last + 1), total: nil, head)
        }
        guard let range = wanted.resolved(length: length) else {
            return Answer(status: 416, fields: ["Content-Range": ContentRange.unsatisfied(total: length).field])
        }
        return part(range, total: length, head)
    }

    private func part(_ range: ByteRange, total: Int64?, _ head: HTTPFields) -> Answer {
        var head = head
        head["Content-Range"] = ContentRange.satisfied(range, total: total).field
        head["Content-Length"] = "\(range.count)"
        return Answer(status: 206, fields: head, range: range)
    }

    private func whole(_ info: ContentInfo, _ head: HTTPFields) -> Answer {
        var head = head
        if let length = info.length { head["Content-Length"] = "\(length)" }
        return Answer(
            status: 200, fields: head, range: method == "HEAD" ? nil : ByteRange(0, info.length ?? .max),
            isDelimited: info.length != nil)
    }

    private func commonFields(_ info: ContentInfo) -> HTTPFields {
        var head = RelayedAnswer.fields(info.fields, age: nil)
        // A stored answer must not carry what belonged to the moment it was stored.
        head.remove(["Date", "Age", "Accept-Ranges", "ETag", "Connection"])
        head = RelayedAnswer.fields(head, age: info.age)
        head["ETag"] = info.entityTag
        head["Last-Modified"] = info.lastModified
        if head["Content-Type"] == nil { head["Content-Type"] = "application/octet-stream" }
        return head
    }

    // RFC 9110 §13.2.2: the order of conditions.
    private func failedPrecondition(_ info: ContentInfo) -> Int? {
        let tag = EntityTag(info.entityTag)
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
        if let date = fields["If-Modified-Since"].flatMap(HTTPDate.parse),
            let modified = info.lastModified.flatMap(HTTPDate.parse), modified <= date
        {
            return 304
        }
        return nil
    }

    private func ifRangeHolds(_ info: ContentInfo) -> Bool {
        guard let condition = fields["If-Range"] else { return true }
        if let tag = EntityTag(condition), condition.contains("\"") {
            return EntityTag(info.entityTag).map { $0.matchesStrongly(tag) } ?? false
        }
        return condition == info.lastModified
    }
}
