package import RepriseHTTP

/// Which stored answers a request with another method makes unusable (RFC 9111 §4.4). No I/O.
package enum InvalidationRule {
    /// Methods that change nothing (RFC 9110 §9.2.1, and those its registry has from RFC 3253, 4918 and 5323). Of a method that
    /// is not known, the worst is supposed.
    package static let safe: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH"]

    /// The URLs whose stored answers must be confirmed before they are used again: after success or redirection the target's,
    /// and those `Location` and `Content-Location` name on the same origin. Where the origin may have done it and that was not
    /// heard, the target's.
    /// - Parameters:
    ///   - status: `nil` where no answer came.
    ///   - isOfSecondTry: Whether an answer to the same request was lost before: it may have said that it was done.
    package static func targets(
        method: String, url: OriginURL, status: Int?, fields: HTTPFields, isOfSecondTry: Bool = false
    ) -> [OriginURL] {
        if safe.contains(method) { return [] }
        guard let status, (200..<400).contains(status) else { return status == nil || isOfSecondTry ? [url] : [] }
        var targets = [url]
        for name in ["Location", "Content-Location"] {
            // Another origin's word on a third one's resources would be a way to empty its cache.
            guard let named = fields[name].flatMap(url.resolving), named.hasOrigin(of: url),
                !targets.contains(named)
            else { continue }
            targets.append(named)
        }
        return targets
    }
}
