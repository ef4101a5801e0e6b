package import RepriseHTTP

/// Where the redirects of one request lead, and what of its fields goes along (RFC 9110 §15.4). No I/O.
///
/// Each hop is a request of its own: what says who asks, and all else that was given for one origin, stays with that one; what
/// is left of a request elsewhere says which bytes are wanted and in what form.
package struct RedirectRule: Sendable {
    /// Fields of a caller that carry no credential: they may go to any origin.
    static let impersonal = [
        "Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "Pragma", "User-Agent",
    ]

    /// What goes on to another origin: those, and which bytes are wanted.
    private static let carried =
        impersonal + ["If-Modified-Since", "If-None-Match", "If-Range", "Range"]

    /// Where the next request goes.
    package private(set) var url: OriginURL
    /// What it carries.
    package private(set) var fields: HTTPFields
    private var visited: Set<OriginURL>
    private let limit: Int

    /// Most hops that are followed, unless told otherwise: as many as browsers follow (Fetch standard, HTTP-redirect fetch).
    package static let usualLimit = 20

    /// Where following came to an end.
    package static let isLost = OriginFailure(.malformed, "the origin redirects in circles, or to nowhere")

    /// Before the first answer to a request for `url`.
    /// - Parameter limit: Most hops that are followed.
    package init(_ url: OriginURL, _ fields: HTTPFields, limit: Int = RedirectRule.usualLimit) {
        self.limit = limit
        self.url = url
        self.fields = fields
        visited = [url]
    }

    /// Where an answer leads instead of answering; `nil` for one that does not.
    package static func location(_ status: Int, _ fields: HTTPFields) -> String? {
        [301, 302, 303, 307, 308].contains(status) ? fields["Location"] : nil
    }

    /// Turns to where a redirect leads; `false` where that is in circles, too far, or nowhere.
    package mutating func follow(_ location: String) -> Bool {
        guard visited.count <= limit, let next = url.resolving(location), visited.insert(next).inserted else {
            return false
        }
        if !next.hasOrigin(of: url) { fields = fields.keeping(RedirectRule.carried) }
        url = next
        return true
    }
}
