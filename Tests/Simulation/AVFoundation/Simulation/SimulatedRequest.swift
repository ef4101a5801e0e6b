public import Foundation

/// A loading request as the player sees it: made by hand with
/// ``AVAssetResourceLoader/simulateRequest(offset:length:toEnd:kind:url:keepsBytes:onBytes:onEnd:)``, or by the simulated
/// player. It does not keep the loader alive.
public final class SimulatedRequest: Sendable {
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
    /// Counts from 1 in the order of asking.
    public let identifier: Int

    init(core: SimulatedLoaderCore, identifier: Int) {
        self.core = core
        self.identifier = identifier
    }

    /// What is known of it now.
    public var record: SimulatedLoaderRecord.Request { core.read(identifier) { $0.snapshot } }
    /// Bytes that were given and not consumed yet.
    public var retainedBytes: Int64 { core.read(identifier) { $0.retainedBytes } }

    /// How it ended; waits until it has, or throws `CancellationError`.
    public var completion: SimulatedOutcome {
        get async throws {
            while true {
                if let outcome = record.outcome { return outcome }
                try await core.wait(identifier, received: .max)
            }
        }
    }

    /// Waits until so many bytes have come or it has ended, and says how many have come.
    @discardableResult
    public func received(atLeast count: Int64) async throws -> Int64 {
        try await core.wait(identifier, received: count)
        return record.received
    }

    /// The player wants no more of it: `isCancelled` is true at once, the delegate hears later, if it hears.
    public func cancel() { core.cancel(identifier) }

    /// Hands out the bytes kept so far, and lets them go.
    public func consume() -> Data { core.consume(identifier) }

    /// Lets go of the bytes kept that lie before the offset whole: they were played.
    func release(before offset: Int64) { core.release(identifier, before: offset) }
}

extension AVAssetResourceLoader {
    /// Asks the delegate as a player would. Without a length the range runs to the end; whether it reaches the end is
    /// computed from the length known so far, unless `toEnd` says so. Handlers run where the delegate responds, in order,
    /// with no lock held; `onEnd` may run before this returns.
    @discardableResult
    public func simulateRequest(
        offset: Int64 = 0, length: Int? = nil, toEnd: Bool? = nil, kind: SimulatedRequest.Kind = .media,
        url: URL? = nil, keepsBytes: Bool = true,
        onBytes: (@Sendable (_ offset: Int64, Data) -> Void)? = nil,
        onEnd: (@Sendable (SimulatedOutcome) -> Void)? = nil
    ) -> SimulatedRequest {
        let url = url ?? self.url
        let identifier = core.issue(
            loader: self, url: url, offset: offset, length: length, toEnd: toEnd, kind: kind, keepsBytes: keepsBytes,
            onBytes: onBytes, onEnd: onEnd)
        begin(identifier, url)
        return SimulatedRequest(core: core, identifier: identifier)
    }

    func begin(_ identifier: Int, _ url: URL) {
        if mediates(url) { core.enqueue(identifier) } else { core.loadNatively(identifier) }
    }

    // File URLs are never mediated, http and https only where a system does so.
    private func mediates(_ url: URL) -> Bool {
        let scheme = url.scheme?.lowercased()
        if scheme == "http" || scheme == "https" { return simulationBehaviour.httpReachesDelegate }
        return scheme != nil && scheme != "file"
    }

    /// What was asked for and what came, up to now.
    public var simulationRecord: SimulatedLoaderRecord { core.record }

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
