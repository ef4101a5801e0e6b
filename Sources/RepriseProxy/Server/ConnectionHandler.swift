#if Proxy
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform
    import Synchronization

    /// One client connection: takes requests one after the other, answers each through a `BodySender`.
    ///
    ///     waiting --head--> answering --done--> waiting            pipelined heads queue up meanwhile
    ///        |                 |
    ///        +---- closed <----+   the client left: the reader leaves, the planner does the rest
    ///
    /// Runs on its channel's event loop; makes no blocking call.
    final class ConnectionHandler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let server: ProxyServer
        private var context: ChannelHandlerContext?
        private var queue: [HTTPRequestHead] = []
        private var current: BodySender?
        private var isAnswering = false
        private var closesAfterAnswer = false
        /// Something came that is not HTTP; nothing behind it can be understood.
        private var hasNonsense = false
        private var idleTimer: Scheduled<Void>?
        private var slowTimer: Scheduled<Void>?

        /// Requests a client may send ahead; then nothing more is read until one is answered.
        private static let pipelineLimit = 16

        init(server: ProxyServer) { self.server = server }

        // MARK: Connection

        func channelActive(context: ChannelHandlerContext) {
            self.context = context
            guard server.admit(context.channel) else {
                closesAfterAnswer = true
                send(ServerExchange.plain(503, "too many connections", now: SystemCalls.wallClock()), to: nil)
                return
            }
            startIdleTimer()
        }

        func channelInactive(context: ChannelHandlerContext) {
            idleTimer?.cancel()
            slowTimer?.cancel()
            current?.leave()
            current = nil
            queue = []
            self.context = nil
            server.forget(context.channel)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if error is HTTPParserError {
                // What was understood before is answered first.
                hasNonsense = true
                if !isAnswering { answerNext() }
                return
            }
            // A client that goes away is everyday.
            context.close(promise: nil)
        }

        private func refuseNonsense() {
            closesAfterAnswer = true
            let text = "the request is not HTTP/1.1 as it should be"
            send(ServerExchange.plain(400, text, now: SystemCalls.wallClock()), to: nil)
        }

        private func startIdleTimer() {
            idleTimer?.cancel()
            idleTimer = context?.eventLoop.assumeIsolated().scheduleTask(
                in: .seconds(Int64(server.configuration.idleTimeout))
            ) { [weak self] in
                guard let self, !self.isAnswering else { return }
                self.context?.close(promise: nil)
            }
        }

        /// Finishes what is being answered, takes nothing more.
        func drain() {
            closesAfterAnswer = true
            queue = []
            if !isAnswering { context?.close(promise: nil) }
        }

        // MARK: Requests

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                guard !hasNonsense else { return }
                queue.append(head)
                if queue.count >= ConnectionHandler.pipelineLimit { setReading(false) }
            case .body: break  // bodies of GET and HEAD mean nothing (RFC 9110 §9.3.1)
            case .end: answerNext()
            }
        }

        private func setReading(_ isReading: Bool) {
            guard let channel = context?.channel else { return }
            channel.setOption(.autoRead, value: isReading).whenComplete { _ in }
        }

        private func answerNext() {
            guard !isAnswering, let context else { return }
            if queue.isEmpty {
                if hasNonsense, !closesAfterAnswer { refuseNonsense() }
                return
            }
            idleTimer?.cancel()
            let head = queue.removeFirst()
            if queue.count == ConnectionHandler.pipelineLimit - 1 { setReading(true) }
            isAnswering = true
            let isDraining = server.isDraining.load(ordering: .relaxed)
            closesAfterAnswer = closesAfterAnswer || !head.isKeepAlive || isDraining
            let fields = HTTPFields(head.headers.map { ($0.name, $0.value) })
            let now = SystemCalls.wallClock()
            if let reason = server.rules.refusal(fields) {
                return send(ServerExchange.plain(403, reason, now: now), to: head)
            }
            switch RequestTarget(head.uri, token: server.configuration.token) {
            case .health:
                send(ServerExchange.plain(isDraining ? 503 : 200, isDraining ? "draining" : "ok", now: now), to: head)
            case .forbidden:
                send(ServerExchange.plain(403, "the URL does not carry this proxy's token", now: now), to: head)
            case .unknown(let reason): send(ServerExchange.plain(404, reason, now: now), to: head)
            case .media(let url): serve(url, head, fields, context, now)
            }
        }

        private func serve(
            _ url: OriginURL, _ head: HTTPRequestHead, _ fields: HTTPFields, _ context: ChannelHandlerContext,
            _ now: Int64
        ) {
            switch head.method {
            case .OPTIONS: return send(ServerExchange.options(now: now), to: head)
            case .GET, .HEAD: break
            default:
                var answer = ServerExchange.plain(405, "only \(ServerExchange.methods)", now: now)
                answer.fields["Allow"] = ServerExchange.methods
                return send(answer, to: head)
            }
            let exchange = ServerExchange(method: head.method.rawValue, fields: fields)
            let resource = server.cache.resource(for: url, fields: ServerExchange.forwarded(fields))
            let sender = BodySender(
                exchange: exchange, handle: resource.makeHandle(in: exchange.presumedRange), context: context,
                slowClientTimeout: server.configuration.slowClientTimeout, queues: server.cache.environment.queues
            ) { [weak self] outcome in
                self?.finished(outcome, head)
            } onHead: { [weak self] answer in
                self?.writeHead(answer, to: head)
            }
            current = sender
            sender.start()
        }

        func channelWritabilityChanged(context: ChannelHandlerContext) {
            current?.pump()
            context.fireChannelWritabilityChanged()
        }

        // MARK: Answers

        private func writeHead(_ answer: ServerExchange.Answer, to request: HTTPRequestHead?) {
            guard let context else { return }
            // HTTP/1.0 knows no chunks: a body without a length ends with the connection.
            let isOld = request.map { $0.version == .http1_0 || $0.version.major == 0 } ?? false
            let version = isOld && !answer.isDelimited ? HTTPVersion.http1_0 : .http1_1
            if isOld, !answer.isDelimited { closesAfterAnswer = true }
            var headers = HTTPHeaders(answer.fields.lines.map { ($0.name, $0.value) })
            if !answer.isDelimited, !isOld, request?.method != .HEAD {
                headers.replaceOrAdd(name: "Transfer-Encoding", value: "chunked")
            }
            if closesAfterAnswer { headers.replaceOrAdd(name: "Connection", value: "close") }
            if isOld, !closesAfterAnswer { headers.replaceOrAdd(name: "Connection", value: "keep-alive") }
            let head = HTTPResponseHead(
                version: version, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
        }

        /// Sends an answer that is a head and at most a line of text.
        private func send(_ answer: ServerExchange.Answer, to request: HTTPRequestHead?) {
            guard let context else { return }
            isAnswering = true
            var answer = answer
            let body = answer.text.map { $0 + "\n" } ?? ""
            if answer.status != 204, answer.status != 304 {
                answer.fields["Content-Length"] = "\(body.utf8.count)"
                if !body.isEmpty { answer.fields["Content-Type"] = "text/plain; charset=utf-8" }
            }
            writeHead(answer, to: request)
            if !body.isEmpty, request?.method != .HEAD {
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
            }
            finished(.complete)
        }

        /// The last byte of an answer was taken by the kernel: only now the next request's turn has come.
        private func answerHasLeft() {
            slowTimer?.cancel()
            guard let context else { return }
            if closesAfterAnswer { return context.close(promise: nil) }
            isAnswering = false
            startIdleTimer()
            answerNext()
        }

        /// The end of an answer waits for the client no longer than its middle does.
        private func startSlowTimer() {
            slowTimer = context?.eventLoop.assumeIsolated().scheduleTask(
                in: .seconds(Int64(server.configuration.slowClientTimeout))
            ) { [weak self] in
                self?.context?.close(promise: nil)
            }
        }

        private func finished(_ outcome: BodySender.Outcome, _ request: HTTPRequestHead? = nil) {
            guard let context else { return }
            current = nil
            switch outcome {
            case .text(let answer):
                return send(answer, to: request)
            case .complete:
                let promise = context.eventLoop.makePromise(of: Void.self)
                let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
                promise.futureResult.whenComplete { _ in bound.value.answerHasLeft() }
                startSlowTimer()
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: promise)
            case .broken:
                // The head promised bytes that cannot be had: only a closed connection tells so.
                context.close(promise: nil)
            }
        }
    }
#endif
