#if Server
    public import RepriseCore
    public import RepriseHTTP

    /// The origin client for Linux and servers, over async-http-client's streaming delegate: the body is read from the
    /// socket only while the engine asks for it.
    ///
    /// TLS certificates are verified by the system's authorities or those that are given; up to five redirects are followed, and
    /// to another origin goes nothing that may say who asks. Whom it asks has to pass the rules, at every redirect, too, and
    /// with the address it is connected to. Connections are reused; cancelling closes one (HTTP/1.1).
    /// It connects within 10 seconds or fails; the engine itself watches for stalls, so there is no read time-out.
    public final class AsyncHTTPOriginClient: OriginClient {
        let exits: OriginExits
        private let userAgent: String

        /// Makes a client with its own connection pools.
        /// - Parameters:
        ///   - userAgent: Sent where the caller gives none.
        ///   - receiveBuffer: Size of each origin socket's receive buffer in bytes. It bounds what an abandoned
        ///     transfer can cost beyond the engine's read-ahead; `nil` leaves it to the system, which may grow it to
        ///     several MiB.
        ///   - connections: Connections to one host at a time; more than the engine's requests to it, so that these
        ///     never wait for one.
        ///   - rules: Who may be asked.
        ///   - proxies: Through whom; nobody where not given.
        ///   - authorities: Whose certificates count; the system's where not given.
        public init(
            userAgent: String = "Reprise/0.1", receiveBuffer: Int? = 256 * 1024, connections: Int = 16,
            rules: UpstreamRules = .init(), proxies: ProxySettings = .init(), authorities: TrustedAuthorities? = nil
        ) {
            exits = OriginExits(
                receiveBuffer: receiveBuffer, connections: connections, rules: rules, proxies: proxies,
                authorities: authorities)
            self.userAgent = userAgent
        }

        /// Closes all connections. The client cannot be used afterwards.
        public func shutdown() async throws { try await exits.shutdown() }

        /// Sends `request`.
        public func start(
            _ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void
        ) -> any OriginExchange {
            var request = request
            if !request.fields.contains("User-Agent") { request.fields["User-Agent"] = userAgent }
            let exchange = StreamingExchange(request, exits: exits, onEvent: onEvent)
            exchange.begin()
            return exchange
        }
    }
#endif
