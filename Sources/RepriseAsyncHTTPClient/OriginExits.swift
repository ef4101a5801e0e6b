#if Server
    import AsyncHTTPClient
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOSSL
    import RepriseHTTP
    import ReprisePlatform

    /// A way to an origin: which connections may carry a request, and how they are made.
    enum OriginExit: Hashable, Sendable {
        /// A connection to the origin; where it is not trusted, its address has to pass the rules.
        case direct(isTrusted: Bool)
        /// A connection that a proxy leads on to the origin.
        case tunnel(UpstreamProxy)
        /// A connection to a proxy that takes requests for any origin of plain HTTP.
        case relay(UpstreamProxy)

        var proxy: UpstreamProxy? {
            switch self {
            case .direct: nil
            case .tunnel(let proxy), .relay(let proxy): proxy
            }
        }
    }

    /// The library's clients, one for each way out: what a connection has to prove is a property of its pool.
    final class OriginExits: Sendable {
        /// Which connections are one pool.
        private struct Pool: Hashable {
            let exit: OriginExit
            /// What goes at one client's pace does not take the connections of shared transfers.
            let isForRelays: Bool
        }

        private struct State {
            var clients: [Pool: HTTPClient] = [:]
            var isShutDown = false
        }

        private let receiveBuffer: Int?
        private let connections: Int
        let rules: UpstreamRules
        let loops = OriginLoops(MultiThreadedEventLoopGroup.singleton)
        let listeners = AnswerTap.Listeners()
        private let proxies: ProxySettings
        private let authorities: TrustedAuthorities?
        private let state = Lock(State())

        init(
            receiveBuffer: Int?, connections: Int, rules: UpstreamRules, proxies: ProxySettings,
            authorities: TrustedAuthorities?
        ) {
            self.receiveBuffer = receiveBuffer
            self.connections = connections
            self.rules = rules
            self.proxies = proxies
            self.authorities = authorities
        }

        deinit {
            // The library insists on being shut down; where the owner has done so nothing is left.
            for client in takeAll() { client.shutdown { _ in } }
        }

        /// Shuts all of them down, also where one fails to.
        func shutdown() async throws {
            var failure: (any Error)?
            for client in takeAll() {
                do { try await client.shutdown() } catch { failure = failure ?? error }
            }
            if let failure { throw failure }
        }

        private func takeAll() -> [HTTPClient] {
            state.withLock { state in
                state.isShutDown = true
                defer { state.clients = [:] }
                return Array(state.clients.values)
            }
        }

        /// The way to `url`.
        /// - Throws: A refusal where it may not be asked.
        func exit(to url: OriginURL) throws(UpstreamRules.Refusal) -> OriginExit {
            let verdict = rules.verdict(host: url.host)
            if case .refused(let refusal) = verdict { throw refusal }
            guard let proxy = proxies.proxy(for: url) else { return .direct(isTrusted: verdict == .trusted) }
            return url.scheme == "http" && proxy.kind == .http ? .relay(proxy) : .tunnel(proxy)
        }

        /// The client for a way out; `nil` after the shutdown.
        /// - Parameter isForRelays: Whether the request goes at one client's pace.
        func client(for exit: OriginExit, isForRelays: Bool) -> HTTPClient? {
            let pool = Pool(exit: exit, isForRelays: isForRelays)
            return state.withLock { state in
                if state.isShutDown { return nil }
                if let client = state.clients[pool] { return client }
                let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration(pool))
                state.clients[pool] = client
                return client
            }
        }

        private func configuration(_ pool: Pool) -> HTTPClient.Configuration {
            let exit = pool.exit
            var configuration = HTTPClient.Configuration()
            // Followed by the exchange, which looks at each of them.
            configuration.redirectConfiguration = .disallow
            configuration.timeout.connect = .seconds(10)
            configuration.timeout.read = nil
            configuration.decompression = .disabled
            configuration.httpVersion = .http1Only
            if let authorities {
                var security = TLSConfiguration.makeClientConfiguration()
                security.trustRoots = .certificates(authorities.certificates)
                configuration.tlsConfiguration = security
            }
            // The pool must never be what waits. A proxy stands for many hosts; the server bounds how many requests it relays.
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
                pool.isForRelays ? 1 << 20 : max(connections, exit.proxy == nil ? 0 : 256)
            configuration.connectionPool.idleTimeout = .seconds(60)
            // Retrying is the engine's business: it knows who waits and for how long.
            configuration.connectionPool.retryConnectionEstablishment = false
            if case .tunnel(let proxy) = exit {
                configuration.proxy =
                    switch proxy.kind {
                    case .http:
                        .server(host: proxy.host, port: proxy.port, authorization: proxy.authorization)
                    case .socks: .socksServer(host: proxy.host, port: proxy.port)
                    }
            }
            let receiveBuffer = receiveBuffer
            let guarding = exit == .direct(isTrusted: false) ? AddressGuard(rules: rules) : nil
            let isRelay = if case .relay = exit { true } else { false }
            let listeners = listeners
            configuration.http1_1ConnectionDebugInitializer = { channel in
                do {
                    try OriginExits.hear([StatusGuard(), AnswerTap(listeners)], on: channel)
                    if isRelay { try AbsoluteTargets.add(to: channel) }
                } catch {
                    return channel.eventLoop.makeFailedFuture(error)
                }
                let checked = guarding?.check(channel) ?? channel.eventLoop.makeSucceededVoidFuture()
                return checked.flatMap { OriginExits.tune(channel, receiveBuffer) }
            }
            return configuration
        }

        /// Has handlers see what the decoder of the library's pipeline makes of an answer, in this order, before the library
        /// does. Runs on the channel's event loop.
        private static func hear(_ handlers: [any ChannelHandler], on channel: any Channel) throws {
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.context(handlerType: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try pipeline.addHandlers(handlers, position: .after(decoder.handler))
        }

        private static func tune(_ channel: any Channel, _ receiveBuffer: Int?) -> EventLoopFuture<Void> {
            // What has come is read at once: every piece costs a turn through the engine. Two of these are no more
            // than four of the default's, which may be read before the engine is asked.
            let pieces = AdaptiveRecvByteBufferAllocator(minimum: 4096, initial: 64 * 1024, maximum: 128 * 1024)
            let option = ChannelOptions.Types.SocketOption.Value(receiveBuffer ?? 0)
            return channel.setOption(.recvAllocator, value: pieces)
                .flatMap { channel.setOption(.maxMessagesPerRead, value: 2) }
                .flatMap {
                    guard receiveBuffer != nil else { return channel.eventLoop.makeSucceededVoidFuture() }
                    return channel.setOption(.socketOption(.so_rcvbuf), value: option)
                }
                .flatMapError { _ in channel.eventLoop.makeSucceededVoidFuture() }
        }
    }

    extension UpstreamProxy {
        /// What proves to the proxy who asks.
        var authorization: HTTPClient.Authorization? {
            credentials.map { .basic(username: $0.user, password: $0.password) }
        }
    }
#endif
