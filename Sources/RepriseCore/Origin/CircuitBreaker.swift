import RepriseRanges

/// Whether an origin is asked where others serve the same: one that failed is left alone for a time. Times are nanoseconds of any
/// clock that only runs forwards. No I/O.
///
///     closed --fails--> open --its time is up--> ready for a trial --tried--> on trial: one request --answered--> closed
///                        ^                                                       |
///                        +---------------- twice as long ------------------------+
package struct CircuitBreaker: Sendable, Hashable {
    /// What a request came to.
    package enum Outcome: Sendable, Hashable {
        /// An answer that says nothing against the origin, 404 included.
        case answered
        /// No connection, none to be trusted, or silence: left alone at once.
        case unreachable
        /// An answer that tells of trouble, or one that broke off: it may be about this resource alone, so only several
        /// in a row count. The head of one that broke off was `answered`, so that a row of those alone never counts.
        case troubled
    }

    /// How long it is left alone the first time, and at most.
    package static let firstPause: Int64 = 1_000_000_000
    package static let longestPause: Int64 = 60_000_000_000
    /// Answers of trouble in a row after which it is left alone.
    package static let troubleLimit = 3

    /// Times it was left alone since it last answered.
    private var pauses = 0
    /// Answers of trouble in a row.
    private var troubles = 0
    /// Until when it is left alone.
    package private(set) var openUntil: Int64 = .min
    /// A request was sent there to find out whether it is back.
    private var isOnTrial = false

    package init() {}

    /// Whether it may be asked.
    package func isReady(_ now: Int64) -> Bool { openUntil <= now }

    /// A request is sent there. Where that is to find out whether it is back, others go elsewhere until its answer is there.
    package mutating func asked(now: Int64) {
        guard pauses > 0 else { return }
        isOnTrial = true
        openUntil = now.adding(pause)
    }

    /// A request came to something.
    package mutating func note(_ outcome: Outcome, now: Int64) {
        switch outcome {
        case .answered: self = CircuitBreaker()
        case .unreachable: open(now)
        case .troubled:
            troubles += 1
            // On trial, one is enough.
            if troubles >= CircuitBreaker.troubleLimit || pauses > 0 { open(now) }
        }
    }

    private var pause: Int64 {
        min(CircuitBreaker.firstPause << Int64(max(0, min(pauses - 1, 10))), CircuitBreaker.longestPause)
    }

    private mutating func open(_ now: Int64) {
        // Requests that were under way together fail together: that is one failure, not many.
        if openUntil > now, !isOnTrial { return }
        pauses += 1
        isOnTrial = false
        openUntil = now.adding(pause)
    }
}

extension CircuitBreaker.Outcome {
    /// What an answer's status says of the origin: of its trouble, so that another one may do better, or nothing.
    package init(status: Int) {
        self = (500..<600).contains(status) && status != 501 && status != 505 ? .troubled : .answered
    }

    /// What a failure before the answer's head says of the origin; `nil` for nothing.
    package init?(_ kind: OriginFailure.Kind) {
        switch kind {
        case .unreachable, .timedOut, .untrusted, .refused: self = .unreachable
        case .interrupted, .malformed: self = .troubled
        case .exhausted: return nil
        }
    }
}
