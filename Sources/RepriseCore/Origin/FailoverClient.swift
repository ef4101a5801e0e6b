import RepriseHTTP
package import ReprisePlatform

/// Sends whole requests that are not the engine's to the first of several origins that is well, and to the next where one
/// cannot be reached, is silent or answers with 5xx, before a byte was handed on. What is at one place only goes straight on.
/// One that asked all to leave it alone is asked only where all did.
///
/// A request that may change something is sent to another origin only where no connection could be made. Safe to use from any
/// thread.
package final class FailoverClient: OriginClient {
    private let client: any OriginClient
    private let mirrors: [Mirrors]
    private let hosts: HostTable
    private let timeout: Int64
    private let queues: any WorkQueues
    private let isCountedByUser: Bool
    private let onFailure: @Sendable (_ origin: String, _ reason: String) -> Void

    /// - Parameters:
    ///   - hosts: Knows which origins are well.
    ///   - timeout: Nanoseconds one of several may take to begin an answer.
    ///   - isCountedByUser: Whether a 429 is for one of many users, not for all.
    ///   - onFailure: Called whenever a request failed at one of several; on any thread, it must be quick.
    package init(
        client: any OriginClient, mirrors: [Mirrors], hosts: HostTable, timeout: Int64, queues: any WorkQueues,
        isCountedByUser: Bool = false, onFailure: @escaping @Sendable (_ origin: String, _ reason: String) -> Void
    ) {
        self.client = client
        self.mirrors = mirrors
        self.hosts = hosts
        self.timeout = timeout
        self.queues = queues
        self.isCountedByUser = isCountedByUser
        self.onFailure = onFailure
    }

    package var sendsEveryMethod: Bool { client.sendsEveryMethod }

    /// Sends `request` to the origin that is to have it.
    package func start(
        _ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void
    ) -> any OriginExchange {
        guard let places = mirrors.places(of: request.url) else { return client.start(request, onEvent: onEvent) }
        let exchange = FailoverExchange(self, request, places, onEvent: onEvent)
        if let first = next(of: places, besides: []) { exchange.ask(first) }
        return exchange
    }

    fileprivate typealias Places = (locations: [OriginURL], home: Int)
    fileprivate typealias Place = (place: Int, location: OriginURL)

    /// Where a request goes that was sent to `tried` before, as it stands now: one may have asked to be left alone meanwhile.
    fileprivate func next(of places: Places, besides tried: [Int]) -> Place? {
        let now = queues.now()
        let candidates = places.locations.map { location in
            OriginSelector.Candidate(
                location, breaker: hosts.breaker(of: location.origin),
                isHeldOff: hosts.holdOff(of: location.origin, now: now) != nil)
        }
        return OriginSelector(candidates, home: places.home).next(besides: tried, now: now)
    }

    fileprivate func send(
        _ request: OriginRequest, to location: OriginURL, _ onEvent: @escaping @Sendable (OriginEvent) -> Void
    ) -> any OriginExchange {
        hosts.noteAsked(location.origin, now: queues.now())
        var request = request
        request.url = location
        return client.start(request, onEvent: onEvent)
    }

    fileprivate func note(_ outcome: CircuitBreaker.Outcome, of location: OriginURL, _ reason: String) {
        hosts.note(outcome, of: location.origin, now: queues.now())
        if outcome != .answered { onFailure(location.origin, reason) }
    }

    /// A host that asks all to leave it alone is heard.
    fileprivate func heed(_ head: OriginResponseHead, of location: OriginURL) {
        guard head.status == 429, !isCountedByUser,
            let wait = RetryAfter.seconds(head.fields["Retry-After"], now: queues.wallClock())
        else { return }
        hosts.noteHoldOff(location.origin, nil, CacheError(answered: 429, retryAfter: wait), now: queues.now())
    }

    fileprivate var now: Int64 { queues.now() }

    fileprivate func whenLate(_ work: @escaping @Sendable () -> Void) { queues.after(timeout, work) }

    fileprivate func isLate(since: Int64) -> Bool { queues.now() - since >= timeout }
}

/// One request, at one origin after the other until one has an answer.
private final class FailoverExchange: OriginExchange {
    private struct State {
        /// The numbers of the places that were tried.
        var tried: [Int] = []
        /// The one that is asked now.
        var asked: OriginURL?
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

