package import ReprisePlatform

/// Sends requests until it is closed: those that are under way fail then, and later ones are not sent.
///
/// For requests that are not an entry's; entries end their own. Safe to use from any thread.
package final class ClosableClient: OriginClient {
    private enum State {
        /// The requests that are under way.
        case open([ObjectIdentifier: ClosableExchange])
        case closed
    }

    private let client: any OriginClient
    private let queues: any WorkQueues
    private let state = Lock(State.open([:]))

    package init(_ client: any OriginClient, queues: any WorkQueues) {
        self.client = client
        self.queues = queues
    }

    package var sendsEveryMethod: Bool { client.sendsEveryMethod }

    package func start(
        _ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void
    ) -> any OriginExchange {
        let exchange = ClosableExchange(onEvent) { [weak self] ended in self?.note(nil, for: ended) }
        let isOpen = note(exchange, for: exchange)
        if isOpen {
            exchange.begin(client.start(request) { exchange.received($0) })
        } else {
            exchange.close(on: queues)
        }
        return exchange
    }

    /// Ends all requests, for good.
    package func close() {
        let exchanges = state.withLock { state -> [ClosableExchange] in
            guard case .open(let exchanges) = state else { return [] }
            state = .closed
            return Array(exchanges.values)
        }
        for exchange in exchanges { exchange.close(on: queues) }
    }

    /// Notes a request as under way, or with `nil` as ended; `false` where this was closed.
    @discardableResult
    private func note(_ underWay: ClosableExchange?, for exchange: ClosableExchange) -> Bool {
        state.withLock { state in
            guard case .open(var exchanges) = state else { return false }
            exchanges[ObjectIdentifier(exchange)] = underWay
            state = .open(exchanges)
            return true
        }
    }
}

/// One request that its client can end.
private final class ClosableExchange: OriginExchange {
    private enum State {
        /// Nothing is being told.
        case quiet
        /// An event is being told; where it was closed meanwhile, its end is told after.
        case telling(isClosed: Bool)
        case over
    }

    private let onEvent: @Sendable (OriginEvent) -> Void
    private let onEnd: @Sendable (ClosableExchange) -> Void
    private let state = Lock((phase: State.quiet, exchange: (any OriginExchange)?.none))

    init(_ onEvent: @escaping @Sendable (OriginEvent) -> Void, onEnd: @escaping @Sendable (ClosableExchange) -> Void) {
        self.onEvent = onEvent
        self.onEnd = onEnd
    }

    func begin(_ exchange: any OriginExchange) {
        let isOver = state.withLock { state in
            if case .over = state.phase { return true }
            state.exchange = exchange
            return false
        }
        if isOver { exchange.cancel() }
    }

    func received(_ event: OriginEvent) {
        let isHeard = state.withLock { state in
            guard case .quiet = state.phase else { return false }
            state.phase = .telling(isClosed: false)
            return true
        }
        guard isHeard else { return }
        onEvent(event)
        let wasClosed = state.withLock { state in
            guard case .telling(let isClosed) = state.phase else { return false }
            state.phase = isClosed || event.isLast ? .over : .quiet
            return isClosed
        }
        if event.isLast { end() } else if wasClosed { tellClosed() }
    }

    /// The cache was closed.
    func close(on queues: any WorkQueues) {
        let isQuiet = state.withLock { state in
            switch state.phase {
            case .quiet:
                state.phase = .over
                return true
            case .telling:
                state.phase = .telling(isClosed: true)
                return false
            case .over: return false
            }
        }
        end()
        // As any failure: not before the caller has its exchange.
        if isQuiet { queues.soon { self.tellClosed() } }
    }

    private func tellClosed() { onEvent(.failed(OriginFailure(.refused, "the cache was closed"))) }

    private func end() {
        let exchange = state.withLock { state in
            defer { state.exchange = nil }
            return state.exchange
        }
        exchange?.cancel()
        onEnd(self)
    }

    func demand() { state.withLock { $0.exchange }?.demand() }

    func cancel() {
        state.withLock { $0.phase = .over }
        end()
    }
}

extension OriginEvent {
    /// Whether nothing comes after it.
    fileprivate var isLast: Bool {
        switch self {
        case .end, .failed: true
        case .interim, .head, .body: false
        }
    }
}
