#if Server
    import AsyncHTTPClient
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    public import RepriseCore
    import RepriseHTTP
    import ReprisePlatform
    import Synchronization

    /// The origin client for Linux and servers, over async-http-client's streaming delegate: the body is read from the
    /// socket only while the engine asks for it.
    ///
    /// TLS certificates are verified by the system's roots; up to five redirects are followed, `Authorization` and
    /// `Cookie` not to another host (the library's rule). Connections are reused; cancelling closes one (HTTP/1.1).
    /// It connects within 10 seconds or fails; the engine itself watches for stalls, so there is no read time-out.
    public final class AsyncHTTPOriginClient: OriginClient {
        private let client: HTTPClient
        private let userAgent: String
        private let isShutDown = Atomic(false)

        /// Makes a client with its own connection pool.
        /// - Parameters:
        ///   - userAgent: Sent where the caller gives none.
        ///   - receiveBuffer: Size of each origin socket's receive buffer in bytes. It bounds what an abandoned
        ///     transfer can cost beyond the engine's read-ahead; `nil` leaves it to the system, which may grow it to
        ///     several MiB.
        public init(userAgent: String = "Reprise/0.1", receiveBuffer: Int? = 256 * 1024) {
            var configuration = HTTPClient.Configuration()
            configuration.redirectConfiguration = .follow(max: 5, allowCycles: false)
            configuration.timeout.connect = .seconds(10)
            configuration.timeout.read = nil
            configuration.decompression = .disabled
            configuration.httpVersion = .http1Only
            // The engine allows 6 a host; the pool must never be what waits.
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 16
            configuration.connectionPool.idleTimeout = .seconds(60)
            // Retrying is the engine's business: it knows who waits and for how long.
            configuration.connectionPool.retryConnectionEstablishment = false
            configuration.http1_1ConnectionDebugInitializer = { channel in
                // What has come is read at once: every piece costs a turn through the engine. Two of these are no more
                // than four of the default's, which may be read before the engine is asked.
                let pieces = AdaptiveRecvByteBufferAllocator(minimum: 4096, initial: 64 * 1024, maximum: 128 * 1024)
                let option = ChannelOptions.Types.SocketOption.Value(receiveBuffer ?? 0)
                return channel.setOption(.recvAllocator, value: pieces)
                    .flatMap { channel.setOption(.maxMessagesPerRead, value: 2) }
                    .flatMap {
                        guard receiveBuffer != nil else { return channel.eventLoop.makeSucceededVoidFuture() }
                        return channel.setOption(.socketOption(.so_rcvbuf), value: option)
                    }
                    .flatMapError { _ in channel.eventLoop.makeSucceededVoidFuture() }
            }
            client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            self.userAgent = userAgent
        }

        deinit {
            // The library insists on being shut down; where the owner has done so this does nothing.
            if !isShutDown.load(ordering: .acquiring) { client.shutdown { _ in } }
        }

        /// Closes all connections. The client cannot be used afterwards.
        public func shutdown() async throws {
            if !isShutDown.exchange(true, ordering: .acquiringAndReleasing) { try await client.shutdown() }
        }

        /// Sends `request`.
        public func start(
            _ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void
        ) -> any OriginExchange {
            let exchange = StreamingExchange(onEvent: onEvent)
            var headers = HTTPHeaders(request.fields.lines.map { ($0.name, $0.value) })
            if !headers.contains(name: "User-Agent") { headers.add(name: "User-Agent", value: userAgent) }
            do {
                let made = try HTTPClient.Request(
                    url: AsyncHTTPOriginClient.sendable(request.url), method: .GET, headers: headers)
                let task = client.execute(request: made, delegate: exchange, deadline: nil)
                exchange.task = task
                // Some failures, like a circle of redirects, are told to the task alone.
                task.futureResult.whenFailure { exchange.fail($0) }
                exchange.cancelIfAsked()
            } catch {
                exchange.failSoon(OriginFailure(.malformed, "\(error)"))
            }
            return exchange
        }
    }

    extension AsyncHTTPOriginClient {
        /// The URL as the library can take it. What RFC 3986 allows stays byte for byte; a character it does not allow
        /// is escaped here, alone: the library would escape the escapes around it once more.
        static func sendable(_ url: OriginURL) -> String {
            let text = url.description
            let marks = Set("-._~:/?#[]@!$&'()*+,;=%".utf8)
            let targetStart = text.utf8.count - url.target.utf8.count
            let bytes = Array(text.utf8)
            var result: [UInt8] = []
            for (index, byte) in bytes.enumerated() {
                let isLetterOrDigit =
                    byte < 0x80 && Character(Unicode.Scalar(byte)).isLetter || (0x30...0x39).contains(byte)
                let isBracket = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]")
                let isStray = byte == UInt8(ascii: "%") && !bytes[(index + 1)...].prefix(2).isTwoHexadecimalDigits
                if isLetterOrDigit || (marks.contains(byte) && !isStray && !(isBracket && index >= targetStart)) {
                    result.append(byte)
                } else {
                    result +=
                        Array((byte < 16 ? "%0" : "%").utf8) + Array(String(byte, radix: 16, uppercase: true).utf8)
                }
            }
            return String(decoding: result, as: UTF8.self)
        }
    }

    extension ArraySlice<UInt8> {
        fileprivate var isTwoHexadecimalDigits: Bool {
            count == 2 && allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        }
    }

    /// One exchange: turns the delegate's calls into events, and lets the next body part in only when asked.
    private final class StreamingExchange: HTTPClientResponseDelegate, OriginExchange {
        typealias Response = Void

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
        }

        private let onEvent: @Sendable (OriginEvent) -> Void
        private let state = Mutex(State())

        init(onEvent: @escaping @Sendable (OriginEvent) -> Void) { self.onEvent = onEvent }

        var task: HTTPClient.Task<Void>? {
            get { state.withLock { $0.task } }
            set { state.withLock { $0.task = newValue } }
        }

        func cancelIfAsked() {
            if state.withLock({ $0.isCancelled }) { task?.cancel() }
        }

        func failSoon(_ failure: OriginFailure) {
            MultiThreadedEventLoopGroup.singleton.next().execute { self.emit(.failed(failure)) }
        }

        private func emit(_ event: OriginEvent) {
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

        func fail(_ error: any Error) { emit(.failed(StreamingExchange.failure(error))) }

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

        private func waitForDemand(_ eventLoop: any EventLoop) -> EventLoopFuture<Void> {
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

        // MARK: HTTPClientResponseDelegate

        func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
            let fields = HTTPFields(head.headers.map { ($0.name, $0.value) })
            let isDelimited = fields.contains("Content-Length") || fields.has(token: "chunked", in: "Transfer-Encoding")
            state.withLock { $0.isDelimited = isDelimited }
            emit(.head(OriginResponseHead(status: Int(head.status.code), fields: fields)))
            return waitForDemand(task.eventLoop)
        }

        func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
            guard buffer.readableBytes > 0 else { return task.eventLoop.makeSucceededVoidFuture() }
            emit(.body(Array(buffer.readableBytesView)[...]))
            return waitForDemand(task.eventLoop)
        }

        func didFinishRequest(task: HTTPClient.Task<Void>) throws {
            emit(.end(isDelimited: state.withLock { $0.isDelimited }))
        }

        func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) {
            fail(error)
        }

        private static func failure(_ error: any Error) -> OriginFailure {
            if let error = error as? HTTPClientError {
                switch error {
                case .connectTimeout, .readTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout:
                    return OriginFailure(.timedOut, "the origin did not answer in time")
                case .remoteConnectionClosed:
                    return OriginFailure(.interrupted, "the origin closed the connection")
                case .redirectLimitReached, .redirectCycleDetected:
                    return OriginFailure(.malformed, "the origin redirects in circles")
                default: return OriginFailure(.malformed, "\(error.shortDescription)")
                }
            }
            if error is NIOConnectionError || error is ChannelError {
                return OriginFailure(.unreachable, "the origin cannot be reached")
            }
            if let error = error as? IOError {
                let words = SystemCalls.message(error.errnoCode)
                return SystemCalls.meansUnreachable(error.errnoCode)
                    ? OriginFailure(.unreachable, "the origin cannot be reached: \(words)")
                    : OriginFailure(.interrupted, "the connection to the origin broke: \(words)")
            }
            let text = String(describing: error)
            let isTLS = text.contains("certificate") || text.contains("handshake") || text.contains("SSL")
            return OriginFailure(isTLS ? .untrusted : .interrupted, isTLS ? "no trusted connection: \(text)" : text)
        }
    }
#endif