    private let client: FailoverClient
    private let request: OriginRequest
    private let places: FailoverClient.Places
    private let onEvent: @Sendable (OriginEvent) -> Void
    private let state = Lock(State())

    init(
        _ client: FailoverClient, _ request: OriginRequest, _ places: FailoverClient.Places,
        onEvent: @escaping @Sendable (OriginEvent) -> Void
    ) {
        self.client = client
        self.request = request
        self.places = places
        self.onEvent = onEvent
    }

    func ask(_ next: FailoverClient.Place) {
        let now = client.now
        let asked = state.withLock { state -> (serial: Int, isLast: Bool)? in
            guard !state.isCancelled else { return nil }
            state.tried.append(next.place)
            state.asked = next.location
            state.serial += 1
            state.exchange = nil
            state.sentAt = now
            return (state.serial, state.tried.count == places.locations.count)
        }
        guard let (serial, isLast) = asked else { return }
        let exchange = client.send(request, to: next.location) { event in self.received(event, serial) }
        let isWanted = state.withLock { state in
            guard state.serial == serial, !state.isCancelled, !state.isOver else { return false }
            state.exchange = exchange
            return true
        }
        guard isWanted else { return exchange.cancel() }
        payDemands()
        if !isLast { client.whenLate { [weak self] in self?.tooLong(serial) } }
    }

    /// Where the request may go besides; `nil` where it stays where it is.
    private func another(than tried: [Int]) -> FailoverClient.Place? {
        request.isUnsent ? client.next(of: places, besides: tried) : nil
    }

    private func received(_ event: OriginEvent, _ serial: Int) {
        let (location, hadHead, tried) = state.withLock { state in
            let isHeard = state.serial == serial && !state.isCancelled
            return (isHeard ? state.asked : nil, state.hasHead, state.tried)
        }
        guard let location else { return }
        switch event {
        case .head(let head):
            let outcome = CircuitBreaker.Outcome(status: head.status)
            client.note(outcome, of: location, "status \(head.status)")
            client.heed(head, of: location)
            if outcome == .troubled, request.isSafe, let next = another(than: tried) {
                return goOn(to: next, from: serial)
            }
            // Its time may have passed meanwhile: then another's answer is awaited, and this one's body will not come.
            let isAnswer = state.withLock { state in
                guard state.serial == serial, !state.isCancelled else { return false }
                state.hasHead = true
                return true
            }
            guard isAnswer else { return }
            onEvent(event)
            return payDemands()
        case .failed(let failure):
            if let outcome = hadHead ? .troubled : CircuitBreaker.Outcome(failure.kind) {
                client.note(outcome, of: location, failure.message)
                if !hadHead, request.isSafe || failure.kind == .unreachable, let next = another(than: tried) {
                    return goOn(to: next, from: serial)
                }
            }
            end()
        case .end: end()
        case .interim, .body: break
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
        let (location, tried) = state.withLock { state in
            (state.serial == serial && !state.hasHead && !state.isCancelled ? state.asked : nil, state.tried)
        }
        guard let location, request.isSafe, let next = another(than: tried) else { return }
        client.note(.unreachable, of: location, "no answer in time")
        goOn(to: next, from: serial)
    }

    private func goOn(to next: FailoverClient.Place, from serial: Int) {
        let (isCurrent, exchange) = state.withLock { state -> (Bool, (any OriginExchange)?) in
            guard state.serial == serial, !state.hasHead else { return (false, nil) }
            // Nothing that this try still says is heard from here on.
            state.serial += 1
            defer { state.exchange = nil }
            return (true, state.exchange)
        }
        guard isCurrent else { return }
        exchange?.cancel()
        ask(next)
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
        let (exchange, silent) = state.withLock {
            state -> ((any OriginExchange)?, (location: OriginURL?, since: Int64)?) in
            guard !state.isCancelled else { return (nil, nil) }
            state.isCancelled = true
            defer { state.exchange = nil }
            // One whose body is streamed may have waited for its client, and one that changes something takes its time.
            let mayBeSilent = request.isSafe && !request.isBodyStreamed && !state.hasHead && !state.isOver
            return (state.exchange, mayBeSilent ? (state.asked, state.sentAt) : nil)
        }
        exchange?.cancel()
        // The last of several origins has no timer here.
        if let silent, let location = silent.location, client.isLate(since: silent.since) {
            client.note(.unreachable, of: location, "no answer in time")
        }
    }
}
