package import RepriseHTTP

/// What a request's target asks for. Total: every text has an answer.
package enum RequestTarget: Sendable, Hashable {
    /// Bytes of this URL.
    case media(OriginURL)
    /// `/.reprise/health`
    case health
    /// The token is missing or wrong.
    case forbidden
    /// Not of a form the proxy knows; says which.
    case unknown(String)

    /// Reads a target in origin form.
    ///
    ///     /TOKEN/https/host[:port]/path?query      the origin's path stays visible, byte for byte
    ///     /TOKEN/?url=https%3A%2F%2Fhost%2Fpath    percent-encoded, for programs that build URLs
    ///     /.reprise/health
    package init(_ target: String, token: String?) {
        if RequestTarget.isHealth(target) {
            self = .health
            return
        }
        var rest = Substring(target)
        if let token {
            let given = rest.without(prefix: "/")?.upTo("/?")
            guard let given, SecretText.areEqual(String(given), token) else {
                self = .forbidden
                return
            }
            rest = rest[given.endIndex...]
        }
        if rest.beginsLike("/?url=") || rest.beginsLike("?url="), let (_, encoded) = rest.upTo("&").cut(at: "=") {
            guard let text = PercentCoding.decoded(encoded), let url = OriginURL(text) else {
                self = .unknown("the url parameter is not a percent-encoded http or https URL")
                return
            }
            self = .media(url)
            return
        }
        for scheme in ["https", "http"] {
            guard let place = rest.without(prefix: "/\(scheme)/") else { continue }
            guard let url = OriginURL("\(scheme)://" + place), url.userInfo == nil else {
                self = .unknown("no host after /\(scheme)/")
                return
            }
            self = .media(url)
            return
        }
        self = .unknown("expected /https/host/path, /http/host/path or /?url=")
    }

    /// Reads a target whose path is the origin's own.
    package init(_ target: String, edge: EdgeRole) {
        if RequestTarget.isHealth(target) {
            self = .health
        } else {
            self =
                edge.url(for: target).map(RequestTarget.media) ?? .unknown("the target is no path below the origin's")
        }
    }

    private static func isHealth(_ target: String) -> Bool { target.upTo("?") == "/.reprise/health" }

    /// The target under which `url` is reached.
    package static func target(for url: OriginURL, token: String?) -> String {
        let prefix = token.map { "/" + $0 } ?? ""
        // User information has no place in the path form.
        if url.userInfo != nil { return prefix + "/?url=" + PercentCoding.encoded(url.description) }
        return prefix + "/\(url.scheme)/\(url.authority)\(url.target)"
    }
}
