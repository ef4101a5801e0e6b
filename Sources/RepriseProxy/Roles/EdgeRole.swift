import RepriseCore
public import RepriseHTTP

/// A shared cache in front of one origin (RFC 9111): every path is the origin's, and clients need no token. No I/O.
///
/// The cache behind it wants `.http` freshness and whole URLs for keys: what signs a URL at the origin decides who may
/// have it.
public struct EdgeRole: Sendable, Hashable {
    /// Scheme, host and port of the origin, and a path that is put before every request's.
    public let origin: OriginURL
    /// This cache's name in `Via` and `Cache-Status`; nodes in a row have different ones.
    public let name: String
    /// Where else the origin's paths are served.
    public let mirrors: [OriginURL]
    /// Whether one of these places has a path.
    private let isBelowPath: Bool

    /// - Parameters:
    ///   - origin: For example `https://cdn.example`; a query is left out.
    ///   - name: A token (RFC 9110 §5.6.2) that no other node in a row has.
    ///   - mirrors: Where else the origin's paths are served.
    public init(origin: OriginURL, name: String, mirrors: [OriginURL] = []) {
        self.origin = origin
        self.mirrors = mirrors
        self.name = name
        isBelowPath = ([origin] + mirrors).contains { $0.path.utf8.count > 1 }
    }

    /// What a target in origin form stands for; `nil` where it is none, or would lead out of the path that is put before it.
    package func url(for target: String) -> OriginURL? {
        guard target.utf8.first == UInt8(ascii: "/"), let url = OriginURL(origin.base + target) else { return nil }
        // Below a path no server's reading of it may lead out of that.
        return isBelowPath && url.mayLeadUp ? nil : url
    }

    /// Whether a request has come through this cache before: to forward it again would be a loop.
    package func isLoop(_ fields: HTTPFields) -> Bool { RelayedAnswer.hasPassed(name, fields) }

    /// The client's fields that go on to the origin: all that are not of one connection, and this cache in `Via`.
    /// - Parameter minorVersion: Of the HTTP/1 they came by.
    package func forwarded(_ fields: HTTPFields, minorVersion: Int = 1) -> HTTPFields {
        var kept = fields
        kept.removeHopByHop()
        kept.remove(["Host", "Expect"])
        return RelayedAnswer.adding(name, to: kept, version: "1.\(minorVersion)")
    }

    /// Where a redirect of the origin's leads as this cache's clients have to be told: what is below the origin is below this
    /// cache.
    package func location(_ text: String) -> String {
        // Browsers take a backslash for a slash: a place that has one is left as it came.
        if text.utf8.contains(UInt8(ascii: "\\")) { return text }
        let isPath = OriginURL.isPath(text)
        for base in [origin] + mirrors {
            let whole =
                text.beginsLike("/") ? base.resolving(text) : OriginURL(OriginURL.withSpacesEncoded(text))
            guard let whole = whole?.asBrowsersReadIt, whole.hasOrigin(of: base),
                let path = EdgeRole.path(of: whole, below: base)
            else {
                continue
            }
            // What begins with two slashes would name a host (RFC 3986 §4.2).
            return (path.beginsLike("//") ? "/." : "") + path + OriginURL.fragment(of: text)
        }
        return isPath ? origin.origin + text : text
    }

    /// What of a URL stands behind a base; `nil` where it is not below that.
    private static func path(of url: OriginURL, below base: OriginURL) -> String? {
        let (whole, base) = (Array((url.origin + url.target).utf8), Array(base.base.utf8))
        guard whole.starts(with: base), whole.count > base.count, whole[base.count] == UInt8(ascii: "/") else {
            return nil
        }
        return String(decoding: whole[base.count...], as: UTF8.self)
    }

    /// What an answer's head says of its way: `Age`, `Via` and `Cache-Status`; a `Location` as this cache's clients see it.
    /// - Parameters:
    ///   - age: Seconds since the origin made or confirmed it; `nil` where it came for this very request.
    ///   - outcome: How the request was handled; `nil` where that is not known.
    package func relayed(_ fields: HTTPFields, age: Int64?, outcome: CacheStatus?) -> HTTPFields {
        var fields = RelayedAnswer.fields(fields, age: age, pseudonym: name)
        if let place = fields["Location"] { fields["Location"] = location(place) }
        if let outcome { fields["Cache-Status"] = outcome.appended(to: fields["Cache-Status"], named: name) }
        return fields
    }

    /// The same of an interim answer. It has no body, and no field may say otherwise (RFC 9110 §8.6).
    func interim(_ fields: HTTPFields) -> HTTPFields {
        var told = relayed(fields, age: nil, outcome: nil)
        told.remove(["Content-Encoding", "Content-Length", "Content-Range", "Content-Type"])
        return told
    }
}
