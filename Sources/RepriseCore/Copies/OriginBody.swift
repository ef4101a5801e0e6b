import ReprisePlatform
import RepriseRanges

/// One request to an origin, its events taken one at a time by whoever awaits them.
final class OriginBody: Sendable {
    /// What came and was not taken yet; the exchange tells it, and must not hold whoever reads.
    private final class Inbox: Sendable {
        private struct State {
            var events: [OriginEvent] = []
            var waker: Waker?
        }

        private let state = Lock(State())

        func put(_ event: OriginEvent) {
            // There may be any number, and none is an answer.
            if case .interim = event { return }
            let waker = state.withLock { state in
                state.events.append(event)
                defer { state.waker = nil }
                return state.waker
            }
            waker?.wake()
        }

        func take(orTell waker: Waker) -> OriginEvent? {
            state.withLock { state in
                if !state.events.isEmpty { return state.events.removeFirst() }
                state.waker = waker
                return nil
            }
        }
    }

    private let inbox: Inbox
    private let exchange: any OriginExchange
    private let queues: any WorkQueues
    private let tuning: TransferTuning

    /// - Parameter tuning: How long an answer and each chunk of it may take.
    init(_ request: OriginRequest, by client: any OriginClient, on queues: any WorkQueues, _ tuning: TransferTuning) {
        let inbox = Inbox()
        self.inbox = inbox
        self.queues = queues
        self.tuning = tuning
        exchange = client.start(request) { inbox.put($0) }
    }

    deinit { exchange.cancel() }

    /// The next event that comes.
    /// - Throws: `CacheError` with `.originTimedOut` where none comes within `limit` nanoseconds; `CancellationError`.
    private func next(within limit: Int64) async throws -> OriginEvent {
        let deadline = queues.now().adding(limit)
        while true {
            let waker = Waker()
            if let event = inbox.take(orTell: waker) { return event }
            let left = deadline - queues.now()
            guard left > 0 else {
                exchange.cancel()
                throw CacheError(.originTimedOut, "the origin sent nothing for \(limit / TransferTuning.second) s")
            }
            queues.after(left) { waker.wake() }
            try await waker.wait()
        }
    }

    /// The head of the answer.
    /// - Throws: `CacheError` where there is none; `CancellationError`.
    func head() async throws -> OriginResponseHead {
        switch try await next(within: tuning.headTimeout) {
        case .head(let head): return head
        case .failed(let failure): throw CacheError(failure)
        case .interim, .body, .end:
            throw CacheError(.originInvalid, "the origin's client told of a body without a head")
        }
    }

    /// The next piece of the body; `nil` at its end.
    /// - Throws: `CacheError` where it breaks off; `CancellationError`.
    func piece() async throws -> ArraySlice<UInt8>? {
        exchange.demand()
        switch try await next(within: tuning.stallTimeout) {
        case .body(let bytes): return bytes
        case .end: return nil
        case .failed(let failure): throw CacheError(failure)
        case .interim, .head: throw CacheError(.originInvalid, "the origin's client told of two heads")
        }
    }
}
