#if Proxy
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import RepriseCore
    import RepriseHTTP
    import RepriseRanges
    public import RepriseTesting
    import ReprisePlatform
    import Synchronization

    /// A scripted origin on a real socket of this machine: for tests of clients, servers and players, and for demos.
    ///
    /// Body bytes are counted when the kernel has taken them; the socket's send buffer is kept small so that the
    /// count stays near what a client has read.
    public final class LoopbackOrigin: Sendable {
        /// What is served, and how.
        public let origin: ScriptedOrigin
        /// The port it listens on.
        public let port: Int
        private let group: MultiThreadedEventLoopGroup
        private let listener: Lock<(any Channel)?>
        private let connections: Connections

        private init(
            origin: ScriptedOrigin, port: Int, group: MultiThreadedEventLoopGroup, listener: any Channel,
            connections: Connections
        ) {
            self.origin = origin
            self.port = port
            self.group = group
            self.listener = Lock(listener)
            self.connections = connections
        }

        /// Begins to listen on 127.0.0.1.
        /// - Parameter port: 0 lets the system choose.
        public static func start(_ origin: ScriptedOrigin, port: Int = 0) async throws -> LoopbackOrigin {
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            let connections = Connections()
            let bootstrap = ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
                .childChannelOption(.socketOption(.so_sndbuf), value: 64 * 1024)
                .childChannelOption(.writeBufferWaterMark, value: .init(low: 16 * 1024, high: 64 * 1024))
                .childChannelInitializer { channel in
                    connections.add(channel)
                    return channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        try pipeline.configureHTTPServerPipeline(
                            withPipeliningAssistance: true, withErrorHandling: true)
                        try pipeline.addHandler(OriginHandler(origin: origin))
                    }
                }
            let listener: any Channel
            do { listener = try await bootstrap.bind(host: "127.0.0.1", port: port).get() } catch {
                try? await group.shutdownGracefully()
                throw error
            }
            return LoopbackOrigin(
                origin: origin, port: listener.localAddress?.port ?? port, group: group, listener: listener,
                connections: connections)
        }

        /// The URL of the object at `path`.
        public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

        /// Connections accepted so far.
        public var acceptedConnections: Int { connections.accepted }

        /// Cuts off what is under way; further connections are accepted.
        public func disconnect() { connections.closeAll() }

        /// Goes away: connections are closed and new ones refused.
        public func stop() async {
            let channel = listener.withLock { listener in
                defer { listener = nil }
                return listener
            }
            try? await channel?.close()
            connections.closeAll()
            if channel != nil { try? await group.shutdownGracefully() }
        }
    }

    private final class Connections: Sendable {
        private let channels = Lock<[ObjectIdentifier: any Channel]>([:])
        private let count = Atomic(0)

        var accepted: Int { count.load(ordering: .relaxed) }

        func add(_ channel: any Channel) {
            count.add(1, ordering: .relaxed)
            channels.withLock { $0[ObjectIdentifier(channel)] = channel }
            channel.closeFuture.whenComplete { _ in
                self.channels.withLock { $0[ObjectIdentifier(channel)] = nil }
            }
        }

        func closeAll() {
            for channel in channels.withLock({ Array($0.values) }) { channel.close(promise: nil) }
        }
    }

    private final class OriginHandler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let origin: ScriptedOrigin
        private var head: HTTPRequestHead?
        private var body: [UInt8] = []
        private var steps: [ScriptedAnswer.Step] = []
        private var resource: ScriptedOrigin.Resource?
        private var rate: Int64 = 0
        private var framing = OriginBehaviour.Framing.length
        private var trailers: HTTPHeaders?
        private var isPlaying = false
        private var isWaiting = false

        init(origin: ScriptedOrigin) { self.origin = origin }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                self.head = head
                body = []
            case .body(let bytes): body += bytes.readableBytesView
            case .end: answer(context)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelWritabilityChanged(context: ChannelHandlerContext) {
            if context.channel.isWritable { play(context) }
        }

        private func answer(_ context: ChannelHandlerContext) {
            guard let head, !origin.isDown else { return context.close(promise: nil) }
            let fields = HTTPFields(head.headers.map { ($0.name, $0.value) })
            let answer = origin.answer(method: head.method.rawValue, target: head.uri, fields: fields, body: body)
            resource = origin.resource(at: String(head.uri.upTo("?")))
            for interim in answer.interim {
                let fields = HTTPHeaders(interim.fields)
                let head = HTTPResponseHead(
                    version: .http1_1, status: .init(statusCode: interim.status), headers: fields)
                context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
            }
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: .nanoseconds(answer.delay)) {
                let (handler, context) = bound.value
                handler.begin(answer, head, context)
            }
        }

        private func begin(_ answer: ScriptedAnswer, _ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
            var headers = HTTPHeaders(answer.fields)
            if answer.framing == .close {
                headers.replaceOrAdd(name: "Connection", value: "close")
                headers.replaceOrAdd(name: "Transfer-Encoding", value: "identity")
                headers.remove(name: "Transfer-Encoding")
            }
            // A version of 1.0 keeps the encoder from chunking a body that ends with the connection.
            let version: HTTPVersion = answer.framing == .close ? .http1_0 : .http1_1
            let head = HTTPResponseHead(version: version, status: .init(statusCode: answer.status), headers: headers)
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
            steps = request.method == .HEAD ? [] : answer.steps
            rate = answer.bytesPerSecond
            framing = answer.framing
            trailers = answer.trailers.isEmpty ? nil : HTTPHeaders(answer.trailers)
            isPlaying = true
            closesAfter = answer.framing == .close || !request.isKeepAlive
            play(context)
        }

        private var closesAfter = false

        private func play(_ context: ChannelHandlerContext) {
            while isPlaying, !isWaiting, context.channel.isWritable {
                guard let step = steps.first else { return finish(context) }
                switch step {
                case .content(let range):
                    let part = ByteRange(offset: range.lowerBound, count: min(range.count, pieceSize))
                    let left = ByteRange(part.upperBound, range.upperBound)
                    if left.isEmpty { steps.removeFirst() } else { steps[0] = .content(left) }
                    write(resource?.bytes(in: part) ?? [], context)
                case .literal(let bytes):
                    steps.removeFirst()
                    write(bytes, context)
                case .stall:
                    isPlaying = false
                case .reset:
                    isPlaying = false
                    context.flush()
                    // Lingering for no time makes the close a reset.
                    let channel = context.channel
                    let now = linger(l_onoff: 1, l_linger: 0)
                    let isSet = (channel as? any SocketOptionProvider)?.setSoLinger(now)
                    (isSet ?? channel.eventLoop.makeSucceededVoidFuture()).whenComplete { _ in
                        channel.close(promise: nil)
                    }
                }
            }
        }

        // Throttled bodies go out in steps of about 10 ms, so that a rate is smooth.
        private var pieceSize: Int64 { rate > 0 ? max(512, min(rate / 100, 64 * 1024)) : 64 * 1024 }

        private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
            guard !bytes.isEmpty else { return }
            let origin = origin
            let count = bytes.count
            let promise = context.eventLoop.makePromise(of: Void.self)
            promise.futureResult.whenSuccess { origin.countSent(count) }
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: promise)
            guard rate > 0 else { return }
            isWaiting = true
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: .nanoseconds(Int64(count) * 1_000_000_000 / rate)) {
                let (handler, context) = bound.value
                handler.isWaiting = false
                handler.play(context)
            }
        }

        private func finish(_ context: ChannelHandlerContext) {
            isPlaying = false
            let channel = context.channel
            let closes = closesAfter
            let promise = context.eventLoop.makePromise(of: Void.self)
            promise.futureResult.whenComplete { _ in if closes { channel.close(promise: nil) } }
            context.writeAndFlush(wrapOutboundOut(.end(trailers)), promise: promise)
        }
    }

    extension HTTPHeaders {
        fileprivate init(_ fields: HTTPFields) { self.init(fields.lines.map { ($0.name, $0.value) }) }
    }
#endif
