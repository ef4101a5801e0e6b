#if Proxy
    import NIOCore
    import RepriseCore
    import RepriseHTTP
    import RepriseRanges
    import ReprisePlatform

    /// Passes one request on to its origin and the answer back; nothing of it is stored. In a shared cache what is stored of
    /// the URLs it may have changed is confirmed before it is used again (RFC 9111 §4.4), before the client hears of the
    /// answer. What a HEAD shows of the answer that is stored counts for that (§4.3.5).
    ///
    ///     asking --head--> invalidating --done--> handing on, a piece whenever the client takes one --end--> over
    ///       |
    ///       +--failure--> refusing, once what may have changed all the same was looked at --> over
    ///
    /// Runs on the channel's event loop.
    final class RequestRelay: AnswerSource {
        private let request: OriginRequest
        /// The request's body, where it is passed on as it comes and is not whole yet.
        private var upload: OriginUpload?
        private var slowness = Slowness()
        private let server: ProxyServer
        private let outlet: AnswerOutlet
        /// For HEAD: who looked for a stored answer, and what is done where the origin fails and there is one.
        private let stored: Stored?
        private var sentAt: Int64 = 0
        private var exchange: (any OriginExchange)?
        private var phase = Phase.asking

        /// Seconds the origin may be silent where what is stored can be asked about in another way, which is patient itself.
        private static let shortPatience = 2

        private enum Phase {
            /// Nothing of an answer has come.
            case asking
            /// The head has come, and what is stored of the URLs that it is about is looked at.
            case invalidating
            /// The origin has failed, and what is stored of what it may have changed all the same is looked at.
            case refusing
            /// The client has the head. Whether a piece was asked for and has not come.
            case handingOn(isDemanding: Bool)
            case over
        }

        /// How long a client has been waited for while it sends a body.
        private struct Slowness {
            /// Bytes that are to come within the time of a request.
            static let measure = 64 * 1024
            var spent = TimeAmount.zero
            var since: NIODeadline?
            private var bytes = 0

            mutating func took(_ count: Int, now: NIODeadline) {
                if let since { spent = spent + (now - since) }
                since = nil
                bytes += count
                guard bytes >= Slowness.measure else { return }
                (bytes, spent) = (0, .zero)
            }
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

        init(_ request: OriginRequest, stored: Stored?, server: ProxyServer, outlet: AnswerOutlet) {
            self.request = request
            upload = if case .upload(let upload) = request.body { upload } else { nil }
            self.stored = stored
            self.server = server
            self.outlet = outlet
        }

        /// Seconds the origin may be silent while a piece is waited for.
        private var patience: Int { max(1, server.cache.configuration.originTimeout) }

        /// Seconds until an answer is to begin.
        private var headPatience: Int {
            let patience = Int(clamping: server.cache.environment.patience(with: request) / 1_000_000_000)
            return stored?.handle.isKnown == true ? min(RequestRelay.shortPatience, patience) : max(1, patience)
        }

        func start() {
            let loop = outlet.context.eventLoop
            let bound = NIOLoopBound(self, eventLoop: loop)
            watch(seconds: headPatience)
            sentAt = ConnectionHandler.now
            exchange = server.cache.environment.failover.start(request) { event in
                loop.execute { bound.value.take(event) }
            }
        }

        func leave() {
            if case .asking = phase, exchange != nil { invalidate(after: nil) { _ in } }
            phase = .over
            outlet.deadline.clear()
            stored?.handle.leave()
            upload?.fail()
            exchange?.cancel()
            exchange = nil
        }

        func pump() {
            guard case .handingOn(isDemanding: false) = phase, outlet.canTakeMore else { return }
            phase = .handingOn(isDemanding: true)
            watch(seconds: patience)
            exchange?.demand()
        }

        // MARK: The request's body

        /// Whether bytes wait for the origin, and no more are wanted.
        var isFull: Bool { upload?.holdsBytes == true }

        /// Whether the origin's time runs.
        private var awaitsOrigin: Bool {
            switch phase {
            case .asking, .handingOn(isDemanding: true): true
            case .invalidating, .refusing, .handingOn, .over: false
            }
        }

        private func watchOrigin() {
            if case .asking = phase { watch(seconds: headPatience) } else if awaitsOrigin { watch(seconds: patience) }
        }

        /// The origin could take more than is there: the client's time runs. Each 64 KiB are to come within the time of a
        /// request.
        func bodyIsDemanded() {
            outlet.readOn()
            guard let upload, !upload.holdsBytes, awaitsOrigin else { return }
            let loop = outlet.context.eventLoop
            let tooSlow = RequestRefusal(408, "the request took too long to come")
            let left = TimeAmount.seconds(Int64(server.configuration.requestTimeout)) - slowness.spent
            guard left > .zero else { return bodyBroke(tooSlow) }
            slowness.since = loop.now
            outlet.standing.value = .stalled(since: ConnectionHandler.now)
            let bound = NIOLoopBound(self, eventLoop: loop)
            // Rounded up.
            outlet.deadline.set(Int(left.nanoseconds / 1_000_000_000) + 1) { bound.value.bodyBroke(tooSlow) }
        }

        func bodyCame(_ bytes: [UInt8]) {
            slowness.took(bytes.count, now: outlet.context.eventLoop.now)
            outlet.standing.value = .answering
            upload?.append(bytes)
            watchOrigin()
        }

        func bodyEnded() {
            upload?.end()
            upload = nil
            watchOrigin()
        }

        /// The rest of the body does not come, or means nothing.
        func bodyBroke(_ refusal: RequestRefusal) {
            if let limit = ClientLimit(refusal: refusal.status) { server.limits.met(limit) }
            upload?.fail()
            upload = nil
            end(telling: ServerExchange.plain(refusal.status, refusal.reason, now: SystemCalls.wallClock()))
        }

        // MARK: The origin's answer

        private func take(_ event: OriginEvent) {
            switch phase {
            case .refusing, .over: return
            case .asking, .invalidating, .handingOn: break
            }
            // Interim answers, of any number, do not make up for it.
            if case .interim = event {} else { outlet.deadline.clear() }
            switch event {
            case .interim(let head): outlet.write(interim: head)
            case .head(let head):
                phase = .invalidating
                // Behind such an answer no client library sends on; its client may read only when it has sent all.
                if head.status >= 300, let upload {
                    upload.drop()
                    outlet.readOn()
                }
                if let stored { answeredHead(head, stored) } else { invalidate(after: head) { $0.handOn(head) } }
            case .body(let bytes):
                phase = .handingOn(isDemanding: false)
                let buffer = ByteBuffer(bytes: bytes)
                outlet.writer.write(body: .byteBuffer(buffer))
                outlet.writer.flush()
                if !outlet.canTakeMore { watchClient() }
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

        /// Has what is stored of the URLs that the request may have changed confirmed before it is used again, then goes on.
        /// - Parameter head: `nil` where no answer came.
        private func invalidate(
            after head: OriginResponseHead?, then goOn: @escaping @Sendable (RequestRelay) -> Void
        ) {
            let loop = outlet.context.eventLoop
            let bound = NIOLoopBound(self, eventLoop: loop)
            let (cache, request) = (server.cache, request)
            Task {
                do throws(CacheError) {
                    try await cache.invalidate(after: request.method, at: request.url, head)
                } catch {
                    // The origin has done it all the same, and its answer is the client's.
                    cache.environment.hub.send(.degraded(key: request.url.description, reason: error.message))
                }
                loop.execute { goOn(bound.value) }
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
            outlet.write(answer)
            outlet.writer.flush()
            pump()
        }

        private func fail(_ failure: OriginFailure) {
            switch phase {
            case .asking, .invalidating: if standsIn() { return }
            case .refusing, .handingOn, .over: break
            }
            let exchange = ServerExchange(
                method: request.method, fields: HTTPFields(), for: request.url, role: server.role)
            let answer = exchange.answer(CacheError(failure), now: SystemCalls.wallClock())
            end(
                telling: exchange.told(answer, age: nil, outcome: outcome(nil)),
                mayHaveChanged: failure.kind != .unreachable)
        }

        /// Ends the request before its answer is whole: with this one where none has begun.
        private func end(telling answer: ServerExchange.Answer, mayHaveChanged: Bool = true) {
            switch phase {
            case .handingOn: finish(.broken)
            case .refusing, .over: break
            case .asking, .invalidating:
                phase = .refusing
                outlet.deadline.clear()
                exchange?.cancel()
                exchange = nil
                guard mayHaveChanged else { return finish(.text(answer)) }
                invalidate(after: nil) { relay in
                    if case .refusing = relay.phase { relay.finish(.text(answer)) }
                }
            }
        }

        private func outcome(_ status: Int?) -> CacheStatus {
            stored?.outcome(status) ?? CacheStatus(forward: .method)
        }

        private func finish(_ outcome: AnswerOutcome) {
            if case .over = phase { return }
            leave()
            outlet.finish(outcome)
        }

        private func watch(seconds: Int) {
            let bound = NIOLoopBound(self, eventLoop: outlet.context.eventLoop)
            outlet.deadline.set(seconds) {
                bound.value.fail(OriginFailure(.timedOut, "the origin was silent for \(seconds) s"))
            }
        }

        private func watchClient() {
            let bound = NIOLoopBound(self, eventLoop: outlet.context.eventLoop)
            outlet.deadline.setForClient { bound.value.finish(.broken) }
        }
    }

    extension ConnectionHandler {
        /// Answers HEAD through a shared cache: what is stored answers it, else the origin does, and where that fails what is
        /// stored stands in for it as it does for GET.
        func serveHead(_ url: OriginURL, _ head: RequestHead) {
            let cache = server.cache
            let fields = forwarded(head.fields, of: head)
            let resource = cache.resource(for: url, fields: fields).withAnyAnswer(for: fields)
            if RequestCacheControl(fields).onlyIfCached { return serve(resource, head) }
            let stored = cache.resource(for: url, fields: RequestCacheControl.onlyFresh(fields))
                .withAnyAnswer(for: fields)
            serve(stored, head, in: ByteRange(0, 0)) { [weak self] handle in
                let stored = RequestRelay.Stored(handle: handle, fields: resource.request.fields) { [weak self] in
                    self?.serve(resource, head)
                }
                self?.pass(head, .whole([]), to: url, stored: stored)
            }
        }

        /// Passes a request on to the origin.
        func pass(
            _ head: RequestHead, _ body: ConnectionStateMachine.Body, to url: OriginURL,
            stored: RequestRelay.Stored? = nil
        ) {
            guard let outlet = AnswerOutlet(of: self, to: head) else { return }
            standing.value = .answering
            let fields = forwarded(server.cache.withOriginFields(head.fields), of: head)
            let request = OriginRequest(
                relaying: head.method, to: url, fields, body: head.body == .none ? nil : outlet.passedOn(body))
            let relay = RequestRelay(request, stored: stored, server: server, outlet: outlet)
            current = relay
            relay.start()
        }
    }

    extension AnswerOutlet {
        /// A body as it goes to the origin.
        fileprivate func passedOn(_ body: ConnectionStateMachine.Body) -> OriginRequest.Body {
            switch body {
            case .whole(let bytes): return .whole(bytes)
            case .beginning(let bytes, let length):
                let loop = context.eventLoop
                let bound = NIOLoopBound(self, eventLoop: loop)
                let upload = OriginUpload(length: length) { loop.execute { bound.value.relay?.bodyIsDemanded() } }
                upload.append(bytes)
                return .upload(upload)
            }
        }
    }
#endif
