#if Proxy
    import NIOCore
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform

    /// Passes one request on to its origin and the answer back, as its `RelayStateMachine` says; nothing of it is stored. In a shared
    /// cache what is stored of the URLs it may have changed is confirmed before it is used again (RFC 9111 §4.4), before the client
    /// hears of the answer. What a HEAD shows of the answer that is stored counts for that (§4.3.5).
    ///
    /// Runs on the channel's event loop.
    final class RequestRelay: AnswerSource {
        private let request: OriginRequest
        /// The request's body, where it is passed on as it comes.
        private let upload: OriginUpload?
        private let server: ProxyServer
        private let outlet: AnswerOutlet
        /// For HEAD: who looked for a stored answer, and what is done where the origin fails and there is one.
        private let stored: Stored?
        private var machine: RelayStateMachine
        private var sentAt: Int64 = 0
        private var exchange: (any OriginExchange)?
        /// Held as long as the exchange is.
        private var place: ForwardedRequests.Place?
        /// What follows once what is stored was looked at, by the last look that was begun.
        private var onceLookedAt: (@Sendable (RequestRelay) -> Void)?
        private var looks = 0

        /// Seconds the origin may be silent where what is stored can be asked about in another way, which is patient itself.
        private static let shortDeadline = 2

        /// A stored answer that a HEAD may say something of, or that may stand in for an origin which fails.
        struct Stored {
            let handle: ReaderHandle
            /// Fields of the request that choose an answer.
            let fields: HTTPFields
            /// Why the request goes on, as it was before the origin answered.
            let forward: CacheStatus.Forward
            /// Answers from what is stored, or tells why not.
            let standIn: () -> Void

            init(handle: ReaderHandle, fields: HTTPFields, standIn: @escaping () -> Void) {
                self.handle = handle
                self.fields = fields
                self.standIn = standIn
                forward = handle.forward(of: fields)
            }

            /// How the request was handled.
            func outcome(_ status: Int?) -> CacheStatus {
                var outcome = CacheStatus(forward: forward)
                outcome.forwardStatus = status
                return outcome
            }
        }

        init(_ request: OriginRequest, stored: Stored?, server: ProxyServer, outlet: AnswerOutlet) {
            self.request = request
            upload = if case .upload(let upload) = request.body { upload } else { nil }
            self.stored = stored
            self.server = server
            self.outlet = outlet
            let timeout = Int(clamping: server.cache.environment.timeout(of: request) / 1_000_000_000)
            let isKnown = stored?.handle.isKnown == true
            machine = RelayStateMachine(
                RelayStateMachine.Deadlines(
                    head: isKnown ? min(RequestRelay.shortDeadline, timeout) : max(1, timeout),
                    piece: max(1, server.cache.configuration.originTimeout),
                    body: server.configuration.requestTimeout),
                hasBody: upload != nil)
        }

        func start() {
            let loop = outlet.context.eventLoop
            let bound = NIOLoopBound(self, eventLoop: loop)
            wait()
            place = server.forward(
                for: ProxyServer.Client(channel: outlet.context.channel, standing: outlet.standing))
            guard place != nil else {
                if standsIn() { return }
                server.limits.met(.forwarded)
                return fail(
                    OriginFailure(
                        .exhausted, "too many requests are being forwarded to origins; ask again in a moment"))
            }
            sentAt = ConnectionHandler.now
            exchange = server.cache.environment.failover.start(request) { event in
                loop.execute { bound.value.take(event) }
            }
        }

        func leave() {
            if machine.clientLeft() { invalidate(after: nil) { _ in } }
            release()
        }

        func pump() {
            guard outlet.canTakeMore, machine.clientTakesMore() else { return wait() }
            wait()
            exchange?.demand()
        }

        /// Waits for whom the machine says.
        private func wait() {
            guard let wait = machine.takeWait() else { return }
            let bound = NIOLoopBound(self, eventLoop: outlet.context.eventLoop)
            outlet.standing.value = wait.isForClient ? .stalled(since: ConnectionHandler.now) : .answering
            switch wait {
            case .nothing: outlet.deadline.clear()
            case .origin(let seconds):
                outlet.deadline.set(seconds) {
                    bound.value.fail(OriginFailure(.timedOut, "the origin was silent for \(seconds) s"))
                }
            case .store(let seconds):
                outlet.deadline.set(seconds) {
                    let words =
                        "what is stored could not be looked at within \(seconds) s of a request that may have changed it"
                    let url = bound.value.request.url.description
                    bound.value.server.cache.environment.hub.send(.degraded(key: url, reason: words))
                    bound.value.goOn()
                }
            case .body(let seconds):
                outlet.deadline.set(seconds) { bound.value.bodyBroke(.tooSlow) }
            case .client:
                outlet.deadline.setForClient {
                    if bound.value.machine.fail(mayHaveChanged: false) != .nothing { bound.value.finish(.broken) }
                }
            }
        }

        // MARK: The request's body

        /// Whether bytes wait for the origin, and no more are wanted.
        var isFull: Bool { machine.isBodyComing && upload?.holdsBytes == true }

        /// The origin could take more than is there.
        func bodyIsDemanded() {
            outlet.readOn()
            guard upload?.holdsBytes == false else { return }
            guard machine.bodyIsDemanded(now: ConnectionHandler.now) else { return bodyBroke(.tooSlow) }
            wait()
        }

        func bodyCame(_ bytes: [UInt8]) {
            machine.bodyCame(bytes.count, now: ConnectionHandler.now)
            upload?.append(bytes)
            wait()
        }

        func bodyEnded() {
            machine.bodyEnded()
            upload?.end()
            wait()
        }

        /// The rest of the body does not come, or means nothing.
        func bodyBroke(_ refusal: RequestRefusal) {
            if let limit = ClientLimit(refusal: refusal.status) { server.limits.met(limit) }
            machine.bodyEnded()
            upload?.fail()
            end(telling: ServerExchange.plain(refusal.status, refusal.reason, now: SystemCalls.wallClock()))
        }

        // MARK: The origin's answer

        private func take(_ event: OriginEvent) {
            switch event {
            // Of any number, they do not make up for an answer.
            case .interim(let head): if machine.isUnanswered { outlet.write(interim: head) }
            case .head(let head):
                guard machine.headCame() else { return }
                wait()
                // Behind such an answer no client library sends on; its client may read only when it has sent all.
                if head.status >= 300, machine.isBodyComing {
                    upload?.drop()
                    outlet.readOn()
                }
                if let stored { answeredHead(head, stored) } else { invalidate(after: head) { $0.handOn(head) } }
            case .body(let bytes):
                guard machine.pieceCame() else { return }
                outlet.writer.write(body: .byteBuffer(ByteBuffer(bytes: bytes)))
                outlet.writer.flush()
                pump()
            case .end(_, let trailers):
                if machine.answerEnded() { finish(.complete(trailers: server.role.told(trailers: trailers))) }
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
            guard let stored, stored.handle.isKnown, machine.standIn() else { return false }
            release()
            stored.standIn()
            return true
        }

        /// Has what is stored of the URLs that the request may have changed confirmed before it is used again, then goes on.
        /// - Parameter head: `nil` where no answer came.
        private func invalidate(
            after head: OriginResponseHead?, then goOn: @escaping @Sendable (RequestRelay) -> Void
        ) {
            let loop = outlet.context.eventLoop
            let bound = NIOLoopBound(self, eventLoop: loop)
            let (cache, request) = (server.cache, request)
            onceLookedAt = goOn
            looks += 1
            let look = looks
            Task {
                do throws(CacheError) {
                    try await cache.invalidate(after: request.method, at: request.url, head)
                } catch {
                    // The origin has done it all the same, and its answer is the client's.
                    cache.environment.hub.send(.degraded(key: request.url.description, reason: error.message))
                }
                loop.execute { if bound.value.looks == look { bound.value.goOn() } }
            }
        }

        private func goOn() {
            let next = onceLookedAt
            onceLookedAt = nil
            next?(self)
        }

        private func handOn(_ head: OriginResponseHead) {
            let told = machine.invalidated()
            guard told != .nothing else { return }
            let isBodyless = head.status == 204 || head.status == 304
            let fields = RelayedAnswer.dated(
                server.role.relayed(head.fields, from: request.url, outcome: outcome(head.status)),
                received: SystemCalls.wallClock())
            var answer = ServerExchange.Answer(status: head.status, fields: fields)
            // It has no body, and no field may say otherwise (RFC 9110 §8.6, RFC 9112 §6.1).
            if head.status == 204 { answer.fields.remove(["Content-Length", "Transfer-Encoding"]) }
            answer.isDelimited = isBodyless || answer.fields.contains("Content-Length")
            outlet.write(answer)
            if told == .wholeAnswer { return finish(.complete()) }
            outlet.writer.flush()
            pump()
        }

        private func fail(_ failure: OriginFailure) {
            if standsIn() { return }
            let exchange = ServerExchange(
                method: request.method, fields: HTTPFields(), for: request.url, role: server.role)
            let answer = exchange.answer(CacheError(failure), now: SystemCalls.wallClock())
            end(
                telling: exchange.told(answer, age: nil, outcome: outcome(nil)),
                mayHaveChanged: failure.kind != .unreachable && failure.kind != .exhausted)
        }

        /// Ends the request before its answer is whole: with this one where none has begun.
        private func end(telling answer: ServerExchange.Answer, mayHaveChanged: Bool = true) {
            let failure = machine.fail(mayHaveChanged: mayHaveChanged)
            wait()
            switch failure {
            case .nothing: break
            case .breakOff: finish(.broken)
            case .tell: finish(.text(answer))
            case .tellLater:
                endExchange()
                invalidate(after: nil) { relay in
                    if relay.machine.lookedAt() { relay.finish(.text(answer)) }
                }
            }
        }

        private func outcome(_ status: Int?) -> CacheStatus {
            stored?.outcome(status) ?? CacheStatus(forward: .method)
        }

        private func finish(_ outcome: AnswerOutcome) {
            release()
            outlet.finish(outcome)
        }

        /// Lets go of all but the client.
        private func release() {
            wait()
            stored?.handle.leave()
            upload?.fail()
            endExchange()
        }

        private func endExchange() {
            exchange?.cancel()
            exchange = nil
            place = nil
        }
    }
#endif
