import RepriseHTTP
import ReprisePlatform

/// How a proxy listens, whom it lets in and what it bears.
public struct ProxyConfiguration: Sendable {
    /// Address to listen on. Anything but loopback lets other machines in.
    public var host = "127.0.0.1"
    /// Port to listen on; 0 lets the system choose.
    public var port = 0
    /// Secret first component of every path; `nil` lets every local user in.
    public var token: String? = ProxyConfiguration.makeToken()
    /// Serves one origin's paths, to whoever asks by whatever name, instead of any URL by the token.
    public var edge: EdgeRole?
    /// Names and addresses a `Host` field may have besides loopback's own.
    public var allowedHosts: [String] = []
    /// Web origins, like `https://example.com`, whose pages may use the proxy although they come from another site.
    public var allowedOrigins: [String] = []
    /// Connections at a time. A further one takes the place of one that waits for a request or, after that, of a client
    /// that has taken nothing for ten seconds; where all are busy it is told 503 and closed. Half of the descriptors
    /// that the process may have are the most.
    public var connectionLimit = 1024
    /// Requests forwarded to origins at a time, each on a connection of its own; a further one is told 503. An eighth of the
    /// descriptors that the process may have are the most.
    public var forwardedLimit = 1024
    /// Seconds a connection may stay open without a request.
    public var idleTimeout = 75
    /// Seconds a request may take to come, body included, from its first byte on; then it is told 408.
    public var requestTimeout = 20
    /// Seconds a client may take no byte of an answer before it is let go; long, as a paused player does just that.
    public var slowClientTimeout = 3600
    /// Most bytes of a request's head.
    public var headLimit = 32 * 1024
    /// Bytes a client's socket may hold unsent, so that a position means what it says.
    public var unsentLimit = 256 * 1024
    /// Seconds `stop` waits for answers under way.
    public var shutdownTimeout = 5
    /// Threads for sockets; `nil` for one a core.
    public var threads: Int?

    /// Loopback, any port, a fresh token.
    public init() {}

    /// Where a server that listens on `host` is reached on this machine, like `http://127.0.0.1:8787`: by loopback where it
    /// listens on every address.
    package static func base(host: String, port: Int) -> String {
        let name = IPAddress(host)?.isUnspecified == true ? "127.0.0.1" : host
        return "http://\(name.has(":") && name.inBrackets == nil ? "[\(name)]" : name):\(port)"
    }

    /// A token nobody can guess: 128 random bits in hexadecimal.
    public static func makeToken() -> String {
        SystemCalls.randomBytes(16).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
