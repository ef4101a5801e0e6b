package import RepriseHTTP

/// Whether a shared cache may store an answer and let other requests have it (RFC 9111 §3). No I/O.
package enum StoringRule {
    /// What forbids it.
    package enum Refusal: String, Hashable, Sendable {
        /// Only answers to GET are kept.
        case method
        /// The status is not one whose bodies are media, or not one that `must-understand` lets us keep.
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
        /// The answer sets a cookie.
        case setsCookie
        /// The request carried `Authorization`, and nothing in the answer says that others may have it (§3.5).
        case authorization
        /// The request carried `Cookie`, and the answer is not `public`.
        case cookie
    }

    /// Statuses whose meaning for caching is understood here; others are passed on and not kept (§3).
    package static let understood: Set<Int> = [200, 203, 206, 304]

    /// What forbids to store and to share an answer; `nil` where nothing does.
    ///
    /// `Set-Cookie` and `Cookie` forbid more than RFC 9111 does: one user's answer never reaches another.
    package static func refusal(
        method: String = "GET", status: Int, fields: HTTPFields, request: HTTPFields
    ) -> Refusal? {
        let control = CacheControl(fields["Cache-Control"])
        if method != "GET" { return .method }
        if !understood.contains(status) { return .status }
        // Who understands the status passes over `no-store` beside `must-understand` (§5.2.2.3).
        if control.noStore, !control.mustUnderstand { return .noStore }
        if control.isPrivate { return .isPrivate }
        if RequestCacheControl(request).noStore { return .requestNoStore }
        if VaryField(fields) == .any { return .variesByAll }
        if fields.contains("Set-Cookie") { return .setsCookie }
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
