/// Several origins that serve the same, the first one preferred: where a request goes, and how long one that failed is
/// left alone. Times are nanoseconds of any clock that only runs forwards. No I/O.
///
///     trusted --fails--> held off --its time is up--> on trial: one request --answered--> trusted
///                           ^                                |
///                           +------- twice as long ----------+
package struct OriginRoster: Sendable, Hashable {
    /// What a request came to at one of them.
    package enum Outcome: Sendable, Hashable {
        /// An answer that says nothing against the origin, 404 included.
        case answered
        /// No connection, none to be trusted, or silence: held off at once.
        case unreachable
        /// An answer that tells of trouble, or one that broke off: it may be about this resource alone, so only several
        /// in a row count.
        case troubled
    }

    /// How long one is held off the first time, and at most.
    package static let firstPause: Int64 = 1_000_000_000
    package static let longestPause: Int64 = 60_000_000_000
    /// Answers of trouble in a row after which one is held off.
    package static let troubleLimit = 3

    private struct Standing: Sendable, Hashable {
        /// Times it was held off since it last answered.
        var pauses = 0
        /// Answers of trouble in a row.
        var troubles = 0
        var heldUntil: Int64 = .min
        /// A request was sent there to find out whether it is back.
        var isOnTrial = false
    }

    private var standings: [Standing]

    /// - Parameter count: How many origins there are.
    package init(count: Int) { standings = Array(repeating: Standing(), count: count) }

    /// The origins one request tries in turn, by their numbers: those that are trusted as they are preferred; where none
    /// is, all of them, the one that was left alone longest first. Never empty where there are any.
    ///
    /// Where the first of them is on trial, further requests go elsewhere until its answer is there.
    /// - Parameter home: The one that is preferred for this request; the others follow in their order.
    package mutating func order(now: Int64, preferring home: Int = 0) -> [Int] {
        var ready = standings.indices.filter { standings[$0].heldUntil <= now }
        if let place = ready.firstIndex(of: home) { ready.insert(ready.remove(at: place), at: 0) }
        guard let first = ready.first else {
            return standings.indices.sorted { (standings[$0].heldUntil, $0) < (standings[$1].heldUntil, $1) }
        }
        if standings[first].pauses > 0 {
            standings[first].isOnTrial = true
            standings[first].heldUntil = now + pause(first)
        }
        return ready
    }

    /// Whether it is left alone now.
    package func isHeldOff(_ index: Int, now: Int64) -> Bool { standings[index].heldUntil > now }

    /// Takes note of what a request came to.
    package mutating func note(_ outcome: Outcome, of index: Int, now: Int64) {
        switch outcome {
        case .answered: standings[index] = Standing()
        case .unreachable: hold(index, now)
        case .troubled:
            standings[index].troubles += 1
            // On trial, one is enough.
            if standings[index].troubles >= OriginRoster.troubleLimit || standings[index].pauses > 0 {
                hold(index, now)
            }
        }
    }

    /// Whether a status tells of an origin's trouble, so that another one may do better.
    package static func isTrouble(_ status: Int) -> Bool {
        (500..<600).contains(status) && status != 501 && status != 505
    }

    /// What a failure before the answer's head says of the origin.
    package static func outcome(of kind: OriginFailure.Kind) -> Outcome {
        switch kind {
        case .unreachable, .timedOut, .untrusted, .refused: .unreachable
        case .interrupted, .malformed: .troubled
        }
    }

    private func pause(_ index: Int) -> Int64 {
        let doublings = Int64(max(0, min(standings[index].pauses - 1, 10)))
        return min(OriginRoster.firstPause << doublings, OriginRoster.longestPause)
    }

    private mutating func hold(_ index: Int, _ now: Int64) {
        // Requests that were under way together fail together: that is one failure, not many.
        if standings[index].heldUntil > now, !standings[index].isOnTrial { return }
        standings[index].pauses += 1
        standings[index].isOnTrial = false
        standings[index].heldUntil = now + pause(index)
    }
}
