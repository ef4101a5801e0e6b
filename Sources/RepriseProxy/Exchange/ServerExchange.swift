package import RepriseCore
package import RepriseHTTP
package import RepriseRanges

/// Decides how a request for media is answered, from its fields and what is known of the resource. No I/O.
package struct ServerExchange: Sendable {
    /// A head to send, and which bytes go with it.
    package struct Answer: Sendable, Hashable {
        package var status: Int
        package var fields: HTTPFields
        /// Bytes of the resource to send; `nil` where there is no body or it is `text`.
        package var range: ByteRange?
        /// A plain text to send instead.
        package var text: String?
        /// Whether the length is announced; otherwise the body is chunked, or ends with the connection.
        package var isDelimited = true
    }

    package var method: String
    package var fields: HTTPFields

    package init(method: String, fields: HTTPFields) {
        self.method = method
        self.fields = fields
    }

    /// The methods media can be asked by.
    package static let methods = "GET, HEAD, OPTIONS"

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

    /// The answer once the resource is known.
    package func answer(_ info: ContentInfo, now: Int64) -> Answer {
        var head = commonFields(info)
        head["Date"] = HTTPDate.format(now)
        if let refused = failedPrecondition(info) {
            if refused == 304 { head.remove(["Content-Type"]) }
            return Answer(status: refused, fields: head, text: refused == 412 ? "the resource is another one now" : nil)
        }
        head["Accept-Ranges"] = info.length != nil || info.servesRanges ? "bytes" : "none"
        guard let wanted = range, ifRangeHolds(info) else { return whole(info, head) }
        guard let length = info.length else {
            // A range of an unknown length can be served where its end is given; the total is never guessed.
            guard case .closed(let first, let last) = wanted, info.servesRanges, last < .max else {
                return whole(info, head)
            }
            let range = ByteRange(first, last + 1)
            head["Content-Range"] = ContentRange.satisfied(range, total: nil).field
            head["Content-Length"] = "\(range.count)"
            return Answer(status: 206, fields: head, range: method == "HEAD" ? nil : range)
        }
        guard let range = wanted.resolved(length: length) else {
            return Answer(
                status: 416,
                fields: ["Content-Range": ContentRange.unsatisfied(total: length).field, "Date": head["Date"] ?? ""],
                text: "the resource has \(length) bytes")
        }
        head["Content-Range"] = ContentRange.satisfied(range, total: length).field
        head["Content-Length"] = "\(range.count)"
        return Answer(status: 206, fields: head, range: method == "HEAD" ? nil : range)
    }

    private func whole(_ info: ContentInfo, _ head: HTTPFields) -> Answer {
        var head = head
        if let length = info.length { head["Content-Length"] = "\(length)" }
        return Answer(
            status: 200, fields: head, range: method == "HEAD" ? nil : ByteRange(0, info.length ?? .max),
            isDelimited: info.length != nil)
    }

    private func commonFields(_ info: ContentInfo) -> HTTPFields {
        var head = info.fields
        // A stored answer must not carry what belonged to the moment it was stored.
        head.remove(["Date", "Age", "Accept-Ranges", "ETag", "Connection"])
        head["ETag"] = info.entityTag
        head["Last-Modified"] = info.lastModified
        if head["Content-Type"] == nil { head["Content-Type"] = "application/octet-stream" }
        if head["Access-Control-Allow-Origin"] == nil {
            head["Access-Control-Allow-Origin"] = "*"
            head["Access-Control-Expose-Headers"] = "Content-Length, Content-Range, Accept-Ranges, ETag"
        }
        head["X-Content-Type-Options"] = "nosniff"
        // A page passed on from a foreign origin must not run as one of ours.
        if MediaType(head["Content-Type"])?.isMarkup == true { head["Content-Security-Policy"] = "sandbox" }
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

    /// The answer to a request that cannot be served.
    package func answer(_ error: CacheError, now: Int64) -> Answer {
        var head: HTTPFields = ["Date": HTTPDate.format(now), "Access-Control-Allow-Origin": "*"]
        if let seconds = error.retryAfter { head["Retry-After"] = "\(seconds)" }
        switch error.code {
        case .originRefused(let status):
            return Answer(status: (400..<600).contains(status) ? status : 502, fields: head, text: error.message)
        case .rangeNotSatisfiable(length: 0) where range == nil:
            // Reading from 0 is a range to the origin; an empty resource has none, and is all the same there.
            head["Accept-Ranges"] = "bytes"
            return Answer(status: 200, fields: head)
        case .rangeNotSatisfiable(let length):
            if let length { head["Content-Range"] = ContentRange.unsatisfied(total: length).field }
            return Answer(status: 416, fields: head, text: error.message)
        case .originTimedOut: return Answer(status: 504, fields: head, text: error.message)
        case .originUnreachable, .originInvalid, .changed: return Answer(status: 502, fields: head, text: error.message)
        case .store, .closed, .unsupported: return Answer(status: 503, fields: head, text: error.message)
        case .badURL: return Answer(status: 400, fields: head, text: error.message)
        }
    }

    /// The answer to `OPTIONS`, CORS preflight included.
    package static func options(now: Int64) -> Answer {
        Answer(
            status: 204,
            fields: [
                "Date": HTTPDate.format(now), "Allow": methods, "Access-Control-Allow-Origin": "*",
                "Access-Control-Allow-Methods": methods,
                "Access-Control-Allow-Headers": "Range, If-Range, If-Match, If-None-Match, If-Modified-Since",
                "Access-Control-Max-Age": "86400",
            ])
    }

    /// An answer of a status and a line of text.
    package static func plain(_ status: Int, _ text: String, now: Int64) -> Answer {
        Answer(status: status, fields: ["Date": HTTPDate.format(now)], text: text)
    }

    /// The client's fields that go on to the origin. `Referer` does not: it would carry the token.
    package static func forwarded(_ fields: HTTPFields) -> HTTPFields {
        var kept = HTTPFields()
        for name in ["Authorization", "Cookie", "User-Agent", "Accept-Language"] where fields.contains(name) {
            kept[name] = fields[name]
        }
        return kept
    }
}
