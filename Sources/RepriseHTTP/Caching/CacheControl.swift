/// What an answer's `Cache-Control` says to a shared cache (RFC 9111 §5.2.2, RFC 5861, RFC 8246).
public struct CacheControl: Hashable, Sendable {
    /// `no-store`
    public var noStore = false
    /// `no-cache` for the whole answer; one that lists fields is about those alone (§5.2.2.4).
    public var noCache = false
    /// The names `no-cache="…"` lists, in lower case.
    public var noCacheFields: [String] = []
    /// `private` for the whole answer; one that lists fields is about those alone (§5.2.2.7).
    public var isPrivate = false
    /// The names `private="…"` lists, in lower case.
    public var privateFields: [String] = []
    /// `public`
    public var isPublic = false
    /// `must-revalidate`
    public var mustRevalidate = false
    /// `proxy-revalidate`
    public var proxyRevalidate = false
    /// `must-understand`
    public var mustUnderstand = false
    /// `no-transform`
    public var noTransform = false
    /// `immutable` (RFC 8246)
    public var isImmutable = false
    /// `max-age` in seconds; 0 where it cannot be read, or is given twice and differs.
    public var maxAge: Int64?
    /// `s-maxage` in seconds, read like `max-age`.
    public var sharedMaxAge: Int64?
    /// `stale-while-revalidate` in seconds (RFC 5861 §3); 0 where it cannot be read.
    public var staleWhileRevalidate: Int64?
    /// `stale-if-error` in seconds (RFC 5861 §4); 0 where it cannot be read.
    public var staleIfError: Int64?

    /// Whether it was told to caches like this one alone: then `Expires`, which is told to all, does not count.
    package var isTargeted = false

    /// Reads the field; total: what it does not know it passes over (§5.2.3).
    public init(_ field: String?) { self.init(CacheDirectives(field)) }

    private init(_ directives: CacheDirectives) {
        noStore = directives.contains("no-store")
        (noCache, noCacheFields) = directives.qualified("no-cache")
        (isPrivate, privateFields) = directives.qualified("private")
        isPublic = directives.contains("public")
        mustRevalidate = directives.contains("must-revalidate")
        proxyRevalidate = directives.contains("proxy-revalidate")
        mustUnderstand = directives.contains("must-understand")
        noTransform = directives.contains("no-transform")
        isImmutable = directives.contains("immutable")
        maxAge = directives.seconds(of: "max-age", unreadable: 0)
        sharedMaxAge = directives.seconds(of: "s-maxage", unreadable: 0)
        staleWhileRevalidate = directives.seconds(of: "stale-while-revalidate", unreadable: 0)
        staleIfError = directives.seconds(of: "stale-if-error", unreadable: 0)
    }

    /// What an answer says to a shared cache in front of its origin: `CDN-Cache-Control` where it is there and can be read
    /// (RFC 9213 §2), else `Cache-Control`.
    package init(answer fields: HTTPFields) {
        guard let directives = CacheControl.targeted(fields) else {
            self.init(fields["Cache-Control"])
            return
        }
        self.init(directives)
        isTargeted = true
    }

    private static func targeted(_ fields: HTTPFields) -> CacheDirectives? {
        fields["CDN-Cache-Control"].flatMap(StructuredDictionary.init).flatMap { dictionary in
            dictionary.members.isEmpty ? nil : CacheDirectives(dictionary)
        }
    }
}
