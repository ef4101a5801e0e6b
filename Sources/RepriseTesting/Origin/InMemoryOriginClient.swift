public import RepriseCore
import RepriseHTTP
package import ReprisePlatform
import RepriseRanges

/// An origin client that never leaves the process: asks a scripted origin and plays its answer on the given queues,
/// with exact backpressure. Follows up to five redirects, as clients do.
public final class InMemoryOriginClient: OriginClient {
    private let origin: ScriptedOrigin
    private let queues: any WorkQueues
    private let pieceSize: Int
    /// Pieces delivered so far, for a test to see that nothing comes unasked.
    private let pieces = Lock(0)

    /// - Parameter pieceSize: Most bytes of one body event.
    package init(origin: ScriptedOrigin, queues: any WorkQueues, pieceSize: Int = 16 * 1024) {
        self.origin = origin
        self.queues = queues
        self.pieceSize = pieceSize
    }

    /// Sends `request`.
    public func start(_ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void)
        -> any OriginExchange
    {
        let exchange = Exchange(origin: origin, queues: queues, pieceSize: pieceSize, onEvent: onEvent)
        queues.soon { exchange.gather(request) }
        return exchange
    }

    private final class Exchange: OriginExchange {
        private struct State {
            var steps: [ScriptedAnswer.Step] = []
            var resource: ScriptedOrigin.Resource?
            var rate: Int64 = 0
            var framing = OriginBehaviour.Framing.length
            var trailers = HTTPFields()
            var rest: Int64?
            var isCancelled = false
            var isOver = false
        }

        private let origin: ScriptedOrigin
        private let queues: any WorkQueues
        private let pieceSize: Int
        private let onEvent: @Sendable (OriginEvent) -> Void
        private let state = Lock(State())

        init(
            origin: ScriptedOrigin, queues: any WorkQueues, pieceSize: Int,
            onEvent: @escaping @Sendable (OriginEvent) -> Void
        ) {
            self.origin = origin
            self.queues = queues
            self.pieceSize = pieceSize
            self.onEvent = onEvent
        }

        /// Begins once all of the request's body is there.
        func gather(_ request: OriginRequest, _ bytes: [UInt8] = []) {
            guard case .upload(let upload) = request.body else {
                return begin(request, RedirectRule(request.url, request.fields))
            }
            upload.next { [self] piece in
                switch piece {
                case .bytes(let more): gather(request, bytes + more)
                case .end:
                    var whole = request
                    whole.body = .whole(bytes)
                    gather(whole)
                case .broken: emit(.failed(OriginFailure(.interrupted, "the body broke off")))
                }
            }
        }

        private func begin(_ request: OriginRequest, _ redirects: RedirectRule) {
            guard !origin.isDown else { return emit(.failed(OriginFailure(.unreachable, "connection refused"))) }
            let answer = origin.answer(
                method: request.method, target: request.url.target, fields: request.fields,
                body: request.body?.bytes ?? [])
            if request.isFollowed, let location = RedirectRule.location(answer.status, answer.fields) {
                var redirects = redirects
                guard redirects.follow(location) else { return emit(.failed(RedirectRule.isLost)) }
                var next = request
                (next.url, next.fields) = (redirects.url, redirects.fields)
                let (following, hops) = (next, redirects)
                return queues.soon { self.begin(following, hops) }
            }
            let resource = origin.resource(at: request.url.path)
            state.withLock { state in
                state.steps = answer.steps
                state.resource = resource
                state.rate = answer.bytesPerSecond
                state.framing = answer.framing
                state.trailers = answer.trailers
                state.rest = answer.framing == .length ? answer.fields["Content-Length"]?.decimal : nil
            }
            for head in answer.interim { emit(.interim(head)) }
            queues.after(answer.delay) {
                self.emit(.head(OriginResponseHead(status: answer.status, fields: answer.fields)))
                if answer.steps.isEmpty { self.emit(.end(isDelimited: true, trailers: answer.trailers)) }
            }
        }

        private func emit(_ event: OriginEvent) {
            let isWanted = state.withLock { state in
                if state.isCancelled || state.isOver { return false }
                switch event {
                case .end, .failed: state.isOver = true
                case .interim, .head, .body: break
                }
                return true
            }
            if isWanted { onEvent(event) }
        }

        func demand() {
            queues.soon { self.play() }
        }

        private func play() {
            enum Next { case piece([UInt8]), end(Bool), reset, nothing }
            let (next, rate) = state.withLock { state -> (Next, Int64) in
                if state.isCancelled { return (.nothing, 0) }
                if state.rest == 0 { return (.end(true), 0) }
                guard let step = state.steps.first else {
                    if let rest = state.rest, rest > 0 { return (.reset, 0) }
                    return (.end(state.framing != .close), 0)
                }
                switch step {
                case .content(let range):
                    let part = ByteRange(
                        offset: range.lowerBound, count: min(range.count, Int64(pieceSize), state.rest ?? .max))
                    let left = ByteRange(part.upperBound, range.upperBound)
                    if left.isEmpty { state.steps.removeFirst() } else { state.steps[0] = .content(left) }
                    state.rest = state.rest.map { $0 - part.count }
                    let bytes = state.resource?.bytes(in: part) ?? []
                    return (bytes.isEmpty ? .end(true) : .piece(bytes), state.rate)
                case .literal(let bytes):
                    state.steps.removeFirst()
                    let part = Array(bytes.prefix(Int(min(Int64(bytes.count), state.rest ?? .max))))
                    state.rest = state.rest.map { $0 - Int64(part.count) }
                    return (part.isEmpty ? .end(true) : .piece(part), state.rate)
                case .stall: return (.nothing, 0)
                case .reset: return (.reset, 0)
                }
            }
            switch next {
            case .piece(let bytes):
                origin.countSent(bytes.count)
                let delay = rate > 0 ? Int64(bytes.count) * 1_000_000_000 / rate : 0
                queues.after(delay) {
                    self.emit(.body(bytes[...]))
                    self.finishIfDone()
                }
            case .end(let isDelimited): emitEnd(isDelimited)
            case .reset: emit(.failed(OriginFailure(.interrupted, "the connection was reset")))
            case .nothing: break
            }
        }

        // A body's end comes without being asked for, as it does from a real client.
        private func finishIfDone() {
            let ended = state.withLock { state -> Bool? in
                if state.rest == 0 { return true }
                return state.steps.isEmpty && state.rest == nil ? state.framing != .close : nil
            }
            if let ended { emitEnd(ended) }
        }

        private func emitEnd(_ isDelimited: Bool) {
            emit(.end(isDelimited: isDelimited, trailers: state.withLock(\.trailers)))
        }

        func cancel() { state.withLock { $0.isCancelled = true } }
    }
}
