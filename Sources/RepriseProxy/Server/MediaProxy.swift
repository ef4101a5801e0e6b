#if Proxy
    import NIOCore
    import NIOPosix
    public import RepriseCore
    public import RepriseHTTP
    import ReprisePlatform
    import Synchronization

    /// A loopback HTTP server through which any player plays from a cache.
    public final class MediaProxy: Sendable {
        private let server: ProxyServer
        private let group: MultiThreadedEventLoopGroup
        private let listener: any Channel
        private let isStopped = Lock(false)
        /// The port it listens on.
        public let port: Int

        private init(server: ProxyServer, group: MultiThreadedEventLoopGroup, listener: any Channel, port: Int) {
            self.server = server
            self.group = group
            self.listener = listener
            self.port = port
        }

        /// Begins to listen.
        /// - Throws: What the system says where the address cannot be listened on, for example because it is in use.
        public static func start(cache: MediaCache, configuration: ProxyConfiguration = .init()) async throws
            -> MediaProxy
        {
            let group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.threads ?? System.coreCount)
            let server = ProxyServer(cache: cache, configuration: configuration)
            let unsent = configuration.unsentLimit
            let bootstrap = ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 1024)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
                .childChannelOption(
                    ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: SystemCalls.notSentLowWater)),
                    value: unsent
                )
                // Each connection holds one such buffer: most heads fit, and it grows for bodies.
                .childChannelOption(
                    .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 65_536)
                )
                .childChannelOption(.writeBufferWaterMark, value: .init(low: 64 * 1024, high: 256 * 1024))
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        try pipeline.addHandler(ConnectionHandler(server: server))
                    }
                }
            do {
                let (host, port) = (configuration.host, configuration.port)
                let listener: any Channel
                do { listener = try await bootstrap.bind(host: host, port: port).get() } catch {
                    throw ListenError(error, host: host, port: port)
                }
                return MediaProxy(
                    server: server, group: group, listener: listener,
                    port: listener.localAddress?.port ?? configuration.port)
            } catch {
                try? await group.shutdownGracefully()
                throw error
            }
        }

        /// The address under which a player reaches `url` through the cache.
        public func address(for url: OriginURL) -> String {
            base + RequestTarget.target(for: url, token: server.configuration.token)
        }

        /// Where it is reached on this machine, like `http://127.0.0.1:8787`.
        package var base: String { ProxyConfiguration.base(host: server.configuration.host, port: port) }

        /// Stops: takes no more requests, lets answers under way finish for as long as the configuration says, then
        /// closes all connections. A second call does nothing.
        public func stop() async {
            let wasStopped = isStopped.withLock { stopped in
                defer { stopped = true }
                return stopped
            }
            guard !wasStopped else { return }
            try? await listener.close()
            server.drain()
            await server.waitUntilEmpty(seconds: server.configuration.shutdownTimeout)
            server.closeAll()
            try? await group.shutdownGracefully()
        }

        /// Asks balancers to send clients elsewhere: health turns to 503, and connections end with their answers. Whoever
        /// comes all the same is still served, until `stop`.
        public func drain() { server.isDraining.store(true, ordering: .relaxed) }

        /// Client connections now.
        public var connectionCount: Int { server.connectionCount }

        /// Requests that are being forwarded now.
        public var forwardedCount: Int { server.forwarded.count }

        /// How often clients have met each limit since the start.
        public var limitsMet: [ClientLimit: Int] { server.limits.all }
    }

    /// What all connections of a proxy share.
    final class ProxyServer: Sendable {
        /// A connection, as others see it.
        struct Client: Sendable {
            let channel: any Channel
            let standing: SharedStanding
        }

        /// A connection that gives way to another, and what it was seen to do.
        struct Displaced: Sendable {
            let client: Client
            let seen: ConnectionStanding
        }

        private struct State {
            var channels: [ObjectIdentifier: Client] = [:]
            /// Those without a place, which may still ask.
            var refused: Set<ObjectIdentifier> = []
            /// Those that were told so and have time to read it, the first told first.
            var told: [any Channel] = []

            /// Counts one among those without a place, instead of one that was told where there are too many.
            mutating func refuse(_ channel: any Channel, most: Int) -> (Admission, (any Channel)?) {
                guard refused.insert(ObjectIdentifier(channel)).inserted, refused.count + told.count > most else {
                    return (.refused, nil)
                }
                if !told.isEmpty { return (.refused, told.removeFirst()) }
                refused.remove(ObjectIdentifier(channel))
                return (.dropped, nil)
            }
            var onEmpty: (@Sendable () -> Void)?
        }

        let cache: MediaCache
        let configuration: ProxyConfiguration
        /// Connections at a time.
        private let places: Int
        let rules: AccessRules
        let role: ServerRole
        /// Whether what goes to an origin can go by any method.
        let sendsEveryMethod: Bool
        let limits = LimitCounts()
        let forwarded: ForwardedRequests
        /// Whether balancers are told to send clients elsewhere.
        let isDraining = Atomic(false)
        private let state = Lock(State())

        init(cache: MediaCache, configuration: ProxyConfiguration) {
            self.cache = cache
            self.configuration = configuration
            let descriptors = SystemCalls.descriptorLimit
            places = ConnectionLimit.count(wanted: configuration.connectionLimit, descriptors: descriptors)
            forwarded = ForwardedRequests(
                limit: ConnectionLimit.originCount(wanted: configuration.forwardedLimit, descriptors: descriptors))
            role = ServerRole(configuration)
            sendsEveryMethod = cache.environment.failover.sendsEveryMethod
            rules = AccessRules(
                allowedHosts: configuration.allowedHosts + [configuration.host],
                allowedOrigins: configuration.allowedOrigins)
        }

        /// What becomes of a new connection.
        enum Admission {
            case admitted
            /// Every place is taken by one that is served: it is told so when it has asked.
            case refused
            /// So many are being told that already that it is closed at once.
            case dropped
        }

        /// Counts a connection in, in another's place where there are too many and one can give way. One that was refused may
        /// ask again.
        func admit(_ channel: any Channel, _ standing: SharedStanding) -> Admission {
            let (admission, ousted, told) = state.withLock {
                state -> (Admission, Displaced?, (any Channel)?) in
                var ousted: Displaced?
                if state.channels.count >= places {
                    ousted = state.channels.removeLeastNeeded(now: ConnectionHandler.now)
                    if ousted == nil {
                        let (admission, told) = state.refuse(
                            channel, most: ConnectionLimit.refusedCount(places: places))
                        return (admission, nil, told)
                    }
                }
                state.refused.remove(ObjectIdentifier(channel))
                state.channels[ObjectIdentifier(channel)] = Client(channel: channel, standing: standing)
                return (.admitted, ousted, nil)
            }
            // Not under the lock, which its end takes.
            told?.close(promise: nil)
            if let ousted { displace(ousted) }
            switch admission {
            case .admitted: break
            // It counts when it is told so.
            case .refused: break
            case .dropped: limits.met(.connections)
            }
            return admission
        }

        /// Closes a connection that gave its place to another, on its own loop: there it may have got a request meanwhile, or its
        /// client have taken something. Then it keeps its place, and there is one more than the limit.
        private func displace(_ displaced: Displaced) {
            let client = displaced.client
            client.channel.eventLoop.execute {
                guard client.channel.isActive else { return }
                if client.standing.value != displaced.seen {
                    self.state.withLock { $0.channels[ObjectIdentifier(client.channel)] = client }
                } else {
                    self.limits.met(.displaced)
                    client.channel.close(promise: nil)
                }
            }
        }

        /// A place for a request that is to be forwarded, also that of a client which has taken nothing for long; `nil` where there
        /// is none.
        func forward(for client: Client) -> ForwardedRequests.Place? {
            guard let (place, ousted) = forwarded.begin(for: client, now: ConnectionHandler.now) else { return nil }
            if let ousted { displace(ousted) }
            return place
        }

        /// A connection without a place was told so: it may stay until others are to be told.
        func told(_ channel: any Channel) {
            state.withLock { state in
                if state.refused.remove(ObjectIdentifier(channel)) != nil { state.told.append(channel) }
            }
        }

        func forget(_ channel: any Channel) {
            let onEmpty = state.withLock { state -> (@Sendable () -> Void)? in
                state.channels[ObjectIdentifier(channel)] = nil
                state.refused.remove(ObjectIdentifier(channel))
                state.told.removeAll { $0 === channel }
                guard state.channels.isEmpty else { return nil }
                defer { state.onEmpty = nil }
                return state.onEmpty
            }
            onEmpty?()
        }

        private var channels: [any Channel] { state.withLock { $0.channels.values.map(\.channel) } }

        var connectionCount: Int { state.withLock { $0.channels.count } }

        func drain() {
            // One that comes in between is told with its answer.
            isDraining.store(true, ordering: .relaxed)
            for channel in channels {
                channel.eventLoop.execute {
                    let handler = try? channel.pipeline.syncOperations.handler(type: ConnectionHandler.self)
                    handler?.drain()
                }
            }
        }

        func waitUntilEmpty(seconds: Int) async {
            let once = Once()
            await withCheckedContinuation { done in
                let finish: @Sendable () -> Void = { if once.first() { done.resume() } }
                let isEmpty = state.withLock { state in
                    state.onEmpty = finish
                    return state.channels.isEmpty
                }
                if isEmpty { finish() }
                cache.environment.queues.after(Int64(seconds) * 1_000_000_000, finish)
            }
        }

        func closeAll() {
            for channel in channels { channel.close(promise: nil) }
        }
    }

    /// Lets one of several callers be the first.
    private final class Once: Sendable {
        private let isDone = Lock(false)
        func first() -> Bool {
            isDone.withLock { done in
                defer { done = true }; return !done
            }
        }
    }

    extension Dictionary where Value == ProxyServer.Client {
        /// Removes the connection that gives way to another; `nil` where all are busy.
        mutating func removeLeastNeeded(now: Int64) -> ProxyServer.Displaced? {
            let standings = lazy.map { (id: $0.key, standing: $0.value.standing.value) }
            guard let (id, seen) = ConnectionLimit.leastNeeded(of: standings, now: now) else { return nil }
            return removeValue(forKey: id).map { ProxyServer.Displaced(client: $0, seen: seen) }
        }
    }
#endif
