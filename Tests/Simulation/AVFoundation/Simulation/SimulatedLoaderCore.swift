internal import Dispatch
internal import Foundation
internal import FoundationNetworking

/// The loader machine: one loader's requests and their state, under one lock that is released before anything is called.
///
///     issue → waiting → (delegate asked, one at a time) → open → ended
final class SimulatedLoaderCore: Sendable {
    struct RequestState {
        var record: SimulatedLoaderRecord.Request
        let url: URL
        let allowedContentTypes: [String]?
        let keepsBytes: Bool
        var onBytes: (@Sendable (Int64, Data) -> Void)?
        var onEnd: (@Sendable (SimulatedOutcome) -> Void)?
        var filled = SimulatedInformation()
        var response: URLResponse?
        var redirect: URLRequest?
        var kept: [Data] = []
        var waiters: [Waiter] = []
        weak var loading: AVAssetResourceLoadingRequest?

        var retainedBytes: Int64 { kept.reduce(0) { $0 + Int64($1.count) } }
        var snapshot: SimulatedLoaderRecord.Request {
            var record = record
            record.isAbandoned = record.answer == true && record.outcome == nil && loading == nil
            return record
        }
    }

    struct Waiter {
        let token: Int
        let count: Int64
        let continuation: CheckedContinuation<Void, Never>
    }

    struct State {
        weak var loader: AVAssetResourceLoader?
        weak var delegate: (any AVAssetResourceLoaderDelegate)?
        var delegateQueue: DispatchQueue?
        var preloadsKeys = false
        var behaviour = SimulatedBehaviour()
        var onRespond: (@Sendable (Int64, Data) -> Void)?
        var isCancelled = false
        var isAsking = false
        var waiting: [Int] = []
        var requests: [RequestState] = []
        var cached: [URL: SimulatedInformation] = [:]
        var lengths: [URL: Int64] = [:]
        var traps: [SimulatedTrap] = []
        var nativeLoads = 0
        var lastToken = 0
    }

    let state = Guarded(State())

    func read<Result>(_ identifier: Int, _ body: (RequestState) -> Result) -> Result {
        state.withLock { body($0.requests[identifier - 1]) }
    }

    func change(_ identifier: Int, _ body: (inout RequestState) -> Void) {
        state.withLock { body(&$0.requests[identifier - 1]) }
    }

    var record: SimulatedLoaderRecord {
        state.withLock { state in
            SimulatedLoaderRecord(
                requests: state.requests.map(\.snapshot), traps: state.traps, nativeLoads: state.nativeLoads,
                retainedBytes: state.requests.reduce(0) { $0 + $1.retainedBytes })
        }
    }

    func setDelegate(_ delegate: (any AVAssetResourceLoaderDelegate)?, queue: DispatchQueue?) {
        state.withLock { state in
            guard delegate == nil || queue != nil else {
                state.trap("NSInvalidArgumentException", "setDelegate(_:queue:) with a delegate and no queue")
                return
            }
            state.delegate = delegate
            state.delegateQueue = queue
        }
    }

    func issue(
        loader: AVAssetResourceLoader, url: URL, offset: Int64, length: Int?, toEnd: Bool?,
        kind: SimulatedRequest.Kind, keepsBytes: Bool, onBytes: (@Sendable (Int64, Data) -> Void)?,
        onEnd: (@Sendable (SimulatedOutcome) -> Void)?
    ) -> Int {
        state.withLock { state in
            state.loader = loader
            let total = state.lengths[url] ?? 0
            let isRangeless = kind == .playlist
            let length = isRangeless ? Int.max : length ?? (total > 0 ? Int(max(0, total - offset)) : Int.max)
            let (end, overflows) = offset.addingReportingOverflow(Int64(length))
            // A property of the range, not a wish: computed from what is known of the length.
            let reachesEnd = isRangeless || length == Int.max || (total > 0 && (overflows || end >= total))
            state.requests.append(
                RequestState(
                    record: .init(
                        identifier: state.requests.count + 1, kind: kind, offset: offset, length: length,
                        isToEnd: toEnd ?? reachesEnd,
                        asksInformation: kind == .renewal || state.cached[url] == nil, currentOffset: offset),
                    url: url, allowedContentTypes: state.behaviour.allowedContentTypes, keepsBytes: keepsBytes,
                    onBytes: onBytes, onEnd: onEnd))
            return state.requests.count
        }
    }

