package import RepriseHTTP

/// Whether a shared cache may store an answer and let other requests have it (RFC 9111 §3). No I/O.
package enum StoringRule {
    /// What forbids it.
    package enum Refusal: String, Hashable, Sendable {
        /// Only answers to GET are kept.
        case method
        /// The status says nothing of how long it is good, and nor does the answer; or `must-understand` has us know it, and we
        /// do not.
        case status
        /// A 206 that does not say in one byte range what it holds.
        case range
        /// The answer says `no-store`.
        case noStore
        /// The request says `no-store`.
        case requestNoStore
        /// The answer says `private`.
        case isPrivate
        /// The answer varies by `*`.
        case variesByAll
        /// The answer sets a cookie, and is not `public`.
        case setsCookie
        /// The request carried `Authorization`, and nothing in the answer says that others may have it (§3.5).
        case authorization
        /// The request carried `Cookie`, and the answer is not `public`.
        case cookie
    }

    /// Statuses whose meaning for caching is understood here (§5.2.2.3): all of RFC 9110's that are not about one request.
    package static let understood: Set<Int> = [
        200, 203, 204, 206, 300, 301, 302, 303, 304, 307, 308, 404, 405, 410, 414, 421, 451, 501,
    ]

    /// Statuses that no cache may store (RFC 6585 §3 to §6).
    private static let unstorable: Set<Int> = [428, 429, 431, 511]

    /// The fields that are kept of an answer: without cookies, and without those that `private` and `no-cache` list (§5.2.2.4,
    /// §5.2.2.7), which are for the one that asked.
    package static func kept(_ fields: HTTPFields) -> HTTPFields {
        let control = CacheControl(answer: fields)
        let own = control.privateFields + control.noCacheFields
        if own.isEmpty, !fields.contains("Set-Cookie"), !fields.contains("Set-Cookie2") { return fields }
        var kept = fields
        kept.remove(own + ["Set-Cookie", "Set-Cookie2"])
        return kept
    }

    /// What forbids to store and to share an answer; `nil` where nothing does.
    ///
    /// `Set-Cookie` and `Cookie` forbid more than RFC 9111 does: one user's answer never reaches another.
    package static func refusal(
        method: String = "GET", status: Int, fields: HTTPFields, request: HTTPFields
    ) -> Refusal? {
        let freshness = Freshness(fields: fields, status: status, checked: 0)
        let control = freshness.control
        if method != "GET" { return .method }
        if unstorable.contains(status) { return .status }
        if control.mustUnderstand, !understood.contains(status) { return .status }
        let needNotSay = status == 304 || Freshness.guessed.contains(status)
        if !needNotSay, freshness.explicitLifetime == nil, !control.isPublic { return .status }
        // Who understands the status passes over `no-store` beside `must-understand` (§5.2.2.3).
        if control.noStore, !control.mustUnderstand { return .noStore }
        if control.isPrivate { return .isPrivate }
        if RequestCacheControl(request).noStore { return .requestNoStore }
        if VaryField(fields) == .any { return .variesByAll }
        if fields.contains("Set-Cookie"), !control.isPublic { return .setsCookie }
        if request.contains("Authorization"), !control.isPublic, control.sharedMaxAge == nil, !control.mustRevalidate {
            return .authorization
        }
        if request.contains("Cookie"), !control.isPublic { return .cookie }
        if status == 206 {
            guard case .satisfied? = fields["Content-Range"].flatMap(ContentRange.parse) else { return .range }
        }
        return nil
    }
}
