/// A proxy as an environment names it. Its description is without the credentials.
package struct UpstreamProxy: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case http, socks
    }

    package var kind: Kind
    /// Name or address, without brackets.
    package var host: String
    package var port: Int
    /// User and password, escapes undone.
    package var credentials: Credentials?

    package struct Credentials: Hashable, Sendable {
        package var user: String
        package var password: String
    }

    /// Reads `[scheme://][user:password@]host[:port]` as curl does: http where there is no scheme, port 1080 where there is
    /// none.
    package init?(_ text: String) {
        var rest = text[...]
        var kind = Kind.http
        if let (scheme, tail) = rest.cut(at: ":"), let more = tail.without(prefix: "//") {
            switch scheme.lowercased() {
            case "http": break
            case "socks5", "socks5h": kind = .socks
            default: return nil
            }
            rest = more
        }
        self.kind = kind
        rest = rest.upTo("/")
        if let (user, host) = rest.cut(atLast: "@") {
            let (name, password) = user.cut(at: ":") ?? (user, "")
            credentials = Credentials(
                user: String(decoding: name.percentDecoded, as: UTF8.self),
                password: String(decoding: password.percentDecoded, as: UTF8.self))
            rest = host
        }
        // The library proves nothing to a SOCKS proxy.
        if kind == .socks, credentials != nil { return nil }
        guard let url = OriginURL("http://\(rest)"), url.userInfo == nil, url.target == "/" else { return nil }
        host = url.host.inBrackets.map { String($0) } ?? url.host
        let hasPort = rest.endsLike(":80") || !url.hasDefaultPort
        port = hasPort ? url.port : 1080
    }

    /// Kind, host and port.
    package var description: String {
        "\(kind == .http ? "http" : "socks5")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