    func loadNatively(_ identifier: Int) {
        perform { state in
            state.nativeLoads += 1
            return state.end(identifier, .native)
        }
    }

    /// Changes the state, then does what the change asks for with the lock released.
    func perform(_ body: (inout State) -> [() -> Void]) {
        for action in state.withLock(body) { action() }
    }

    func wait(_ identifier: Int, received count: Int64) async throws {
        let token = state.withLock { state in
            state.lastToken += 1
            return state.lastToken
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    let record = state.requests[identifier - 1].record
                    if record.outcome != nil || record.received >= count || Task.isCancelled { return true }
                    state.requests[identifier - 1].waiters.append(
                        Waiter(token: token, count: count, continuation: continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            perform { $0.requests[identifier - 1].takeWaiters { $0.token == token } }
        }
        try Task.checkCancellation()
    }

    func consume(_ identifier: Int) -> Data {
        let kept = state.withLock { state in
            defer { state.requests[identifier - 1].kept = [] }
            return state.requests[identifier - 1].kept
        }
        return kept.reduce(into: Data()) { $0.append($1) }
    }

    func release(_ identifier: Int, before offset: Int64) {
        change(identifier) { request in
            var start = request.record.offset + request.record.received - request.retainedBytes
            let count = request.kept.prefix {
                start += Int64($0.count)
                return start <= offset
            }.count
            request.kept.removeFirst(count)
        }
    }
}

extension SimulatedLoaderCore.State {
    mutating func trap(_ name: String, _ reason: String) { traps.append(SimulatedTrap(name: name, reason: reason)) }

    /// Ends a request once; what is left to do comes back.
    mutating func end(_ identifier: Int, _ outcome: SimulatedOutcome) -> [() -> Void] {
        guard requests[identifier - 1].record.outcome == nil else { return [] }
        requests[identifier - 1].record.outcome = outcome
        var actions = requests[identifier - 1].takeWaiters { _ in true }
        // What the handlers hold may end with them, so they leave the lock first.
        let (onBytes, onEnd) = (requests[identifier - 1].onBytes, requests[identifier - 1].onEnd)
        requests[identifier - 1].onBytes = nil
        requests[identifier - 1].onEnd = nil
        actions.append { withExtendedLifetime(onBytes) { onEnd?(outcome) } }
        return actions
    }

    /// Content information travels once: with the first bytes, or at the finish.
    mutating func sendInformation(_ identifier: Int) {
        let request = requests[identifier - 1]
        guard request.record.asksInformation, request.record.information == nil else { return }
        requests[identifier - 1].record.information = request.filled
        if request.filled.contentLength > 0 { lengths[request.url] = request.filled.contentLength }
    }

    /// A finished request's information is kept for the URL, if it has a type and no date, also after an error.
    mutating func cacheInformation(_ identifier: Int) {
        let request = requests[identifier - 1]
        guard let information = request.record.information, information.contentType != nil,
            information.renewalDate == nil, (request.allowedContentTypes?.count ?? 0) <= 1
        else { return }
        cached[request.url] = information
    }
}

extension SimulatedLoaderCore.RequestState {
    mutating func takeWaiters(_ isTaken: (SimulatedLoaderCore.Waiter) -> Bool) -> [() -> Void] {
        let taken = waiters.filter(isTaken)
        waiters.removeAll(where: isTaken)
        return taken.map { waiter in { waiter.continuation.resume() } }
    }
}
