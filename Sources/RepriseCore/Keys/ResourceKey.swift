public import RepriseHTTP

/// What names a resource in the store: two URLs with one key share one entry.
public struct ResourceKey: Hashable, Sendable, CustomStringConvertible {
    /// The key's text.
    public let text: String

    /// A key of the caller's own, for example a track's id.
    public init(_ text: String) { self.text = text }

    /// The key's text.
    public var description: String { text }
}

/// How a URL becomes a key.
public struct KeyPolicy: Sendable {
    private let make: @Sendable (OriginURL) -> ResourceKey

    /// A policy of the caller's own.
    public init(_ make: @escaping @Sendable (OriginURL) -> ResourceKey) { self.make = make }

    /// The key of `url`.
    public func key(for url: OriginURL) -> ResourceKey { make(url) }

    /// The URL without fragment and without the query parameters that only sign it. Parameters that may name
    /// content (`id`, `v`, `file` …) stay, in their order: when in doubt two keys, never a wrong hit.
    public static let unsigned = KeyPolicy { url in
        guard let query = url.query else { return ResourceKey(url.origin + url.path) }
        let kept = query.split(separator: "&", omittingEmptySubsequences: false).filter { item in
            !isSignature(name: String(item.prefix { $0 != "=" }).lowercased())
        }
        return ResourceKey(url.origin + url.path + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&")))
    }

    /// The whole URL without fragment.
    public static let exact = KeyPolicy { url in ResourceKey(url.origin + url.target) }

    /// Parameters by which the common CDNs sign a URL. From their public documentation: CloudFront (Expires, Policy,
    /// Signature, Key-Pair-Id), S3 and GCS (X-Amz-*, X-Goog-*, AWSAccessKeyId, GoogleAccessId), Azure (sv, se, sig …
    /// as a set), Akamai (hdnts, hdnea, __token__, __gda__), Aliyun (auth_key, OSSAccessKeyId), Tencent (txSecret, txTime).
    private static func isSignature(name: String) -> Bool {
        if name.hasPrefix("x-amz-") || name.hasPrefix("x-goog-") { return true }
        return [
            "expires", "policy", "signature", "key-pair-id", "awsaccesskeyid", "googleaccessid", "sig", "se", "sp",
            "sv", "sr", "st", "spr", "skoid", "sktid", "skt", "ske", "sks", "skv", "hdnts", "hdnea", "__token__",
            "__gda__",
            "auth_key", "ossaccesskeyid", "security-token", "txsecret", "txtime",
        ].contains(name)
    }
}
