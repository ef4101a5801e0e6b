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
        if let colon = rest.firstIndex(of: ":"), rest[colon...].hasPrefix("://") {
            switch rest[..<colon].lowercased() {
            case "http": break
            case "socks5", "socks5h": kind = .socks
            default: return nil
            }
            rest = rest[colon...].dropFirst(3)
        }
        self.kind = kind
        rest = rest.prefix { $0 != "/" }
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                .map { String(decoding: UpstreamPattern.unescaped($0), as: UTF8.self) }
            credentials = Credentials(user: parts.first ?? "", password: parts.dropFirst().first ?? "")
            rest = rest[rest.index(after: at)...]
        }
        // The library proves nothing to a SOCKS proxy.
        if kind == .socks, credentials != nil { return nil }
        guard let url = OriginURL("http://\(rest)"), url.userInfo == nil, url.target == "/" else { return nil }
        host = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
        let hasPort = rest.hasSuffix(":80") || !url.hasDefaultPort
        port = hasPort ? url.port : 1080
    }

    /// Kind, host and port.
    package var description: String {
        "\(kind == .http ? "http" : "socks5")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
