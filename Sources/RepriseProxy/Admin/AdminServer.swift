#if Proxy
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import RepriseHTTP
    import ReprisePlatform

    /// The listener administrators and the command-line tool talk to: a Unix socket, or a port of loopback. It is never
    /// the one that serves media.
    ///
    /// Every request but `/health` has to carry the secret, as `Authorization: Bearer SECRET`: one without is refused before
    /// its body is read. One request a connection, whole within `requestTimeout`. Beyond `connectionLimit` a connection that has
    /// not shown the secret gives way, the oldest first.
    package final class AdminServer: Sendable {
        /// Where it listens.
        package enum Address: Sendable, Hashable {
            case unix(path: String)
            case tcp(host: String, port: Int)
        }

        /// Where it listens; with the port that the system chose.
        package let address: Address
        private let group: MultiThreadedEventLoopGroup
        private let listener: any Channel
        private let isStopped = Lock(false)

        /// Connections at a time: each command of the tool has one, and none is open without a request.
        package static let connectionLimit = 64

        private init(address: Address, group: MultiThreadedEventLoopGroup, listener: any Channel) {
            self.address = address
            self.group = group
            self.listener = listener
        }

        /// Begins to listen.
        /// - Parameter requestTimeout: Seconds that a request may take to come.
        /// - Throws: What the system says where the address cannot be listened on.
        package static func start(
            _ service: AdminService, at address: Address, secret: String, requestTimeout: Int64 = 10
        ) async throws -> AdminServer {
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            let open = OpenConnections()
            let bootstrap = ServerBootstrap(group: group)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        guard open.admit(channel) else { return channel.close(promise: nil) }
                        let pipeline = channel.pipeline.syncOperations
                        try pipeline.configureHTTPServerPipeline()
                        try pipeline.addHandler(HeadLimitHandler(limit: 32 * 1024))
                        try pipeline.addHandler(
                            AdminHandler(
                                service: service, secret: secret, timeout: .seconds(requestTimeout),
                                open: open))
                    }
                }
            do {
                switch address {
                case .unix(let path):
                    let listener = try await bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true)
                        .get()
                    return AdminServer(address: address, group: group, listener: listener)
                case .tcp(let host, let port):
                    let listener: any Channel
                    do { listener = try await bootstrap.bind(host: host, port: port).get() } catch {
                        throw ListenError(error, host: host, port: port)
                    }
                    let chosen = listener.localAddress?.port ?? port
                    return AdminServer(address: .tcp(host: host, port: chosen), group: group, listener: listener)
                }
            } catch {
                try? await group.shutdownGracefully()
                throw error
            }
        }

        /// Stops listening and closes all connections. A second call does nothing.
        package func stop() async {
            let wasStopped = isStopped.withLock { stopped in
                defer { stopped = true }
                return stopped
            }
            guard !wasStopped else { return }
            try? await listener.close()
            try? await group.shutdownGracefully()
        }
    }

    /// The channels of a listener's connections.
    private final class OpenConnections: Sendable {
        private struct State {
            var table = AdminConnections(limit: AdminServer.connectionLimit)
            var channels: [ObjectIdentifier: any Channel] = [:]
        }

        private let state = Lock(State())

        /// Counts a connection in until it ends; `false` where there is no place for it.
        func admit(_ channel: any Channel) -> Bool {
            let id = ObjectIdentifier(channel)
            let (isAdmitted, ousted) = state.withLock { state -> (Bool, (any Channel)?) in
                let admission = state.table.admit(id)
                if admission == .refused { return (false, nil) }
                state.channels[id] = channel
                guard case .inPlaceOf(let other) = admission else { return (true, nil) }
                return (true, state.channels.removeValue(forKey: other))
            }
            ousted?.close(promise: nil)
            channel.closeFuture.whenComplete { [self] _ in
                state.withLock { state in
                    state.table.leave(id)
                    state.channels[id] = nil
                }
            }
            return isAdmitted
        }

        /// A connection has shown the secret.
        func allow(_ channel: any Channel) { state.withLock { $0.table.allow(ObjectIdentifier(channel)) } }
    }

    /// One connection of an administrator: a request, an answer, the end.
    private final class AdminHandler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let service: AdminService
        private let secret: String
        private let timeout: TimeAmount
        private let open: OpenConnections
        private var head: HTTPRequestHead?
        private var deadline: Scheduled<Void>?
        private var isAnswering = false

        init(service: AdminService, secret: String, timeout: TimeAmount, open: OpenConnections) {
            self.service = service
            self.secret = secret
            self.timeout = timeout
            self.open = open
        }

        func channelActive(context: ChannelHandlerContext) {
            let channel = context.channel
            deadline = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
        }

        func channelInactive(context: ChannelHandlerContext) { deadline?.cancel() }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head) where !isAnswering:
                self.head = head
                // What has no secret is not listened to any further.
                if isAllowed(head) {
                    open.allow(context.channel)
                } else if (try? AdminRequest(method: head.method.rawValue, target: head.uri)) != .health {
                    answer(context)
                }
            case .end where !isAnswering: answer(context)
            case .head, .body, .end: break  // a request has no body that means anything
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        private func answer(_ context: ChannelHandlerContext) {
            guard let head else { return }
            isAnswering = true
            deadline?.cancel()
            let request: AdminRequest
            do throws(AdminRequest.Refusal) {
                request = try AdminRequest(method: head.method.rawValue, target: head.uri)
            } catch {
                return send(isAllowed(head) ? AdminAnswer(error) : .text(401, "the secret is missing"), context)
            }
            guard request == .health || isAllowed(head) else {
                return send(.text(401, "the secret is missing"), context)
            }
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            let (loop, service) = (context.eventLoop, service)
            Task {
                let answer = await service.answer(request)
                loop.execute { bound.value.0.send(answer, bound.value.1) }
            }
        }

        private func isAllowed(_ head: HTTPRequestHead) -> Bool {
            let given = head.headers["Authorization"]
            return given.count == 1 && SecretText.areEqual(given[0], "Bearer " + secret)
        }

        private func send(_ answer: AdminAnswer, _ context: ChannelHandlerContext) {
            var fields: HTTPHeaders = [
                "Date": HTTPDate.format(SystemCalls.wallClock()), "Content-Type": answer.contentType,
                "Content-Length": "\(answer.body.count)", "Cache-Control": "no-store", "Connection": "close",
            ]
            if let allow = answer.allow { fields.add(name: "Allow", value: allow) }
            if answer.status == 401 { fields.add(name: "WWW-Authenticate", value: "Bearer") }
            let head = HTTPResponseHead(
                version: .http1_1, status: .init(statusCode: answer.status), headers: fields)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
            let channel = context.channel
            context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
        }
    }
#endif
