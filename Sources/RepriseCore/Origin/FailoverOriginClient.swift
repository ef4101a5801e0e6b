public import RepriseHTTP
package import ReprisePlatform

/// Several origins that serve the same resources under the same paths, as one: a request goes to the first that is well,
/// and to the next where one cannot be reached, is silent or answers with 5xx, before a byte was handed on.
///
/// Whoever asks it names the first origin; which one answered shows in no key. That bytes of two origins are not mixed
/// is the engine's business, by the same rules as for one that changes: a continuation carries `If-Range`, and an answer
/// with another validator begins anew. So origins should agree about `ETag` and `Last-Modified`.
///
/// A request that may change something is sent to another origin only where no connection could be made. Safe to use
/// from any thread.
public final class FailoverOriginClient: OriginClient {
    private struct State {
        var roster: OriginRoster
        var listener: (@Sendable (OriginURL, String) -> Void)?
    }

    private let client: any OriginClient
    private let mirrors: Mirrors
    private let patience: Int64
    private let queues: any WorkQueues
    private let state: Lock<State>

    /// - Parameters:
    ///   - client: Sends the requests.
    ///   - origins: Scheme, host, port and a path that is before every resource's; the preferred one first, at least one.
    ///   - patience: Seconds one of several may take to begin an answer.
    public convenience init(client: any OriginClient, origins: [OriginURL], patience: Int = 5) {
        self.init(
            client: client, mirrors: .bases(origins), patience: Int64(patience) * 1_000_000_000,
            queues: SystemWorkQueues())
    }

    /// The same with a clock of its own; `patience` in nanoseconds.
    package init(client: any OriginClient, mirrors: Mirrors, patience: Int64, queues: any WorkQueues) {
        precondition(mirrors.count > 0, "somebody has to be asked")
        self.client = client
        self.mirrors = mirrors
        self.patience = patience
        self.queues = queues
        state = Lock(State(roster: OriginRoster(count: mirrors.count)))
    }

    /// Calls `listener` whenever a request failed at an origin, with the origin and why; on any thread, it must be quick.
    public func onFailure(_ listener: @escaping @Sendable (_ origin: OriginURL, _ reason: String) -> Void) {
        state.withLock { $0.listener = listener }
    }

    /// Sends `request` to the origin that is to have it.
    public func start(
        _ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void
    ) -> any OriginExchange {
        let now = queues.now()
        let order = state.withLock { $0.roster.order(now: now, preferring: mirrors.home(of: request.url)) }
        let exchange = FailoverExchange(self, request, order: order, onEvent: onEvent)
        exchange.askNext()
        return exchange
    }

    fileprivate func send(
        _ request: OriginRequest, to index: Int, _ onEvent: @escaping @Sendable (OriginEvent) -> Void
    ) -> any OriginExchange {
        var request = request
        request.url = mirrors.url(request.url, at: index)
        return client.start(request, onEvent: onEvent)
    }

    fileprivate func note(_ outcome: OriginRoster.Outcome, of index: Int, for url: OriginURL, _ reason: String) {
        let now = queues.now()
        let listener = state.withLock { state in
            state.roster.note(outcome, of: index, now: now)
            return state.listener
        }
        if outcome != .answered { listener?(mirrors.place(index, for: url), reason) }
    }

    fileprivate var now: Int64 { queues.now() }

    fileprivate func whenImpatient(_ work: @escaping @Sendable () -> Void) { queues.after(patience, work) }

    fileprivate func isImpatient(since: Int64) -> Bool { queues.now() - since >= patience }
}

/// One request, at one origin after the other until one has an answer.
private final class FailoverExchange: OriginExchange {
    private struct State {
        /// Origins that were not tried yet.
        var rest: [Int]
        /// The one that is asked now.
        var asked = 0
        /// Counts the tries: what an earlier one still says is not heard.
        var serial = 0
        var exchange: (any OriginExchange)?
        var sentAt: Int64 = 0
        /// Pieces asked for before there was somebody to ask.
        var owed = 0
        var hasHead = false
        var isCancelled = false
        /// An end or a failure was handed on.
        var isOver = false
    }

    private let client: FailoverOriginClient
    private let request: OriginRequest
    private let onEvent: @Sendable (OriginEvent) -> Void
    private let state: Lock<State>

