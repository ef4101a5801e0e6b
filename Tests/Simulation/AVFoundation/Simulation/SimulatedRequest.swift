public import Foundation
internal import FoundationNetworking

// @unchecked: its state is only touched with its core's lock held.
/// A loading request as the player sees it: made by hand with
/// ``AVAssetResourceLoader/simulateRequest(offset:length:kind:url:keepsBytes:)``, or by the simulated player. It does not
/// keep the loader alive.
public final class SimulatedRequest: @unchecked Sendable {
    /// What a request is for.
    public enum Kind: Sendable {
        /// A range of a media file.
        case media
        /// A playlist or a key: the whole resource, without a `Range` header.
        case playlist
        /// A segment of a stream: only a redirect is accepted, bytes fail it. (B)
        case segment
        /// Content information that is due again: no bytes are asked for. (D)
        case renewal
    }

    let core: SimulatedLoaderCore
    let url: URL
    let keepsBytes: Bool
    var seen: SimulatedLoaderRecord.Request
    var allowedContentTypes: [String]?
    var onBytes: (@Sendable (Int64, Data) -> Void)?
    var onEnd: (@Sendable (SimulatedOutcome) -> Void)?
    var filled = SimulatedInformation()
    var response: URLResponse?
    var redirect: URLRequest?
    var kept: [Data] = []
    weak var loading: AVAssetResourceLoadingRequest?

    /// Numbered in the order of asking; nothing comes of it before ``begin()``. Handlers run where the delegate responds,
    /// in order, with no lock held; `onEnd` may run before `begin()` returns.
    init(
        _ loader: AVAssetResourceLoader, url: URL? = nil, offset: Int64, length: Int?, kind: Kind = .media,
        keepsBytes: Bool, onBytes: (@Sendable (Int64, Data) -> Void)? = nil,
        onEnd: (@Sendable (SimulatedOutcome) -> Void)? = nil
    ) {
        core = loader.core
        self.url = url ?? loader.url
        self.keepsBytes = keepsBytes
        self.onBytes = onBytes
        self.onEnd = onEnd
        seen = SimulatedLoaderRecord.Request(kind: kind, offset: offset)
        core.state.withLock { state in
            state.loader = loader
            let total = state.lengths[self.url] ?? 0
            if kind != .playlist { seen.length = length ?? (total > 0 ? Int(max(0, total - offset)) : .max) }
            let (end, overflows) = offset.addingReportingOverflow(Int64(seen.length))
            // A property of the range, not a wish: computed from what is known of the length.
            seen.isToEnd = seen.length == .max || (total > 0 && (overflows || end >= total))
            seen.asksInformation = kind == .renewal || state.cached[self.url] == nil
            allowedContentTypes = state.behaviour.allowedContentTypes
            state.requests.append(self)
            seen.identifier = state.requests.count
        }
    }

    func begin() {
        // File URLs are never mediated, http and https only where a system does so.
        let reachesHTTP = core.state.withLock { $0.behaviour.httpReachesDelegate }
        guard url.isFileURL || url.simulatedIsNetwork && !reachesHTTP else { return core.enqueue(self) }
        core.perform { state in
            state.nativeLoads += 1
            return end(.native)
        }
    }

    func locked<Result>(_ body: (SimulatedRequest) -> Result) -> Result { core.state.withLock { _ in body(self) } }

    /// What is known of it, with the lock held.
    var snapshot: SimulatedLoaderRecord.Request {
        var record = seen
        record.isAbandoned = record.answer == true && record.outcome == nil && loading == nil
        return record
    }

    var keptBytes: Int64 { kept.reduce(0) { $0 + Int64($1.count) } }

    /// What is known of it now.
    public var record: SimulatedLoaderRecord.Request { locked(\.snapshot) }
    /// Bytes that were given and not consumed yet.
    public var retainedBytes: Int64 { locked(\.keptBytes) }

    /// How it ended; waits until it has, or throws `CancellationError`.
    public var completion: SimulatedOutcome {
        get async throws {
            try await received(atLeast: .max)
            return record.outcome ?? .cancelled
        }
    }

    /// Waits until so many bytes have come or it has ended, and says how many have come.
    @discardableResult
    public func received(atLeast count: Int64) async throws -> Int64 {
        while record.received < count, record.outcome == nil {
            try Task.checkCancellation()
            await Task.yield()
        }
        return record.received
    }

    /// Hands out the bytes kept so far, and lets them go.
    public func consume() -> Data {
        let kept = locked { request in
            defer { request.kept = [] }
            return request.kept
        }
        return kept.reduce(into: Data()) { $0.append($1) }
    }

    /// Lets go of the bytes kept that lie before the offset whole: they were played.
    func release(before offset: Int64) {
        locked { request in
            var start = request.seen.offset + request.seen.received - request.keptBytes
            let count = request.kept.prefix {
                start += Int64($0.count)
                return start <= offset
            }.count
            request.kept.removeFirst(count)
        }
    }
}

extension AVAssetResourceLoader {
    /// Asks the delegate as a player would. Without a length the range runs to the end; whether it reaches the end is
    /// computed from the length known so far.
    @discardableResult
    public func simulateRequest(
        offset: Int64 = 0, length: Int? = nil, kind: SimulatedRequest.Kind = .media, url: URL? = nil,
        keepsBytes: Bool = true
    ) -> SimulatedRequest {
        let request = SimulatedRequest(
            self, url: url, offset: offset, length: length, kind: kind, keepsBytes: keepsBytes)
        request.begin()
        return request
    }

    /// What was asked for and what came, up to now.
    public var simulationRecord: SimulatedLoaderRecord {
        core.state.withLock { state in
            SimulatedLoaderRecord(
                requests: state.requests.map(\.snapshot), traps: state.traps, nativeLoads: state.nativeLoads,
                retainedBytes: state.requests.reduce(0) { $0 + $1.keptBytes })
        }
    }

    /// How the loader, and the players of its asset, act; requests under way keep what they began with.
    public var simulationBehaviour: SimulatedBehaviour {
        get { core.state.withLock { $0.behaviour } }
        set { core.state.withLock { $0.behaviour = newValue } }
    }

    /// Sees every respond that reaches the player, with its offset, on the responding thread.
    public func simulationOnRespond(_ handler: (@Sendable (_ offset: Int64, Data) -> Void)?) {
        core.state.withLock { $0.onRespond = handler }
    }
}

extension URL {
    var simulatedIsNetwork: Bool { ["http", "https"].contains(scheme?.lowercased() ?? "") }
}
