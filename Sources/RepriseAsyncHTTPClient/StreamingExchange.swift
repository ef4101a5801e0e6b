#if Server
    import AsyncHTTPClient
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform

    /// One exchange: follows redirects, each a request of its own, turns the library's calls into events, and lets the
    /// next body part in only when asked. Parts that are there at once are gathered: the library tells each chunk alone,
    /// however small, and each event costs a turn of the engine.
    final class StreamingExchange: OriginExchange {
        /// Whether small parts are being gathered until the loop has nothing more of them.
        private enum Gathering { case idle, lastTurn, onward }

        /// Whether the request is sent once more where its connection is lost before an answer.
        private enum SecondTry { case none, possible, begun }

        private struct State {
            var task: HTTPClient.Task<Void>?
            var events = PacedEvents()
            var gathering = Gathering.idle
            /// Lets the next part in; there while the library waits.
            var gate: EventLoopPromise<Void>?
            /// Where the hop under way tells what comes.
            var loop: (any EventLoop)?
            var isDelimited = true
            var redirects: RedirectRule
            var secondTry: SecondTry
            /// Whether a connection has carried the request: the origin may have had it.
            var wasSent = false

            /// Whether the library may tell another part.
            var admits: Bool { events.isDemanded && events.waiting < PacedEvents.joinLimit }

            mutating func next() -> OriginEvent? {
                let isGathered = gathering == .idle || events.isEnding || events.waiting >= PacedEvents.joinLimit
                return isGathered ? events.next() : nil
            }

            mutating func takeGate() -> EventLoopPromise<Void>? {
                guard admits || events.isEnding else { return nil }
                defer { gate = nil }
                return gate
            }
        }

        private let request: OriginRequest
        private let exits: OriginExits
        private let onEvent: @Sendable (OriginEvent) -> Void
        private let state: Lock<State>

        init(_ request: OriginRequest, exits: OriginExits, onEvent: @escaping @Sendable (OriginEvent) -> Void) {
            self.request = request
            self.exits = exits
            self.onEvent = onEvent
            // A GET is sent again by the engine, from where it stood.
            let secondTry: SecondTry = request.isIdempotent && request.method != "GET" ? .possible : .none
            state = Lock(State(redirects: RedirectRule(request.url, request.fields), secondTry: secondTry))
        }

        /// Sends the request, or the one that a redirect makes of it.
        func begin() {
            let (hop, isOver) = state.withLock { ($0.redirects, $0.events.isOver) }
            if isOver { return }
            do throws(OriginFailure) { try send(hop.url, hop.fields) } catch { failSoon(error) }
        }

        private func send(_ url: OriginURL, _ fields: HTTPFields) throws(OriginFailure) {
            let exit: OriginExit
            do throws(UpstreamRules.Refusal) { exit = try exits.exit(to: url) } catch { throw OriginFailure(error) }
            var headers = HTTPHeaders(fields.lines.map { ($0.name, $0.value) })
            var destination = url
            if case .relay(let proxy) = exit, let relay = url.relayed(by: proxy) {
                destination = relay
                headers.replaceOrAdd(name: "Host", value: url.authority)
                if let authorization = proxy.authorization {
                    headers.replaceOrAdd(name: "Proxy-Authorization", value: authorization.headerValue)
                }
            }
            let upload: UploadWriter? = if case .upload(let pieces) = request.body { UploadWriter(pieces) } else { nil }
            let body: HTTPClient.Body? =
                if case .whole(let bytes) = request.body { .bytes(bytes) } else { upload?.body }
            guard let client = exits.client(for: exit, isForRelays: request.isRelayed) else {
                throw OriginFailure(.interrupted, "the client was shut down")
            }
            var made: HTTPClient.Request
            do {
                made = try HTTPClient.Request(
                    url: destination.sendable, method: HTTPMethod(rawValue: request.method), headers: headers,
                    body: body)
            } catch {
                throw OriginFailure(.malformed, "\(error)")
            }
            // Connections to a proxy are one pool, whoever is behind it.
            let place = exits.loops.enter(destination.origin)
            let hop = Hop(self, host: url.host, exit: exit, exits: exits, place: place, upload: upload)
            made.headers.replaceOrAdd(name: AnswerTap.Listeners.field, value: exits.listeners.add(hop))
            let task = client.execute(
                request: made, delegate: hop, eventLoop: .delegate(on: place.loop), deadline: nil)
            let isOver = state.withLock { state in
                state.task = task
                return state.events.isOver
            }
            // Some failures are told to the task alone, that of a client that is being shut down before this returns.
            task.futureResult.whenFailure { error in place.loop.execute { hop.ended(error) } }
            if isOver { task.cancel() }
        }

        private func failSoon(_ failure: OriginFailure) {
            MultiThreadedEventLoopGroup.singleton.next().execute { self.failed(failure) }
        }

        // MARK: OriginExchange

        func demand() {
            let loop = state.withLock { state in
                state.events.demand()
                let isAwaited = state.gate != nil || state.events.waiting > 0 || state.events.isEnding
                return isAwaited ? state.loop : nil
            }
            // Never from inside the caller: the engine holds no lock then, but its stack is not ours to grow.
            loop?.execute { self.advance() }
        }

        func cancel() {
            let (task, gate) = state.withLock { state in
                state.events.cancel()
                defer { state.gate = nil }
                return (state.task, state.gate)
            }
            task?.cancel()
            gate?.fail(HTTPClientError.cancelled)
        }

        // MARK: Towards the engine, on the hop's loop

        /// Tells the events that are due, and lets the library tell the next part where the engine has asked for more.
        private func advance() {
            while let event = state.withLock({ $0.next() }) { onEvent(event) }
            state.withLock { $0.takeGate() }?.succeed()
        }

        /// A turn of the loop is over. Gathered parts are told, or wait for another turn where more came in this one: the
        /// library tells some fifty parts in a turn.
        private func turned(_ loop: any EventLoop) {
            let isOnward = state.withLock { state in
                let isOnward = state.gathering == .onward
                state.gathering = isOnward ? .lastTurn : .idle
                return isOnward
            }
            if isOnward { loop.execute { self.turned(loop) } } else { advance() }
        }

        /// Fulfilled when the library may tell what comes next.
        private func gate(_ loop: any EventLoop) -> EventLoopFuture<Void> {
            let gate = state.withLock { state -> EventLoopPromise<Void>? in
                if state.admits || state.events.isOver { return nil }
                let gate = loop.makePromise(of: Void.self)
                state.gate = gate
                return gate
            }
            return gate?.futureResult ?? loop.makeSucceededVoidFuture()
        }

        // MARK: What a hop tells

        /// Passes an interim answer on.
        fileprivate func received(interim head: OriginResponseHead) {
            state.withLock { $0.events.received(interim: head) }
            advance()
        }

        /// Passes a final head on; for a redirect, turns to where it leads.
        /// - Returns: Fulfilled when the body may come; `nil` for a redirect.
        fileprivate func received(
            _ head: HTTPResponseHead, _ loop: any EventLoop
        ) throws(OriginFailure) -> EventLoopFuture<Void>? {
            let fields = HTTPFields(head.headers)
            let status = Int(head.status.code)
            if request.isFollowed, let location = RedirectRule.location(status, fields) {
                guard state.withLock({ $0.redirects.follow(location) }) else { throw RedirectRule.isLost }
                return nil
            }
            var answer = OriginResponseHead(status: status, fields: fields)
            if let breach = answer.breach { throw OriginFailure(.malformed, breach) }
            let isDelimited = fields.contains("Content-Length") || fields.has(token: "chunked", in: "Transfer-Encoding")
            state.withLock { state in
                state.isDelimited = isDelimited
                answer.isOfSecondTry = state.secondTry == .begun
                state.secondTry = .none
                state.loop = loop
                state.events.received(answer)
            }
            advance()
            return gate(loop)
        }

        /// Passes a part of the body on.
        /// - Returns: Fulfilled when the next may come.
        fileprivate func received(_ part: ByteBuffer, _ loop: any EventLoop) -> EventLoopFuture<Void> {
            let isFirst = state.withLock { state in
                state.events.received(part.readableBytesView)
                defer { state.gathering = state.gathering == .idle ? .lastTurn : .onward }
                return state.gathering == .idle
            }
            if isFirst { loop.execute { self.turned(loop) } }
            advance()
            return gate(loop)
        }

        fileprivate func ended(_ trailers: HTTPFields) {
            state.withLock { $0.events.ended(isDelimited: $0.isDelimited, trailers: trailers) }
            advance()
        }

        /// A hop came to nothing. An origin may close a connection, or spoil it behind an earlier answer, just as it is used
        /// again.
        fileprivate func lost(_ failure: OriginFailure) {
            let (failure, isSentAgain) = state.withLock { state in
                var failure = failure
                // What cannot be reached any more may have had the request before.
                if failure.kind == .unreachable, state.wasSent { failure.kind = .interrupted }
                let isOfConnection = failure.kind == .interrupted || failure.kind == .malformed
                guard state.secondTry == .possible, isOfConnection else { return (failure, false) }
                state.secondTry = .begun
                return (failure, true)
            }
            if isSentAgain { begin() } else { failed(failure) }
        }

        fileprivate func isSent() { state.withLock { $0.wasSent = true } }

        fileprivate func failed(_ failure: OriginFailure) {
            state.withLock { $0.events.failed(failure) }
            advance()
        }
    }

    /// One request of an exchange. Of a redirect nothing but where it leads is used.
    private final class Hop: HTTPClientResponseDelegate, AnswerListener {
        typealias Response = Void

        private struct State {
            var isRedirect = false
            var trailers = HTTPFields()
            /// Bytes of a redirect's body that were read so that the connection can be used again.
            var discarded = 0
            /// Ends the wait for the rest of them.
            var patience: Scheduled<Void>?
            var hasEnded = false
        }

        /// A redirect's body of more than this, or for longer, costs more than another connection.
        private static let discardLimit = 16 * 1024
        private static let discardTime = TimeAmount.milliseconds(500)

        private let exchange: StreamingExchange
        private let host: String
        private let exit: OriginExit
        private let exits: OriginExits
        private let place: OriginLoops.Place
        private let upload: UploadWriter?
        private let state = Lock(State())

        init(
            _ exchange: StreamingExchange, host: String, exit: OriginExit, exits: OriginExits, place: OriginLoops.Place,
            upload: UploadWriter?
        ) {
            self.upload = upload
            self.exchange = exchange
            self.host = host
            self.exit = exit
            self.exits = exits
            self.place = place
        }

        /// The request is over, well or not; told once or more.
        func ended(_ error: (any Error)?) {
            let (isFirst, isRedirect, trailers, patience) = state.withLock { state in
                defer { state.hasEnded = true }
                return (!state.hasEnded, state.isRedirect, state.trailers, state.patience)
            }
            guard isFirst else { return }
            patience?.cancel()
            exits.loops.leave(place)
            exits.listeners.remove(self)
            upload?.stop()
            if isRedirect { return exchange.begin() }
            guard let error else { return exchange.ended(trailers) }
            exchange.lost(OriginFailure(error, host: host, exit: exit, rules: exits.rules))
        }

        func isCarried(by channel: any Channel) {
            exchange.isSent()
            upload?.isCarried(by: channel)
        }

        func heard(interim head: OriginResponseHead) {
            // Where the head will be told, and before it.
            if place.loop.inEventLoop { return exchange.received(interim: head) }
            place.loop.execute { self.exchange.received(interim: head) }
        }

        func heard(trailers: HTTPFields) { state.withLock { $0.trailers = trailers } }

        func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
            do throws(OriginFailure) {
                if let next = try exchange.received(head, task.eventLoop) { return next }
                // Where it leads is known: what is left of it, which may never come, only makes the connection free again.
                state.withLock { state in
                    state.isRedirect = true
                    state.patience = task.eventLoop.scheduleTask(in: Hop.discardTime) { task.cancel() }
                }
                return task.eventLoop.makeSucceededVoidFuture()
            } catch {
                exchange.failed(error)
                task.cancel()
                return task.eventLoop.makeFailedFuture(error)
            }
        }

        func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
            guard buffer.readableBytes > 0 else { return task.eventLoop.makeSucceededVoidFuture() }
            let (isRedirect, discarded) = state.withLock { state in
                state.discarded += buffer.readableBytes
                return (state.isRedirect, state.discarded)
            }
            if isRedirect {
                if discarded > Hop.discardLimit { task.cancel() }
                return task.eventLoop.makeSucceededVoidFuture()
            }
            return exchange.received(buffer, task.eventLoop)
        }

        func didFinishRequest(task: HTTPClient.Task<Void>) throws { ended(nil) }

        func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) { ended(error) }
    }
#endif
