/// Which requests go through which proxy, as the environment says, by curl's conventions. No I/O.
///
/// `http_proxy` for http, `https_proxy` for https, `all_proxy` for what has none of its own; `no_proxy` names the hosts
/// that are asked directly: names with all below them, addresses, blocks of addresses, or `*`. Each may be in upper case,
/// too, but `HTTP_PROXY`: a web server sets it from a request's field. An empty one means no proxy. What is on this
/// machine is never asked through a proxy.
public struct ProxySettings: Hashable, Sendable {
    /// A variable that cannot be understood.
    public struct Malformed: Error, Hashable, Sendable, CustomStringConvertible {
        /// Name of the variable. Its value may hold a password.
        public let variable: String

        /// What to write instead.
        public var description: String {
            "\(variable) in the environment names no proxy: http://[user:password@]host[:port] or socks5://host[:port] is wanted"
        }
    }

    private var http: UpstreamProxy?
    private var https: UpstreamProxy?
    private var direct: [UpstreamPattern] = []
    private var isEverythingDirect = false

    /// No proxy.
    public init() {}

    /// Reads the variables of an environment.
    public init(environment: [String: String]) throws(Malformed) {
        func value(_ names: String...) -> (name: String, text: String)? {
            for name in names { if let text = environment[name] { return (name, text) } }
            return nil
        }
        func proxy(_ variable: (name: String, text: String)?) throws(Malformed) -> UpstreamProxy? {
            guard let variable, !variable.text.isEmpty else { return nil }
            guard let proxy = UpstreamProxy(variable.text) else { throw Malformed(variable: variable.name) }
            return proxy
        }
        let all = value("all_proxy", "ALL_PROXY")
        http = try proxy(value("http_proxy") ?? all)
        https = try proxy(value("https_proxy", "HTTPS_PROXY") ?? all)
        for part in (value("no_proxy", "NO_PROXY")?.text ?? "").unicodeScalars
            .split(whereSeparator: { $0 == "," || $0.properties.isWhitespace }).map({ String($0) })
        {
            if part == "*" { isEverythingDirect = true }
            if let pattern = UpstreamPattern(String(part.unicodeScalars.drop { $0 == "." })) { direct.append(pattern) }
        }
    }

    /// Through whom `url` is asked; `nil` for nobody.
    package func proxy(for url: OriginURL) -> UpstreamProxy? {
        guard let proxy = url.scheme == "https" ? https : http, !isEverythingDirect else { return nil }
        let host = UpstreamPattern.plainHost(url.host)
        if let address = IPAddress(host) {
            let isDirect = address.isLoopback || direct.contains { $0.matches(address, isNamed: true) }
            return isDirect ? nil : proxy
        }
        if host == "localhost" || host.endsLike(".localhost") { return nil }
        let isDirect = direct.contains { pattern in
            if case .host(let name) = pattern.kind { return host.octets == name.octets || host.endsLike("." + name) }
            return pattern.matches(name: host)
        }
        return isDirect ? nil : proxy
    }
}
