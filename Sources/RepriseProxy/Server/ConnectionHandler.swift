#if Proxy
    import NIOCore
    import NIOPosix
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform
    import Synchronization

    /// Where the answer that is being sent comes from; lives on its connection's event loop.
    protocol AnswerSource {
        /// Does what can be done now: the client has room for more.
        func pump()
        /// The client left, or the answer is over.
        func leave()
    }

    /// One client connection: takes requests one after the other, answers each through a `BodySender`.
    ///
    ///     waiting --request--> answering --done--> waiting            pipelined requests queue up meanwhile
    ///        |                    |
    ///        +------ closed <-----+   the client left: the reader leaves, the planner does the rest
    ///
    /// Runs on its channel's event loop; makes no blocking call.
    final class ConnectionHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = IOData

        let server: ProxyServer
        var context: ChannelHandlerContext?
        let standing = SharedStanding(.waiting(since: ConnectionHandler.now))
        var current: (any AnswerSource)?
        var isAnswering = false
        var closesAfterAnswer = false
        /// What comes is not read any more: it cannot be understood, or nobody wants it.
        var isDeaf = false
        /// Whether it counts among those that are served; one that does not is told so when it has asked.
        var hasPlace = true
        var deadline: ConnectionDeadline?
        var writer: AnswerWriter?

        private var reader: RequestReader
        private var unread = ByteBuffer()
        /// Requests that have come whole, to be answered in order.
        private var queue: [Request] = []
        /// Bytes of bodies in the queue: as long as there are any, nothing more is read.
        private var queuedBytes = 0
        /// The request that is still coming.
        private var incoming: Request?
        /// What the last request asked for, if it was media.
        private var lastMedia: MediaResource?
        private var bodyBytes: Int64 = 0
        private var owesContinue = false
        /// Why nothing behind the queue is answered.
        private var refusal: RequestRefusal?
        private var isReading = true
        private var isTurning = false
        /// What the timer runs for; `nil` where it does not run for a request.
        private var awaited: Awaited?

        private struct Request {
            var head: RequestHead
            /// Whether it asks for the same as the one before it, but for the range.
            var isRepetition: Bool
            /// Whether it is to be passed on, with its body.
            var isRelayed = false
            var body: [UInt8] = []
        }

        private enum Awaited { case request, restOfRequest }

        /// Requests a client may send ahead; then nothing more is read until one is answered.
        private static let pipelineLimit = 16
        private static let noPlace = RequestRefusal(503, "too many connections; ask again in a moment")
        /// After so many seconds without a request a client has paused: what it asked last is not worth its memory.
        private static let idleAfter = 5
        /// Seconds that a client without a place has to ask, before it is told all the same.
        private static let refusalTimeout = 2

        init(server: ProxyServer) {
            self.server = server
            reader = RequestReader(headLimit: server.configuration.headLimit)
        }

        /// Nanoseconds of the clock that standings are told on.
        static var now: Int64 { SystemCalls.monotonicNanoseconds() }

        // MARK: Connection

        func channelActive(context: ChannelHandlerContext) {
            self.context = context
            deadline = ConnectionDeadline(on: context.eventLoop, of: server)
            writer = AnswerWriter(context)
            switch server.admit(context.channel, standing) {
            case .admitted: break
            case .refused: hasPlace = false
            case .dropped: return context.close(promise: nil)
            }
            turn()
        }

        func channelInactive(context: ChannelHandlerContext) {
            deadline?.end()
            current?.leave()
            current = nil
            queue = []
            writer = nil
            self.context = nil
            server.forget(context.channel)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            // A client that goes away is everyday.
            context.close(promise: nil)
        }

        /// Finishes what is being answered, takes nothing more.
        func drain() {
            closesAfterAnswer = true
            queue = []
            queuedBytes = 0
            if !isAnswering { context?.close(promise: nil) }
        }

        func channelWritabilityChanged(context: ChannelHandlerContext) {
            current?.pump()
            context.fireChannelWritabilityChanged()
        }

        // MARK: Requests

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !isDeaf else { return }
            var bytes = unwrapInboundIn(data)
            if unread.readableBytes == 0 { unread = bytes } else { unread.writeBuffer(&bytes) }
            turn()
        }

        /// Reads what has come and answers what is there, as far as it goes now.
        func turn() {
            // An answer may leave while it is made; the loop below goes on with the next.
            guard !isTurning else { return }
            isTurning = true
            repeat { readRequests() } while answerNext()
            isTurning = false
            awaitRequest()
        }

        private func readRequests() {
            var bytes = unread.readableBytesView
            while !isDeaf, queue.count < ConnectionHandler.pipelineLimit, queuedBytes == 0,
                let event = reader.read(&bytes)
            {
                if case .body(let count) = event, incoming?.isRelayed == true {
                    incoming?.body += unread.getBytes(at: bytes.startIndex - count, length: count) ?? []
                }
                take(event)
            }
            if isDeaf || bytes.isEmpty { unread = ByteBuffer() } else { unread.moveReaderIndex(to: bytes.startIndex) }
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

        private func take(_ event: RequestReader.Event) {
            switch event {
            case .head where !hasPlace: refuse(ConnectionHandler.noPlace)
            case .head(let head):
                let isRelayed = isRelayed(head)
                incoming = Request(head: head, isRepetition: reader.isRepetition, isRelayed: isRelayed)
                bodyBytes = 0
                switch RequestIntake(head, isRelayed: isRelayed) {
                case .whole: break
                case .wholeAfterContinue: owesContinue = true
                case .headAlone:
                    queue.append(Request(head: head, isRepetition: false))
                    incoming = nil
                    isDeaf = true
                case .refused(let reason): refuse(reason)
                }
            case .body(let count):
                owesContinue = false
                bodyBytes += Int64(count)
                let isRelayed = incoming?.isRelayed ?? false
                if bodyBytes > (isRelayed ? RequestIntake.relayedBodyLimit : RequestIntake.bodyLimit) {
                    refuse(RequestIntake.tooLarge(isRelayed: isRelayed))
                }
            case .end:
                owesContinue = false
                if let incoming {
                    queue.append(incoming)
                    queuedBytes += incoming.body.count
                }
                incoming = nil
            case .refused(let reason): refuse(reason)
            }
        }

        /// What was understood before is answered first.
        private func refuse(_ reason: RequestRefusal) {
            refusal = reason
            if let limit = ClientLimit(refusal: reason.status) { server.limits.met(limit) }
            incoming = nil
            isDeaf = true
        }

        private func setReading(_ isReading: Bool) {
            guard isReading != self.isReading, let channel = context?.channel else { return }
            self.isReading = isReading
            channel.setOption(.autoRead, value: isReading).whenComplete { _ in }
        }

        /// Begins the next answer where its turn has come; `false` where there is nothing to answer now.
        private func answerNext() -> Bool {
            guard !isAnswering, let context else { return false }
            let now = SystemCalls.wallClock()
            // An answer may leave at once: what is waited for then is another request.
            if !queue.isEmpty { awaited = nil }
            guard !queue.isEmpty else {
                if let refusal {
                    self.refusal = nil
                    closesAfterAnswer = true
                    send(ServerExchange.plain(refusal.status, refusal.reason, now: now), to: nil)
                } else if owesContinue {
                    owesContinue = false
                    sendContinue(context)
                }
                return false
            }
            let request = queue.removeFirst()
            queuedBytes -= request.body.count
            let head = request.head
            let isDraining = server.isDraining.load(ordering: .relaxed)
            // After an answer at once, nobody knows what the client still sends.
            let hasMissed = isDeaf && queue.isEmpty && refusal == nil
            closesAfterAnswer = closesAfterAnswer || !head.isKeepAlive || hasMissed || isDraining
            if request.isRepetition, let lastMedia {
                serve(lastMedia, head, context)
                return true
            }
            lastMedia = nil
            switch route(head, isDraining: isDraining, now: now) {
            case .answer(let answer): send(answer, to: head)
            case .media(let url):
                let fields = forwarded(head.fields, of: head)
                if server.role.edge != nil, head.method == "HEAD", server.sendsEveryMethod {
                    serveHead(url, fields, head, context)
                    return true
                }
                let resource = server.cache.resource(for: url, fields: fields).withAnyAnswer
                lastMedia = resource
                serve(resource, head, context)
            case .relay(let url): pass(head, request.body, to: url, context)
            }
            return true
        }

        // MARK: Waiting

        private func awaitRequest() {
            guard !isAnswering, !isDeaf, context != nil else {
                awaited = nil
                return
            }
            let isInside = incoming != nil || reader.isInsideRequest
            let awaited: Awaited = isInside ? .restOfRequest : .request
            guard awaited != self.awaited else { return }
            self.awaited = awaited
            standing.value = .waiting(since: ConnectionHandler.now)
            let configuration = server.configuration
            let mostIdle = hasPlace ? configuration.idleTimeout : ConnectionHandler.refusalTimeout
            let most = isInside ? min(configuration.requestTimeout, mostIdle) : mostIdle
            let first = isInside ? most : min(most, ConnectionHandler.idleAfter)
            deadline?.set(first) { [weak self] in
                guard let self, !self.isAnswering else { return }
                guard first < most else { return self.waitedTooLong(isInside: isInside) }
                self.forget()
                self.deadline?.set(most - first) { [weak self] in
                    guard let self, !self.isAnswering else { return }
                    self.waitedTooLong(isInside: isInside)
                }
            }
        }

        private func waitedTooLong(isInside: Bool) {
            switch (hasPlace, isInside) {
            case (false, _): refuse(ConnectionHandler.noPlace)
            case (true, true): refuse(RequestRefusal(408, "the request took too long to come"))
            case (true, false):
                server.limits.met(.idleTimeout)
                context?.close(promise: nil)
                return
            }
            turn()
        }

        /// Lets go of what only makes the next answer quicker.
        private func forget() {
            lastMedia = nil
            reader.forget()
            writer?.forget()
        }
    }
#endif
