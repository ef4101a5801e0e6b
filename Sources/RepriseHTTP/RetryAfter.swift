import RepriseRanges

/// `Retry-After` (RFC 9110 §10.2.3).
public enum RetryAfter {
    /// Seconds to wait from `now` (seconds since 1970), never negative; `nil` for an unreadable field.
    public static func seconds(_ field: String?, now: Int64) -> Int64? {
        guard let field else { return nil }
        if let delay = field.trimmingOptionalWhitespace.decimal { return delay }
        return HTTPDate.parse(field).map { max(0, $0.subtracting(now)) }
    }
}
