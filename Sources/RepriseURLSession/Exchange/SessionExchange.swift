import Dispatch
import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One exchange over one task of a session, or over several where the request is asked in parts.
///
/// Its lock is a leaf: calls of a task made under it come back on other threads. Events go out on a queue of its own, one at a
/// time: never from inside a call of the engine's.
final class SessionExchange: OriginExchange {
    private struct State {
        var exchange: ExchangeState
        var task: URLSessionTask?
        var redirects: RedirectRule
        var isSuspended = false
        var isTaskCancelled = false

        mutating func cancelTask() {
            isTaskCancelled = true
            task?.cancel()
            task = nil
        }
    }

    private let sessions: SessionTable
    private let request: OriginRequest
    private let onEvent: @Sendable (OriginEvent) -> Void
    private let queue = DispatchQueue(label: "reprise.origin.exchange", qos: .userInitiated)
    private let state: Lock<State>

    init(_ request: OriginRequest, sessions: SessionTable, onEvent: @escaping @Sendable (OriginEvent) -> Void) {
        self.request = request
        self.sessions = sessions
        self.onEvent = onEvent
        let parts = RangedParts(fields: request.fields, size: sessions.configuration.partSize)
        state = Lock(
            State(
                exchange: ExchangeState(parts),
                redirects: RedirectRule(request.url, request.fields, limit: sessions.configuration.redirectLimit)))
    }

    /// Sends the request, or its next part.
    func ask() {
        // Where the library may send a request twice, one that changes something must not be sent at all.
        guard request.method == "GET" else {
            return fail(OriginFailure(.malformed, "this client sends GET alone, not \(request.method)"))
        }
        let fields = state.withLock { state in
            let fields = state.exchange.fields.replacing(in: sessions.configuration.fields)
            state.redirects = RedirectRule(request.url, fields, limit: sessions.configuration.redirectLimit)
            state.task = nil
            state.isSuspended = false
            return fields
        }
        guard let made = sessions.urlRequest(request.url, fields) else {
            return fail(OriginFailure(.malformed, "\(request.url.redacted) is no URL the system takes"))
        }
        guard let task = sessions.makeTask(made, for: self) else {
            return fail(OriginFailure(.interrupted, "the client was closed"))
        }
        state.withLock { state in
            state.task = task
            if state.isTaskCancelled { state.cancelTask() } else { task.resume() }
        }
    }

    // MARK: From the engine

    func demand() {
        state.withLock { $0.exchange.demand() }
        deliver()
    }

    func cancel() {
        state.withLock { state in
            state.exchange.cancel()
            state.cancelTask()
        }
    }

    // MARK: From the session

    /// Follows a redirect, or ends the exchange where it leads nowhere.
    func redirected(by location: String?, _ answer: @escaping @Sendable (URLRequest?) -> Void) {
        let isFollowed = state.withLock { state in
            // Under the lock, as FoundationNetworking ends the process over an answer for a task that was cancelled.
            if state.isTaskCancelled {
                #if canImport(ObjectiveC)
                    answer(nil)
                #endif
                return true
            }
            if !request.isFollowed {
                answer(nil)
                return true
            }
            let isFollowed = location.map { state.redirects.follow($0) } ?? false
            let made = isFollowed ? sessions.urlRequest(state.redirects.url, state.redirects.fields) : nil
            if made == nil { state.exchange.failed(RedirectRule.isLost) }
            answer(made)
            return made != nil
        }
        if !isFollowed { deliver() }
    }

    func received(_ head: OriginResponseHead) {
        // Interim answers are not the answer.
        if (100..<200).contains(head.status) { return }
        take { state throws(OriginFailure) in try state.exchange.received(head) }
    }

    func received(_ bytes: [UInt8]) {
        take { state throws(OriginFailure) in
            try state.exchange.received(bytes)
            #if canImport(ObjectiveC)
                // Only Apple's tasks stop reading then. Elsewhere a suspended task sends its request once more.
                if !state.isSuspended, state.exchange.waiting > ExchangeState.highWater {
                    state.isSuspended = true
                    state.task?.suspend()
                }
            #endif
        }
    }

    /// The task is over. Tells what it took.
    func completed(_ error: (any Error)?, _ record: TaskRecord) {
        let url = state.withLock { state in
            if let error {
                state.exchange.failed(OriginFailure(error))
            } else {
                state.exchange.ended(isFramed: record.isFramed)
            }
            state.task = nil
            return state.redirects.url
        }
        sessions.configuration.onMetrics?(record.metrics(url))
        deliver()
    }

    private func take(_ input: (inout State) throws(OriginFailure) -> Void) {
        let failure = state.withLock { state -> OriginFailure? in
            do throws(OriginFailure) {
                try input(&state)
                return nil
            } catch {
                return error
            }
        }
        if let failure { abandon(failure) } else { deliver() }
    }

    /// Ends the exchange and its task because of what the origin said, or because the client is closed.
    func abandon(_ failure: OriginFailure) {
        state.withLock { state in
            state.exchange.failed(failure)
            state.cancelTask()
        }
        deliver()
    }

    private func fail(_ failure: OriginFailure) {
        state.withLock { $0.exchange.failed(failure) }
        deliver()
    }

    // MARK: Towards the engine

    private func deliver() {
        queue.async {
            while true {
                switch self.next() {
                case .event(let event): self.onEvent(event)
                case .ask: self.ask()
                case .nothing: return
                }
            }
        }
    }

    private func next() -> ExchangeState.Step {
        state.withLock { state in
            let step = state.exchange.next()
            if state.isSuspended, state.exchange.waiting < ExchangeState.lowWater {
                state.isSuspended = false
                state.task?.resume()
            }
            return step
        }
    }
}
