#if Proxy
    import NIOCore
    import RepriseCore
    import RepriseHTTP
    import RepriseRanges
    import ReprisePlatform

    /// Passes one request on to its origin and the answer back; nothing of it is stored. In a shared cache what is stored of the URLs
    /// it may have changed is confirmed before it is used again (RFC 9111 §4.4), before the client hears of the answer. What a HEAD
    /// shows of the answer that is stored counts for that (§4.3.5).
    ///
    ///     asking --head--> invalidating --done--> handing on, a piece whenever the client takes one --end--> over
    ///       |  ^
    ///       +--+ connection lost, once, where the request may be sent again
    ///
    /// Runs on the channel's event loop.
    final class RequestRelay: AnswerSource {
        private let request: OriginRequest
        private let server: ProxyServer
        private let context: ChannelHandlerContext
        private let writer: AnswerWriter
        private let deadline: ConnectionDeadline
        private let onInterim: (OriginResponseHead) -> Void
        private let onHead: (ServerExchange.Answer) -> Void
        private let onFinish: (BodySender.Outcome) -> Void
        /// For HEAD: who looked for a stored answer, and what is done where the origin fails and there is one.
        private let stored: Stored?
        private var sentAt: Int64 = 0
        private var exchange: (any OriginExchange)?
        private var phase = Phase.asking(isSecondTry: false)

        /// Seconds the origin may be silent where what is stored can be asked about in another way, which is patient itself.
        private static let shortPatience = 2

        private enum Phase {
            /// Nothing of an answer has come.
            case asking(isSecondTry: Bool)
            /// The head has come, and what is stored of the URLs that it is about is looked at.
            case invalidating
            /// The client has the head. Whether a piece was asked for and has not come.
            case handingOn(isDemanding: Bool)
            case over
        }

        /// A stored answer that a HEAD may say something of, or that may stand in for an origin which fails.
        struct Stored {
            let handle: ReaderHandle
            /// Fields of the request that choose an answer.
            let fields: HTTPFields
            /// Answers from what is stored, or tells why not.
            let standIn: () -> Void

            /// How the request was handled.
            func outcome(_ status: Int?) -> CacheStatus {
                let known: CacheStatus.Forward = RequestCacheControl(fields).noCache ? .request : .stale
                var outcome = CacheStatus(forward: handle.isKnown ? known : .uriMiss)
                outcome.forwardStatus = status
                return outcome
            }
        }

        init(
            _ request: OriginRequest, stored: Stored?, server: ProxyServer, context: ChannelHandlerContext,
            writer: AnswerWriter, deadline: ConnectionDeadline, onFinish: @escaping (BodySender.Outcome) -> Void,
            onInterim: @escaping (OriginResponseHead) -> Void, onHead: @escaping (ServerExchange.Answer) -> Void
        ) {
            self.request = request
            self.stored = stored
            self.server = server
            self.context = context
            self.writer = writer
            self.deadline = deadline
            self.onFinish = onFinish
            self.onInterim = onInterim
            self.onHead = onHead
        }

        /// Seconds the origin may be silent while something is waited for, as for what the engine asks.
        private var patience: Int {
            max(1, server.cache.configuration.originTimeout)
        }

        func start() {
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            let loop = context.eventLoop
            watch(seconds: stored?.handle.isKnown == true ? min(RequestRelay.shortPatience, patience) : patience)
            sentAt = ConnectionHandler.now
            exchange = server.cache.environment.failover.start(request) { event in
                loop.execute { bound.value.take(event) }
            }
        }

        func leave() {
            phase = .over
            deadline.clear()
            stored?.handle.leave()
            exchange?.cancel()
            exchange = nil
        }

        func pump() {
            guard case .handingOn(isDemanding: false) = phase, context.channel.isWritable else { return }
            phase = .handingOn(isDemanding: true)
            watch(seconds: patience)
            exchange?.demand()
        }

        private func take(_ event: OriginEvent) {
            if case .over = phase { return }
            // Interim answers, of any number, do not make up for it.
            if case .interim = event {} else { deadline.clear() }
            switch event {
            case .interim(let head): onInterim(head)
            case .head(let head):
                phase = .invalidating
                if let stored { answeredHead(head, stored) } else { invalidate(after: head) }
            case .body(let bytes):
                phase = .handingOn(isDemanding: false)
                let buffer = ByteBuffer(bytes: bytes)
                writer.write(body: .byteBuffer(buffer))
                writer.flush()
                if !context.channel.isWritable { watchClient() }
                pump()
            case .end(_, let trailers): finish(.complete(trailers: server.role.told(trailers: trailers)))
            case .failed(let failure): fail(failure)
            }
        }

        private func answeredHead(_ head: OriginResponseHead, _ stored: Stored) {
            if head.status >= 500, standsIn() { return }
            stored.handle.answeredHead(head, to: stored.fields, sentAt: sentAt)
            handOn(head)
        }

        /// Leaves the answer to what is stored, where something is.
        private func standsIn() -> Bool {
            guard let stored, stored.handle.isKnown else { return false }
            leave()
            stored.standIn()
            return true
        }

        private func invalidate(after head: OriginResponseHead) {
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            let loop = context.eventLoop
            let (cache, request) = (server.cache, request)
            Task {
                do throws(CacheError) {
                    try await cache.invalidate(
                        after: request.method, at: request.url, status: head.status, fields: head.fields)
                } catch {
                    // The origin has done it all the same, and its answer is the client's.
                    cache.environment.hub.send(.degraded(key: request.url.description, reason: error.message))
                }
                loop.execute { bound.value.handOn(head) }
            }
        }

        private func handOn(_ head: OriginResponseHead) {
            guard case .invalidating = phase else { return }
            phase = .handingOn(isDemanding: false)
            let isBodyless = head.status == 204 || head.status == 304
            let fields = RelayedAnswer.dated(
                server.role.relayed(head.fields, from: request.url, outcome: outcome(head.status)),
                received: SystemCalls.wallClock())
            var answer = ServerExchange.Answer(status: head.status, fields: fields)
            // It has no body, and no field may say otherwise (RFC 9110 §8.6, RFC 9112 §6.1).
            if head.status == 204 { answer.fields.remove(["Content-Length", "Transfer-Encoding"]) }
            answer.isDelimited = isBodyless || answer.fields.contains("Content-Length")
            onHead(answer)
            writer.flush()
            pump()
        }

        private func fail(_ failure: OriginFailure) {
            switch phase {
            case .handingOn, .over: return finish(.broken)
            case .asking(isSecondTry: false) where request.isIdempotent && failure.isOfConnection:
                phase = .asking(isSecondTry: true)
                return start()
            case .asking, .invalidating: break
            }
            if standsIn() { return }
            let exchange = ServerExchange(
                method: request.method, fields: HTTPFields(), for: request.url, role: server.role)
            let answer = exchange.answer(CacheError(failure), now: SystemCalls.wallClock())
            finish(.text(exchange.told(answer, age: nil, outcome: outcome(nil))))
        }

        private func outcome(_ status: Int?) -> CacheStatus {
            stored?.outcome(status) ?? CacheStatus(forward: .method)
        }

        private func finish(_ outcome: BodySender.Outcome) {
            if case .over = phase { return }
            leave()
            onFinish(outcome)
        }

        private func watch(seconds: Int) {
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            deadline.set(seconds) {
                bound.value.fail(OriginFailure(.timedOut, "the origin was silent for \(seconds) s"))
            }
        }

        private func watchClient() {
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            deadline.setForClient { bound.value.finish(.broken) }
        }
    }

    extension ConnectionHandler {
        /// Answers HEAD through a shared cache: what is stored answers it, else the origin does, and where that fails what is stored
        /// stands in for it as it does for GET.
        func serveHead(
            _ url: OriginURL, _ fields: HTTPFields, _ head: RequestHead, _ context: ChannelHandlerContext
        ) {
            let cache = server.cache
            let resource = cache.resource(for: url, fields: fields).withAnyAnswer
            if RequestCacheControl(fields).onlyIfCached { return serve(resource, head, context) }
            let stored = cache.resource(for: url, fields: RequestCacheControl.onlyFresh(fields)).withAnyAnswer
            serve(stored, head, context, in: ByteRange(0, 0)) { [weak self] handle in
                let stored = RequestRelay.Stored(handle: handle, fields: resource.request.fields) { [weak self] in
                    self?.serve(resource, head, context)
                }
                self?.pass(head, [], to: url, context, stored: stored)
            }
        }

        /// Passes a request on to the origin.
        func pass(
            _ head: RequestHead, _ body: [UInt8], to url: OriginURL, _ context: ChannelHandlerContext,
            stored: RequestRelay.Stored? = nil
        ) {
            guard let writer, let deadline else { return }
            isAnswering = true
            standing.value = .answering
            let fields = forwarded(server.cache.withOriginFields(head.fields), of: head)
            let request = OriginRequest(
                relaying: head.method, to: url, fields, body: head.body == .none ? nil : body)
            let relay = RequestRelay(
                request, stored: stored, server: server, context: context, writer: writer, deadline: deadline
            ) { [weak self] outcome in
                self?.finished(outcome, head)
            } onInterim: { [weak self] interim in
                self?.writeInterim(interim, to: head)
            } onHead: { [weak self] answer in
                self?.writeHead(answer, to: head)
            }
            current = relay
            relay.start()
        }
    }
#endif
