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
    ///   - sendsEveryMethod: Whether what goes to the origin can go by any method.
    ///   - isDraining: Whether balancers are to send clients elsewhere.
    ///   - now: Seconds since 1970, for `Date`.
    package init(
        _ head: RequestHead, rules: AccessRules, role: ServerRole, sendsEveryMethod: Bool,
        isDraining: Bool = false, now: Int64
    ) {
        func plain(_ status: Int, _ reason: String) -> RequestRoute {
            .answer(ServerExchange.plain(status, reason, now: now))
        }
        func options() -> RequestRoute {
            .answer(ServerExchange.options(head.fields, sendsEveryMethod: sendsEveryMethod, now: now))
        }
        func notAllowed() -> RequestRoute {
            let methods = ServerExchange.methods(sendsEveryMethod)
            var answer = ServerExchange.plain(405, "the methods are \(methods)", now: now)
            answer.fields["Allow"] = methods
            return .answer(answer)
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
            // RFC 9110 §4.2.1: no URL of http is without a host; what stands before an @ is not looked at, so it is refused.
            guard !named.isEmpty, HostField.isValid(named) else {
                self = plain(400, "the target names no host")
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
                ? notAllowed()
                : plain(400, "the target is neither a path nor an http URL")
            return
        }
        let relays = sendsEveryMethod && role.relays(head.method)
        if role.edge == nil,
            let reason = rules.refusal(
                head.fields, authority: authority, hasToken: role.token != nil, mayChange: relays)
        {
            self = plain(403, reason)
            return
        }
        if path == "*" {
            self = options()
            return
        }
        if role.edge?.isLoop(head.fields) == true {
            self = plain(508, "the request has come through here before: the origin leads back to this cache")
            return
        }
        switch role.target(path) {
        case .health: self = isDraining ? plain(503, "draining") : plain(200, "ok")
        case .forbidden: self = plain(403, "the URL does not carry this proxy's token")
        case .unknown(let reason): self = plain(404, reason)
        case .media(let url):
            switch head.method {
            case "GET", "HEAD": self = .media(url)
            case "OPTIONS" where OriginRequest.hopsLeft(head.fields) == 0:
                self = options()
            case _ where relays: self = .relay(url)
            case "OPTIONS": self = options()
            default: self = notAllowed()
            }
        }
    }
}
