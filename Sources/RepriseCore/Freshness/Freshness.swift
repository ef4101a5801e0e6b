package import RepriseHTTP

/// When stored bytes may be used without asking the origin.
public enum FreshnessPolicy: Sendable, Hashable {
    /// What is stored is good for ever: media under one key does not change. For apps.
    case immutable
    /// RFC 9111 as a shared cache: what the origin's headers allow. For the edge role.
    case http
}

/// RFC 9111's arithmetic for a shared cache. No I/O, no clock: times are passed in, in seconds since 1970.
package struct Freshness: Sendable {
    private let fields: HTTPFields
    private let control: CacheControl
    /// When the answer was received or last confirmed.
    private let checked: Int64

    package init(fields: HTTPFields, checked: Int64) {
        self.fields = fields
        self.checked = checked
        control = CacheControl(fields["Cache-Control"])
    }

    /// Seconds the answer is fresh (RFC 9111 §4.2.1): `s-maxage`, `max-age`, `Expires`, else a tenth of its age (§4.2.2).
    package var lifetime: Int64 {
        if let age = control.sharedMaxAge ?? control.maxAge { return age }
        let date = fields["Date"].flatMap(HTTPDate.parse) ?? checked
        if let expires = fields["Expires"] { return HTTPDate.parse(expires).map { max(0, $0 - date) } ?? 0 }
        guard let modified = fields["Last-Modified"].flatMap(HTTPDate.parse), modified < date else { return 0 }
        return min((date - modified) / 10, 86_400)
    }

    /// Seconds since the origin made or confirmed it (RFC 9111 §4.2.3).
    package func age(now: Int64) -> Int64 {
        let date = fields["Date"].flatMap(HTTPDate.parse) ?? checked
        let apparent = max(0, checked - date)
        // A number too large to hold is "very long" (RFC 9111 §1.2.2), and never more than a sum can carry.
        let given = min(fields["Age"]?.decimal ?? 0, 2_147_483_648)
        let resident = max(0, now.subtractingReportingOverflow(checked).partialValue)
        let (age, overflow) = max(apparent, given).addingReportingOverflow(resident)
        return overflow ? .max : age
    }

    /// Whether it may be used now without asking.
    package func isFresh(now: Int64) -> Bool { !control.noCache && age(now: now) < lifetime }

    /// Whether a stale one may be used when the origin cannot be reached (RFC 9111 §4.2.4).
    package var mayServeStale: Bool {
        !control.mustRevalidate && !control.proxyRevalidate && !control.noCache && control.sharedMaxAge == nil
    }

    /// Whether a shared cache may store and join this answer (RFC 9111 §3, §3.5; `Set-Cookie` and `Cookie` by
    /// caution: one user's answer never reaches another).
    package static func isShareable(status: Int, fields: HTTPFields, request: HTTPFields) -> Bool {
        let control = CacheControl(fields["Cache-Control"])
        if control.noStore || control.isPrivate || CacheControl(request["Cache-Control"]).noStore { return false }
        if fields.has(token: "*", in: "Vary") || fields.contains("Set-Cookie") { return false }
        if request.contains("Authorization"), !control.isPublic, control.sharedMaxAge == nil, !control.mustRevalidate {
            return false
        }
        if request.contains("Cookie"), !control.isPublic { return false }
        return [200, 206, 203, 304].contains(status)
    }
}
