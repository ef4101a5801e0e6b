package import RepriseHTTP

/// Whether a stored answer may be given to a request without asking the origin (RFC 9111 §4), and whether it may stand
/// in for an origin that fails (§4.2.4, RFC 5861). No I/O.
package struct ReuseRule: Sendable {
    /// What becomes of the request.
    package enum Verdict: Hashable, Sendable {
        /// The stored answer is fresh enough.
        case use
        /// It is stale, and the client or the origin allows that.
        case useStale
        /// It is stale, and the origin lets it be used while it is confirmed behind the scenes.
        case useWhileConfirming
        /// The origin has to confirm it first, because it is stale or the request wants that.
        case confirm(CacheStatus.Forward)
        /// The request wants only what is stored, and that may not be used: 504 (RFC 9111 §5.2.1.7).
        case unsatisfiable
    }

    private let stored: Freshness
    private let request: RequestCacheControl
    private let now: Int64

    package init(stored: Freshness, request: RequestCacheControl, now: Int64) {
        self.stored = stored
        self.request = request
        self.now = now
    }

    /// The verdict.
    package var verdict: Verdict {
        let verdict = ignoringOnlyIfCached
        guard request.onlyIfCached else { return verdict }
        switch verdict {
        case .confirm: return .unsatisfiable
        case .useWhileConfirming: return .useStale
        case .use, .useStale, .unsatisfiable: return verdict
        }
    }

    /// Why a request for it goes on to the origin, whatever it says of `only-if-cached`.
    package var forward: CacheStatus.Forward {
        if case .confirm(let reason) = ignoringOnlyIfCached { reason } else { .stale }
    }

    /// Whether the origin is asked before or while it is used.
    package var asksOrigin: Bool {
        switch verdict {
        case .confirm, .useWhileConfirming: true
        case .use, .useStale, .unsatisfiable: false
        }
    }

    private var ignoringOnlyIfCached: Verdict {
        let control = stored.control
        if stored.mustBeConfirmed || stored.isFromFuture(now: now) { return .confirm(.stale) }
        let left = stored.timeLeft(now: now)
        if left > 0 {
            if request.noCache { return .confirm(.request) }
            if isTooOld { return .confirm(.request) }
            if let shortest = request.minFresh, left < shortest { return .confirm(.request) }
            return .use
        }
        let staleness = 0 - left
        if request.noCache || forbidsStale || request.minFresh != nil { return .confirm(.stale) }
        if isTooOld { return .confirm(.stale) }
        if let tolerated = request.maxStale {
            return staleness <= tolerated && control.sharedMaxAge == nil ? .useStale : .confirm(.stale)
        }
        // A request that gives a highest age and no tolerance does not want what is stale (§5.2.1.1).
        if request.maxAge == nil, let window = control.staleWhileRevalidate, staleness <= window {
            return .useWhileConfirming
        }
        return .confirm(.stale)
    }

    /// `max-age=0` is how browsers reload: also what came within this second is confirmed then.
    private var isTooOld: Bool {
        guard let longest = request.maxAge else { return false }
        return longest == 0 || stored.age(now: now) > longest
    }

    /// `must-revalidate` and `proxy-revalidate` forbid every use of what is stale (§5.2.2.2, §5.2.2.8). `s-maxage` does
    /// so by meaning (§5.2.2.10), unless the same answer allows it in so many words (RFC 5861).
    private var forbidsStale: Bool { stored.control.mustRevalidate || stored.control.proxyRevalidate }

    /// Whether it may be used because the origin cannot confirm it: unreachable, silent, or 5xx.
    ///
    /// Where answer or request names a time by `stale-if-error` that is the limit, else there is none.
    package var mayStandIn: Bool {
        if stored.mustBeConfirmed || request.noCache || forbidsStale { return false }
        let staleness = max(0, 0 - stored.timeLeft(now: now))
        if let limit = stored.control.staleIfError ?? request.staleIfError {
            return staleness <= limit && (stored.control.sharedMaxAge == nil || stored.control.staleIfError != nil)
        }
        return stored.control.sharedMaxAge == nil
    }

    /// Whether the origin asked for that by `stale-if-error`: then nobody waits for a second try.
    package var standsInAtOnce: Bool { mayStandIn && stored.control.staleIfError ?? request.staleIfError != nil }
}
