import RepriseCore
package import RepriseHTTP

/// Before which origins a server stands, and with that what of a request goes on to them and what of an answer comes back. No
/// I/O.
package enum ServerRole: Sendable, Hashable {
    /// A shared cache before one origin.
    case edge(EdgeRole)
    /// A server of its user before all origins.
    case anyOrigin(AnyOriginRole)

    package init(_ configuration: ProxyConfiguration) {
        self = configuration.edge.map { .edge($0) } ?? .anyOrigin(AnyOriginRole(token: configuration.token))
    }

    /// The one origin, where it is one.
    package var edge: EdgeRole? { if case .edge(let role) = self { role } else { nil } }

    /// The token of its URLs, where they have one.
    package var token: String? { if case .anyOrigin(let role) = self { role.token } else { nil } }

    /// Who answers, as `Proxy-Status` names it.
    package var name: String { edge?.name ?? "reprise" }

    /// What a target in origin form asks for.
    package func target(_ text: String) -> RequestTarget {
        switch self {
        case .edge(let role): RequestTarget(text, edge: role)
        case .anyOrigin(let role): RequestTarget(text, token: role.token)
        }
    }

    /// Whether requests by this method are passed on to the origin, and their answers back, without being stored. What is
    /// stored answers two methods; TRACE would tell a client of the server's own fields, and a tunnel is none of a cache's (RFC
    /// 9110 §9.3.6, §9.3.8). What a page may do is the edge's origin's to say, and this server's where it stands before many.
    package func relays(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "TRACE", "CONNECT": false
        case "OPTIONS": edge != nil
        default: true
        }
    }

    /// The client's fields that go on to the origin.
    /// - Parameter minorVersion: Of the HTTP/1 they came by.
    package func forwarded(_ fields: HTTPFields, minorVersion: Int) -> HTTPFields {
        switch self {
        case .edge(let role): role.forwarded(fields, minorVersion: minorVersion)
        case .anyOrigin(let role): role.forwarded(fields)
        }
    }

    /// What is told of an answer that was passed on without being stored.
    /// - Parameter url: What it answers.
    package func relayed(_ fields: HTTPFields, from url: OriginURL, outcome: CacheStatus) -> HTTPFields {
        switch self {
        case .edge(let role): role.relayed(fields, age: nil, outcome: outcome)
        case .anyOrigin(let role): role.relayed(fields, from: url)
        }
    }

    /// What is told of an interim answer; `nil` for nothing: before many origins a hint of one would have a browser ask
    /// another place for something, and tell it the URL.
    package func interim(_ fields: HTTPFields) -> HTTPFields? {
        switch self {
        case .edge(let role): role.interim(fields)
        case .anyOrigin: nil
        }
    }

    /// What is told of the fields behind a body: none that say how the message is framed, what its content is or who may have it,
    /// as those come too late (RFC 9110 §6.5.1), and none that stay here where they come before it.
    package func told(trailers: HTTPFields) -> HTTPFields {
        // Most answers have none.
        if trailers.isEmpty { return trailers }
        var told = trailers
        told.removeHopByHop()
        told.remove(ServerRole.notBehind)
        switch self {
        case .edge: break
        case .anyOrigin: AnyOriginRole.withhold(&told)
        }
        return told
    }

    private static let notBehind = [
        "Age", "Authorization", "Cache-Control", "Content-Encoding", "Content-Length", "Content-Range", "Content-Type",
        "Date", "Expires", "Host", "Location", "Pragma", "Retry-After", "Set-Cookie", "Vary", "Warning",
        "WWW-Authenticate",
    ]

    /// What is told of an answer that `ServerExchange` made.
    /// - Parameters:
    ///   - url: What it answers.
    ///   - age: Seconds since the origin made or confirmed it; `nil` where it came for this very request.
    ///   - outcome: How the request was handled; `nil` where that is not known.
    package func told(
        _ fields: HTTPFields, from url: OriginURL, age: Int64?, outcome: @autoclosure () -> CacheStatus?
    ) -> HTTPFields {
        switch self {
        case .edge(let role): role.relayed(fields, age: age, outcome: outcome())
        case .anyOrigin(let role): role.located(fields, from: url)
        }
    }
}
