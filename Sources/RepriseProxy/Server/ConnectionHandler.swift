#if Proxy
    import NIOCore
    import NIOPosix
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform
    import Synchronization

    /// One client connection: does what its `ConnectionStateMachine` decides, and has each request answered by an `AnswerSource`.
    ///
    /// Runs on its channel's event loop; makes no blocking call.
    final class ConnectionHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = IOData

        let server: ProxyServer
        var context: ChannelHandlerContext?
        var machine: ConnectionStateMachine
        let standing = SharedStanding(.waiting(since: ConnectionHandler.now))
        var current: (any AnswerSource)?
        var deadline: ConnectionDeadline?

        /// Made with the first answer, as many clients stay long before they ask.
        private var ownWriter: AnswerWriter?
        private var unread = ByteBuffer()
        /// What the last request asked for, if it was media.
        private var lastMedia: MediaResource?
        private var isReading = true
        /// The latest that a client which is told the end has to close; `nil` before that.
        var lingersUntil: NIODeadline?
        /// Whether each way of closing the connection resets it: the body ends with the connection, and has not left whole, so that an
        /// orderly end would make a part of it the whole (RFC 9112 §8).
        var resetsAtClose = false {
            didSet {
                guard resetsAtClose != oldValue, let options = context?.channel as? any SocketOptionProvider else {
                    return
                }
                _ = options.setSoLinger(resetsAtClose ? SystemCalls.resetsAtClose : SystemCalls.endsAtClose)
            }
        }
        private var isTurning = false

        init(server: ProxyServer) {
            self.server = server
            machine = ConnectionStateMachine(headLimit: server.configuration.headLimit)
        }

        /// What writes its answers; `nil` where the client is gone.
        var writer: AnswerWriter? {
            if ownWriter == nil, let context { ownWriter = AnswerWriter(context) }
            return ownWriter
        }

        /// Nanoseconds of the clock that standings are told on.
        static var now: Int64 { SystemCalls.monotonicNanoseconds() }

        // MARK: Connection

        func channelActive(context: ChannelHandlerContext) {
            self.context = context
            deadline = ConnectionDeadline(on: context.eventLoop, of: server)
            switch server.admit(context.channel, standing) {
            case .admitted: break
            case .refused: machine.hasNoPlace()
            case .dropped: return context.close(promise: nil)
            }
            turn()
        }

        func channelInactive(context: ChannelHandlerContext) {
            deadline?.end()
            current?.leave()
            current = nil
            ownWriter = nil
            self.context = nil
            server.forget(context.channel)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            // A client that goes away is everyday.
            context.close(promise: nil)
        }

        /// Finishes what is being answered, takes nothing more.
        func drain() {
            if machine.drain() { context?.close(promise: nil) }
        }

        func channelWritabilityChanged(context: ChannelHandlerContext) {
            current?.pump()
            context.fireChannelWritabilityChanged()
        }

        // MARK: Requests

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !machine.isDeaf else {
                if lingersUntil != nil { linger() }
                return
            }
            var bytes = unwrapInboundIn(data)
            if unread.readableBytes == 0 { unread = bytes } else { unread.writeBuffer(&bytes) }
            turn()
        }

        /// Reads what has come and answers what is there, as far as it goes now.
        func turn() {
            // An answer may leave while it is made; the loop below goes on with the next.
            guard !isTurning else { return }
            isTurning = true
            repeat { readRequests() } while takeStep()
            isTurning = false
            startWaiting()
        }

        func readRequests() {
            guard let context else { return }
            var bytes = unread.readableBytesView
            while relay?.isFull != true, let reading = machine.read(&bytes) {
                switch reading {
                case .head(let head):
                    let hasPlace = machine.hasPlace || server.admit(context.channel, standing) == .admitted
                    machine.begin(head, isRelayed: isRelayed(head), hasPlace: hasPlace)
                case .body(let bytes): relay?.bodyCame(bytes)
                case .bodyEnded: relay?.bodyEnded()
                case .bodyBroke(let refusal): relay?.bodyBroke(refusal)
                }
            }
            if machine.isDeaf || bytes.isEmpty {
                unread = ByteBuffer()
            } else {
                unread.moveReaderIndex(to: bytes.startIndex)
            }
            setReading(unread.readableBytes == 0)
        }

        private func route(_ head: RequestHead, isDraining: Bool = false, now: Int64 = 0) -> RequestRoute {
            RequestRoute(
                head, rules: server.rules, role: server.role, sendsEveryMethod: server.sendsEveryMethod,
                isDraining: isDraining, now: now)
        }

        /// Which of these fields of a request go on to its origin.
        func forwarded(_ fields: HTTPFields, of head: RequestHead) -> HTTPFields {
            server.role.forwarded(fields, minorVersion: head.minorVersion)
        }

        /// Whether a request is to be passed on with its body; that of one that is refused is not held.
        private func isRelayed(_ head: RequestHead) -> Bool {
            guard server.role.relays(head.method) else { return false }
            if case .relay = route(head) { return true }
            return false
        }

        /// What passes the request on that is being answered, with its body.
        var relay: RequestRelay? { current as? RequestRelay }

        private func setReading(_ isReading: Bool) {
            guard isReading != self.isReading, let channel = context?.channel else { return }
            self.isReading = isReading
            channel.setOption(.autoRead, value: isReading).whenComplete { _ in }
        }

        /// Does what is to be done now; `false` where that is nothing more.
        private func takeStep() -> Bool {
            let isDraining = server.isDraining.load(ordering: .relaxed)
            guard context != nil, let step = machine.next(isDraining: isDraining) else { return false }
            switch step {
            case .answer(let request): answer(request, isDraining: isDraining)
            case .refuse(let refusal, let head):
                if let limit = ClientLimit(refusal: refusal.status) { server.limits.met(limit) }
                send(ServerExchange.plain(refusal.status, refusal.reason, now: SystemCalls.wallClock()), to: head)
            case .sendContinue: sendContinue()
            }
            return true
        }

        private func answer(_ request: ConnectionStateMachine.Request, isDraining: Bool) {
            let head = request.head
            if request.isRepetition, let lastMedia { return serve(lastMedia, head) }
            lastMedia = nil
            switch route(head, isDraining: isDraining, now: SystemCalls.wallClock()) {
            case .answer(let answer): send(answer, to: head)
            case .media(let url):
                if server.role.edge != nil, head.method == "HEAD", server.sendsEveryMethod {
                    return serveHead(url, head)
                }
                let fields = forwarded(head.fields, of: head)
                let resource = server.cache.resource(for: url, fields: fields).withAnyAnswer(for: fields)
                lastMedia = resource
                serve(resource, head)
            case .relay(let url): pass(head, request.body, to: url)
            }
        }

        // MARK: Waiting

        private func startWaiting() {
            let configuration = server.configuration
            guard context != nil,
                let wait = machine.startWaiting(
                    idleTimeout: configuration.idleTimeout, requestTimeout: configuration.requestTimeout)
            else { return }
            standing.value = .waiting(since: ConnectionHandler.now)
            guard let forgetsAfter = wait.forgetsAfter else {
                deadline?.set(wait.limit) { [weak self] in self?.waitedTooLong() }
                return
            }
            deadline?.set(forgetsAfter) { [weak self] in
                self?.forget()
                self?.deadline?.set(wait.limit - forgetsAfter) { self?.waitedTooLong() }
            }
        }

        private func waitedTooLong() {
            guard machine.waitedTooLong() else { return turn() }
            server.limits.met(.idleTimeout)
            context?.close(promise: nil)
        }

        /// Lets go of what only makes the next answer quicker.
        private func forget() {
            lastMedia = nil
            machine.forget()
            if ownWriter?.hasEnded == true { ownWriter = nil }
        }
    }
#endif
