import RepriseCore
package import RepriseHTTP

/// Where a request leads: to media, or to an answer that needs none. No I/O.
package enum RequestRoute: Sendable, Hashable {
    /// `GET` or `HEAD` of this URL.
    case media(OriginURL)
    /// A request that may change something there, to be passed on to the origin.
    case relay(OriginURL)
    case answer(ServerExchange.Answer)

    /// Decides from a request's head alone.
    /// - Parameters:
    ///   - edge: The origin whose paths are served, where it is one.
    ///   - isDraining: Whether balancers are to send clients elsewhere.
    ///   - now: Seconds since 1970, for `Date`.
    package init(
        _ head: RequestHead, rules: AccessRules, token: String?, edge: EdgeRole? = nil, isDraining: Bool = false,
        now: Int64
    ) {
        func plain(_ status: Int, _ reason: String) -> RequestRoute {
            .answer(ServerExchange.plain(status, reason, now: now))
        }
        var authority = head.fields["Host"]
        let path: String
        switch TargetForm(head.target) {
        case .origin(let target): path = target
        case .absolute(let scheme, let named, let target):
            guard scheme.equalsIgnoringCase("http") else {
                self = plain(403, "this is not a proxy for \(scheme)")
                return
            }
            authority = named
            path = target
        case .asterisk:
            guard head.method == "OPTIONS" else {
                self = plain(400, "* is a target for OPTIONS alone")
                return
            }
            path = "*"
        case .other:
            let isConnect = head.method == "CONNECT"
            self =
                isConnect
                ? RequestRoute.notAllowed(now) : plain(400, "the target is neither a path nor an http URL")
            return
        }
        let relays = RequestRoute.relays(head.method, edge: edge)
        if edge == nil,
            let reason = rules.refusal(head.fields, authority: authority, hasToken: token != nil, mayChange: relays)
        {
            self = plain(403, reason)
            return
        }
        if path == "*" {
            self = RequestRoute.options(head, now)
            return
        }
        if edge?.isLoop(head.fields) == true {
            self = plain(508, "the request has come through here before: the origin leads back to this cache")
            return
        }
        switch edge.map({ RequestTarget(path, edge: $0) }) ?? RequestTarget(path, token: token) {
        case .health: self = isDraining ? plain(503, "draining") : plain(200, "ok")
        case .forbidden: self = plain(403, "the URL does not carry this proxy's token")
        case .unknown(let reason): self = plain(404, reason)
        case .media(let url):
            switch head.method {
            case "GET", "HEAD": self = .media(url)
            case "OPTIONS" where OriginRequest.hopsLeft(head.fields) == 0: self = RequestRoute.options(head, now)
            case _ where relays: self = .relay(url)
            case "OPTIONS": self = RequestRoute.options(head, now)
            default: self = RequestRoute.notAllowed(now)
            }
        }
    }

    /// Whether requests by this method are passed on to the origin, and their answers back, without being stored. What is stored
    /// answers two methods; TRACE would tell a client of the server's own fields, and a tunnel is none of a cache's (RFC 9110 §9.3.6,
    /// §9.3.8). What a page may do is the edge's origin's to say, and this server's where it stands before many.
    package static func relays(_ method: String, edge: EdgeRole?) -> Bool {
        switch method {
        case "GET", "HEAD", "TRACE", "CONNECT": false
        case "OPTIONS": edge != nil
        default: true
        }
    }

    private static func notAllowed(_ now: Int64) -> RequestRoute {
        var answer = ServerExchange.plain(405, "neither TRACE nor CONNECT", now: now)
        answer.fields["Allow"] = ServerExchange.methods
        return .answer(answer)
    }

    private static func options(_ head: RequestHead, _ now: Int64) -> RequestRoute {
        .answer(ServerExchange.options(head.fields, now: now))
    }
}
