#if Server
    import AsyncHTTPClient
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import RepriseCore
    import RepriseHTTP
    import Synchronization

    /// One exchange: follows redirects, each a request of its own, turns the library's calls into events, and lets the
    /// next body part in only when asked.
    final class StreamingExchange: OriginExchange {
        /// Most redirects that are followed.
        private static let redirectLimit = 5

        private struct State {
            var task: HTTPClient.Task<Void>?
            /// Fulfilled by the next demand.
            var gate: EventLoopPromise<Void>?
            /// A demand that came before there was a gate.
            var hasDemand = false
            var isCancelled = false
            var isDelimited = true
            /// An end or a failure was told.
            var isOver = false
            var url: OriginURL
            var fields: HTTPFields
            var visited: Set<OriginURL>
        }

        private let method: String
        private let body: [UInt8]?
        private let exits: OriginExits
        private let onEvent: @Sendable (OriginEvent) -> Void
        private let state: Mutex<State>

        init(_ request: OriginRequest, exits: OriginExits, onEvent: @escaping @Sendable (OriginEvent) -> Void) {
            method = request.method
            body = request.body
            self.exits = exits
            self.onEvent = onEvent
            state = Mutex(State(url: request.url, fields: request.fields, visited: [request.url]))
        }

        /// Sends the request, or the one that a redirect makes of it.
        func begin() {
            let (url, fields, isCancelled) = state.withLock { ($0.url, $0.fields, $0.isCancelled) }
            if isCancelled { return }
            do throws(OriginFailure) { try send(url, fields) } catch { failSoon(error) }
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
            guard let client = exits.client(for: exit) else {
                throw OriginFailure(.interrupted, "the client was shut down")
            }
            let request: HTTPClient.Request
            do {
                request = try HTTPClient.Request(
                    url: destination.sendable, method: HTTPMethod(rawValue: method), headers: headers,
                    body: body.map { .bytes($0) })
            } catch {
                throw OriginFailure(.malformed, "\(error)")
            }
            // Connections to a proxy are one pool, whoever is behind it.
            let place = exits.loops.enter(destination.origin)
            let hop = Hop(self, host: url.host, exit: exit, exits: exits, place: place)
            let task = client.execute(
                request: request, delegate: hop, eventLoop: .delegate(on: place.loop), deadline: nil)
            let isCancelled = state.withLock { state in
                state.task = task
                return state.isCancelled
            }
            // Some failures are told to the task alone.
            task.futureResult.whenFailure { hop.ended($0) }
            if isCancelled { task.cancel() }
        }

        private func failSoon(_ failure: OriginFailure) {
            MultiThreadedEventLoopGroup.singleton.next().execute { self.emit(.failed(failure)) }
        }

        fileprivate func emit(_ event: OriginEvent) {
            let isWanted = state.withLock { state in
                if state.isCancelled || state.isOver { return false }
                switch event {
                case .end, .failed: state.isOver = true
                case .head, .body: break
                }
                return true
            }
            if isWanted { onEvent(event) }
        }

        // MARK: OriginExchange

        func demand() {
            let gate = state.withLock { state -> EventLoopPromise<Void>? in
                guard let gate = state.gate else {
                    state.hasDemand = true
                    return nil
                }
                state.gate = nil
                return gate
            }
            guard let gate else { return }
            // Never from inside the caller: the engine holds no lock then, but its stack is not ours to grow.
            gate.futureResult.eventLoop.execute { gate.succeed() }
        }

        func cancel() {
            let (task, gate) = state.withLock { state in
                state.isCancelled = true
                defer { state.gate = nil }
                return (state.task, state.gate)
            }
            task?.cancel()
            gate?.fail(HTTPClientError.cancelled)
        }

        fileprivate func waitForDemand(_ eventLoop: any EventLoop) -> EventLoopFuture<Void> {
            let gate = eventLoop.makePromise(of: Void.self)
            let isOpen = state.withLock { state in
                if state.hasDemand || state.isCancelled {
                    state.hasDemand = false
                    return true
                }
                state.gate = gate
                return false
            }
            if isOpen { gate.succeed() }
            return gate.futureResult
        }

        // MARK: What a hop tells

        /// Passes a final head on; for a redirect, turns to where it leads and returns `true`.
        fileprivate func received(_ head: HTTPResponseHead) throws(OriginFailure) -> Bool {
            let fields = HTTPFields(head.headers.map { ($0.name, $0.value) })
            // Where what is not a GET is led to is for its sender to decide.
            if method == "GET", [301, 302, 303, 307, 308].contains(head.status.code), let location = fields["Location"]
            {
                try turn(to: location)
                return true
            }
            let isDelimited = fields.contains("Content-Length") || fields.has(token: "chunked", in: "Transfer-Encoding")
            state.withLock { $0.isDelimited = isDelimited }
            emit(.head(OriginResponseHead(status: Int(head.status.code), fields: fields)))
            return false
        }

        private func turn(to location: String) throws(OriginFailure) {
            let isFollowed = state.withLock { state in
                guard state.visited.count <= StreamingExchange.redirectLimit,
                    let next = state.url.resolving(location), state.visited.insert(next).inserted
                else { return false }
                // What proves who asks is for the origin it was given for, and no other.
                if next.origin != state.url.origin {
                    state.fields.remove(["Authorization", "Cookie", "Proxy-Authorization", "Host"])
                }
                state.url = next
                return true
            }
            if !isFollowed { throw OriginFailure(.malformed, "the origin redirects in circles, or to nowhere") }
        }

        fileprivate func finished() { emit(.end(isDelimited: state.withLock { $0.isDelimited })) }
    }

    /// One request of an exchange. Of a redirect nothing but where it leads is used.
    private final class Hop: HTTPClientResponseDelegate {
        typealias Response = Void

        private struct State {
            var isRedirect = false
            /// Bytes of a redirect's body that were read so that the connection can be used again.
            var discarded = 0
            var hasEnded = false
        }

        /// A redirect's body of more than this costs more than another connection.
        private static let discardLimit = 16 * 1024

        private let exchange: StreamingExchange
        private let host: String
        private let exit: OriginExit
        private let exits: OriginExits
        private let place: OriginLoops.Place
        private let state = Mutex(State())

        init(
            _ exchange: StreamingExchange, host: String, exit: OriginExit, exits: OriginExits, place: OriginLoops.Place
        ) {
            self.exchange = exchange
            self.host = host
            self.exit = exit
            self.exits = exits
            self.place = place
        }

        /// The request is over, well or not; told once or more.
        func ended(_ error: (any Error)?) {
            let (isFirst, isRedirect) = state.withLock { state in
                defer { state.hasEnded = true }
                return (!state.hasEnded, state.isRedirect)
            }
            guard isFirst else { return }
            exits.loops.leave(place)
            if isRedirect { return exchange.begin() }
            guard let error else { return exchange.finished() }
            exchange.emit(.failed(OriginFailure(error, host: host, exit: exit, rules: exits.rules)))
        }

        func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
            do throws(OriginFailure) {
                if try exchange.received(head) {
                    state.withLock { $0.isRedirect = true }
                    return task.eventLoop.makeSucceededVoidFuture()
                }
            } catch {
                exchange.emit(.failed(error))
                task.cancel()
                return task.eventLoop.makeFailedFuture(error)
            }
            return exchange.waitForDemand(task.eventLoop)
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
            exchange.emit(.body(Array(buffer.readableBytesView)[...]))
            return exchange.waitForDemand(task.eventLoop)
        }

        func didFinishRequest(task: HTTPClient.Task<Void>) throws { ended(nil) }

        func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) { ended(error) }
    }
#endif
