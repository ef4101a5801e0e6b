/// What a request's `Cache-Control` asks of a cache (RFC 9111 §5.2.1), or its `Pragma` where it has none (§5.4).
///
/// Every reading errs on the side of asking the origin.
public struct RequestCacheControl: Hashable, Sendable {
    /// `max-age` in seconds; 0 where it cannot be read.
    public var maxAge: Int64?
    /// `max-stale` in seconds; the longest time without an argument, 0 where that cannot be read.
    public var maxStale: Int64?
    /// `min-fresh` in seconds; the longest time where it cannot be read.
    public var minFresh: Int64?
    /// `no-cache`, also as `Pragma: no-cache` in a request without `Cache-Control`.
    public var noCache = false
    /// `no-store`
    public var noStore = false
    /// `no-transform`
    public var noTransform = false
    /// `only-if-cached`
    public var onlyIfCached = false
    /// `stale-if-error` in seconds (RFC 5861 §4); 0 where it cannot be read.
    public var staleIfError: Int64?

    /// The fields of a request as one that wants only what is stored and fresh (RFC 9111 §5.2.1.3, §5.2.1.7).
    package static func onlyFresh(_ fields: HTTPFields) -> HTTPFields {
        var fields = fields
        // `Pragma` counts only where there is no `Cache-Control` (§5.4).
        if fields["Cache-Control"] == nil, let pragma = fields["Pragma"] { fields.add("Cache-Control", pragma) }
        fields.add("Cache-Control", "only-if-cached, min-fresh=0")
        return fields
    }

    /// Of a request that says nothing.
    package init() {}

    /// Reads a request's fields; total.
    public init(_ fields: HTTPFields) {
        guard let field = fields["Cache-Control"] else {
            if let pragma = fields["Pragma"] { noCache = CacheDirectives(pragma).contains("no-cache") }
            return
        }
        let directives = CacheDirectives(field)
        maxAge = directives.seconds(of: "max-age", unreadable: 0)
        minFresh = directives.seconds(of: "min-fresh", unreadable: CacheDirectives.longest)
        let isAnyStale = directives.contains("max-stale") && directives.values(of: "max-stale").allSatisfy { $0 == nil }
        maxStale = isAnyStale ? CacheDirectives.longest : directives.seconds(of: "max-stale", unreadable: 0)
        noCache = directives.contains("no-cache")
        noStore = directives.contains("no-store")
        noTransform = directives.contains("no-transform")
        onlyIfCached = directives.contains("only-if-cached")
        staleIfError = directives.seconds(of: "stale-if-error", unreadable: 0)
    }
}