    init(
        _ client: FailoverOriginClient, _ request: OriginRequest, order: [Int],
        onEvent: @escaping @Sendable (OriginEvent) -> Void
    ) {
        self.client = client
        self.request = request
        self.onEvent = onEvent
        state = Lock(State(rest: order))
    }

    func askNext() {
        let now = client.now
        let next = state.withLock { state -> (index: Int, serial: Int, isLast: Bool)? in
            guard !state.isCancelled, !state.rest.isEmpty else { return nil }
            state.asked = state.rest.removeFirst()
            state.serial += 1
            state.exchange = nil
            state.sentAt = now
            return (state.asked, state.serial, state.rest.isEmpty)
        }
        guard let next else { return }
        let exchange = client.send(request, to: next.index) { event in self.received(event, next.serial) }
        let isWanted = state.withLock { state in
            guard state.serial == next.serial, !state.isCancelled, !state.isOver else { return false }
            state.exchange = exchange
            return true
        }
        guard isWanted else { return exchange.cancel() }
        payDemands()
        if !next.isLast { client.whenImpatient { [weak self] in self?.tooLong(next.serial) } }
    }

    private func received(_ event: OriginEvent, _ serial: Int) {
        let (index, hadHead, mayGoOn) = state.withLock { state in
            let isHeard = state.serial == serial && !state.isCancelled
            return (isHeard ? state.asked : nil, state.hasHead, !state.rest.isEmpty)
        }
        guard let index else { return }
        switch event {
        case .head(let head):
            let isTrouble = OriginRoster.isTrouble(head.status)
            client.note(isTrouble ? .troubled : .answered, of: index, for: request.url, "status \(head.status)")
            if isTrouble, mayGoOn, request.isSafe { return goOn(from: serial) }
            state.withLock { $0.hasHead = true }
            onEvent(event)
            return payDemands()
        case .failed(let failure):
            client.note(
                hadHead ? .troubled : OriginRoster.outcome(of: failure.kind), of: index, for: request.url,
                failure.message)
            if !hadHead, mayGoOn, request.isSafe || failure.kind == .unreachable { return goOn(from: serial) }
            end()
        case .end: end()
        case .body: break
        }
        onEvent(event)
    }

    /// Lets go of the exchange, which holds on to this one.
    private func end() {
        state.withLock { state in
            state.isOver = true
            state.exchange = nil
        }
    }

    /// No head yet: the next one may be quicker.
    private func tooLong(_ serial: Int) {
        let index = state.withLock { state in
            state.serial == serial && !state.hasHead && !state.isCancelled ? state.asked : nil
        }
        guard let index, request.isSafe else { return }
        client.note(.unreachable, of: index, for: request.url, "no answer in time")
        goOn(from: serial)
    }

    private func goOn(from serial: Int) {
        let (isCurrent, exchange) = state.withLock { state -> (Bool, (any OriginExchange)?) in
            guard state.serial == serial, !state.hasHead else { return (false, nil) }
            // Nothing that this try still says is heard from here on.
            state.serial += 1
            defer { state.exchange = nil }
            return (true, state.exchange)
        }
        guard isCurrent else { return }
        exchange?.cancel()
        askNext()
    }

    func demand() {
        state.withLock { $0.owed += 1 }
        payDemands()
    }

    /// Passes on what was asked for, once it is clear whom to ask.
    private func payDemands() {
        let (exchange, owed) = state.withLock { state -> ((any OriginExchange)?, Int) in
            guard state.hasHead, let exchange = state.exchange else { return (nil, 0) }
            defer { state.owed = 0 }
            return (exchange, state.owed)
        }
        for _ in 0..<owed { exchange?.demand() }
    }

    func cancel() {
        let (exchange, silent) = state.withLock { state -> ((any OriginExchange)?, (index: Int, since: Int64)?) in
            guard !state.isCancelled else { return (nil, nil) }
            state.isCancelled = true
            defer { state.exchange = nil }
            return (state.exchange, state.hasHead ? nil : (state.asked, state.sentAt))
        }
        exchange?.cancel()
        // Whoever asked has lost patience as well; the last of several has no timer of its own.
        if let silent, client.isImpatient(since: silent.since) {
            client.note(.unreachable, of: silent.index, for: request.url, "no answer in time")
        }
    }
}
