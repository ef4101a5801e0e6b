import ReprisePlatform
public import RepriseStorage

/// How much is kept.
extension MediaCache {
    /// The limits of the store now.
    public var limits: StoreLimits { environment.quota.limits }

    /// Sets other limits, and has what is above them evicted in the background.
    /// - Throws: `CacheError` with `.unsupported` for a limit of 0 or less; `nil` is no limit.
    public func setLimits(_ limits: StoreLimits) throws(CacheError) {
        try MediaCache.check(limits)
        environment.quota.update { $0.limits = limits }
        environment.quota.requestEviction()
    }

    static func check(_ limits: StoreLimits) throws(CacheError) {
        if let problem = limits.problem { throw CacheError(.unsupported, problem) }
    }

    /// Bytes the store takes on its volume: as counted last, and what was stored since.
    public var allocatedBytes: Int64 { environment.quota.used }

    /// Counts what is stored, removes what is too old, and makes room where a limit is reached; returns when that is done.
    /// The cache does the same by itself where it has to.
    public func collectGarbage() async {
        guard status == .ready else { return }
        await withCallback { done in housekeeper.sweep { done(()) } }
    }
}
