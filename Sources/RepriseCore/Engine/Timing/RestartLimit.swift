import RepriseRanges

/// Representations that replaced each other before a reader was served: an origin that changes with every answer is asked more
/// slowly each time, so that one of its answers can be read.
struct RestartLimit {
    private var restarts = 0
    /// Nanoseconds.
    private var notBefore: Int64 = 0

    /// Replacements in a row that cost no pause: a resource that changed is fetched anew at once.
    private static let free = 2

    /// When the origin may be asked again, in nanoseconds; `nil` where it may be now.
    func pausedUntil(_ now: Int64) -> Int64? { now < notBefore ? notBefore : nil }

    /// A representation was replaced.
    mutating func restarted(now: Int64, pauses: OriginBackoff.Pauses) {
        restarts += 1
        guard restarts > RestartLimit.free else { return }
        notBefore = now.adding(min(pauses.first << Int64(min(restarts - RestartLimit.free - 1, 10)), pauses.longest))
    }

    /// A reader was served.
    mutating func served() { if restarts > 0 { self = RestartLimit() } }
}
