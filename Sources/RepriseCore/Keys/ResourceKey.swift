public import RepriseHTTP

/// What names a resource in the store: two URLs with one key share one entry.
public struct ResourceKey: Hashable, Sendable, CustomStringConvertible {
    /// The key's text.
    public let text: String

    /// A key of the caller's own, for example a track's id.
    public init(_ text: String) { self.text = text }

    /// Two keys are equal where their bytes are: what Unicode calls equal may be two resources.
    public static func == (left: ResourceKey, right: ResourceKey) -> Bool {
        left.text.octets == right.text.octets
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(text.octets) }

    /// The key's text.
    public var description: String { text }
}

/// How a URL becomes a key.
///
/// In the policies here `%c3` and `%C3` are one (RFC 3986 §6.2.2.1); the origin is asked for what the caller wrote.
public struct KeyPolicy: Sendable {
    private let make: @Sendable (OriginURL) -> ResourceKey

    /// A policy of the caller's own.
    public init(_ make: @escaping @Sendable (OriginURL) -> ResourceKey) { self.make = make }

    /// The key of `url`.
    public func key(for url: OriginURL) -> ResourceKey { make(url) }

    /// The URL without fragment and without the query parameters that only sign it. Parameters that may name
    /// content (`id`, `v`, `file` …) stay, byte for byte and in their order: when in doubt two keys, never a wrong hit.
    public static let unsigned = query(QueryRule())

    /// The whole URL without fragment.
    public static let exact = KeyPolicy { url in ResourceKey(url.origin + url.target.withPercentEncodingInUpperCase) }

    /// The URL without fragment and without the query parameters that `rule` leaves out.
    public static func query(_ rule: QueryRule) -> KeyPolicy {
        KeyPolicy { url in ResourceKey(url.origin + rule.applied(to: url.target).withPercentEncodingInUpperCase) }
    }
}
