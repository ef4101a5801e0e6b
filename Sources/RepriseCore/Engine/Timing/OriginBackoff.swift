import RepriseRanges

/// A run of failures at the origin: since when, how often, and when the origin may be asked again.
///
///     clear --failed, heldOff--> waiting --progressed, reset--> clear
///
/// A pause belongs to what failed: readers that come anew, or ask for another place, are not made to wait for it.
struct OriginBackoff {
    private struct Run {
        /// When it began, in nanoseconds.
        var since: Int64
        var attempts: Int
        var notBefore: Int64
        var error: CacheError
        /// The byte that could not be had last.
        var offset: Int64?
        /// The furthest byte that could not be had; only its coming ends the run. An origin that breaks off at the same place every
        /// time makes no progress, however many bytes it repeats before, and whatever it answers in between. `nil`: any byte does.
        var furthest: Int64?
        /// Where answers ended whose end only a closed connection told, and how many in a row ended there.
        var end: (offset: Int64, times: Int)?
    }

    /// How long the pauses are, in nanoseconds.
    struct Pauses {
        var first: Int64
        var longest: Int64
    }

    /// `nil`: clear.
    private var run: Run?

    // MARK: State

    /// What failed last.
    var error: CacheError? { run?.error }
    /// Failures in a row.
    var attempts: Int { run?.attempts ?? 0 }
    /// When the origin may be asked again, in nanoseconds; `nil` where it may be now.
    func pausedUntil(_ now: Int64) -> Int64? { run.flatMap { now < $0.notBefore ? $0.notBefore : nil } }

    /// Whether the origin has closed the connection at that byte so often that the resource seems to end there.
    func endsRepeatedly(at offset: Int64) -> Bool {
        run?.end.map { $0.offset == offset && $0.times >= 2 } ?? false
    }

    /// Whether that byte could not be had.
    func fails(at offset: Int64) -> Bool { run.map { $0.offset == nil || $0.offset == offset } ?? false }

    /// When a reader that waits since `waitsSince`, and for at most `timeLimit`, gets the error; `nil` where nothing failed. One
    /// that the origin has asked to wait longer than that gets it at once.
    func failsAt(waitsSince: Int64, timeLimit: Int64) -> Int64? {
        guard let run else { return nil }
        let begun = max(run.since, waitsSince)
        if run.error.retryAfter != nil, run.notBefore - begun > timeLimit { return begun }
        return begun.adding(timeLimit).adding(1)
    }

    /// Whether a reader would be told of a failure that came now before the origin is asked again.
    func isLastTry(waitsSince: Int64, timeLimit: Int64, now: Int64, pauses: Pauses, retryAfter: Int64) -> Bool {
        var next = self
        let error = CacheError(.originUnreachable, "", retryAfter: retryAfter > 0 ? retryAfter : nil)
        // At the latest: an early end is better than a try whose answer comes too late.
        next.failed(error, at: nil, now: now, pauses: pauses, retryAfter: retryAfter, jitter: 1)
        guard let failsAt = next.failsAt(waitsSince: waitsSince, timeLimit: timeLimit) else { return false }
        return next.pausedUntil(now) ?? now >= failsAt
    }

    // MARK: Inputs

    /// A request came to nothing, or its answer cannot be used.
    /// - Parameters:
    ///   - end: Where the answer ended, if only the closed connection told that it does.
    ///   - retryAfter: How long the origin asked to wait, in nanoseconds.
    ///   - jitter: From 0 up to 1.
    mutating func failed(
        _ error: CacheError, at offset: Int64?, closedAt end: Int64? = nil, now: Int64, pauses: Pauses,
        retryAfter: Int64, jitter: Double
    ) {
        let attempts = attempts + 1
        let pause = min(pauses.first << Int64(min(attempts - 1, 10)), pauses.longest)
        let wait = max(pause.adding(Int64(Double(pause) * 0.25 * jitter)), retryAfter)
        run = Run(
            since: run?.since ?? now, attempts: attempts, notBefore: now.adding(wait), error: error, offset: offset,
            furthest: [run?.furthest, offset].compactMap { $0 }.max(), end: ends(with: end))
    }

    private func ends(with end: Int64?) -> (offset: Int64, times: Int)? {
        guard let end else { return run?.end }
        guard let before = run?.end, before.offset == end else { return (end, 1) }
        return (end, before.times &+ 1)
    }

    /// The host asked another request to wait. Who waits since before waits no longer for that.
    mutating func heldOff(until: Int64, _ error: CacheError, now: Int64) {
        run = Run(
            since: run?.since ?? now, attempts: max(attempts, 1), notBefore: until, error: error, offset: run?.offset,
            furthest: run?.furthest, end: run?.end)
    }

    /// Bytes came: whether the furthest that could not be had is among them ends the run.
    mutating func progressed(by contains: (Int64) -> Bool) {
        guard let run else { return }
        if run.furthest.map(contains) ?? true { self.run = nil }
    }

    /// A reader came, or asks for another place: it is tried at once. Who waits since before waits no longer for that.
    /// - Parameter othersWait: Whether readers wait that have met the failures.
    mutating func demandCame(othersWait: Bool, now: Int64) {
        if othersWait { run?.notBefore = now } else { run = nil }
    }

    /// The network is back: what failed on the way to the origin is tried at once, with short pauses again. What the origin
    /// itself asked to wait for stays waited for, and no reader waits longer in all than it would have. `false` where it
    /// changes nothing.
    mutating func networkPathReturned(now: Int64) -> Bool {
        guard let error = run?.error, error.retryAfter == nil else { return false }
        switch error.code {
        case .originUnreachable, .originTimedOut: break
        default: return false
        }
        run?.attempts = 0
        run?.notBefore = now
        return true
    }

    /// The origin answered as it should.
    mutating func reset() { run = nil }
}
