import RepriseRanges

/// How long a transfer may do nothing before something else is decided of it.
package struct TransferDeadlines: Sendable, Hashable {
    /// Since when a transfer does nothing, in which ways. Nanoseconds.
    package struct Waits: Sendable, Hashable {
        /// When it last made progress or was asked to.
        package var lastProgress: Int64
        /// When it was paused; `nil` while it runs.
        package var pausedSince: Int64?
        /// When its last reader left, and where it stood; `nil` while it has one.
        package var unwanted: Unwanted?
        /// Whether it has a request whose answer it takes nothing of now: its readers are behind, or its memory is full.
        package var isIdle: Bool
        /// Whether another request waits for the connection slot that its request has: one that is only paused gives it up.
        package var isContended: Bool

        package init(
            lastProgress: Int64, pausedSince: Int64? = nil, unwanted: Unwanted? = nil, isIdle: Bool = false,
            isContended: Bool = false
        ) {
            self.lastProgress = lastProgress
            self.pausedSince = pausedSince
            self.unwanted = unwanted
            self.isIdle = isIdle
            self.isContended = isContended
        }
    }

    /// The moment a transfer lost its last reader.
    package struct Unwanted: Sendable, Hashable {
        package var since: Int64
        package var head: Int64

        package init(since: Int64, head: Int64) {
            self.since = since
            self.head = head
        }
    }

    private let tuning: TransferTuning
    private let servesRanges: Bool
    /// Whether it could only be begun again from 0, and what it brings is stored: it has more time.
    private let isDear: Bool

    package init(_ tuning: TransferTuning, servesRanges: Bool, isKept: Bool) {
        self.tuning = tuning
        self.servesRanges = servesRanges
        isDear = !servesRanges && isKept
    }

    // MARK: When something else is decided, in nanoseconds; `nil` where time alone changes nothing

    /// When a reader that waits for it is served by another.
    func isSilentAt(_ waits: Waits) -> Int64 { waits.lastProgress.adding(tuning.takeover).adding(1) }

    /// When it has been paused for too long. One without ranges never has.
    func stopsPausedAt(_ waits: Waits) -> Int64? {
        servesRanges ? waits.pausedSince?.adding(tuning.pausedStop) : nil
    }

    /// Whether it may wait for readers that come back instead of taking what is on its way and stopping.
    func outlastsReaders(_ waits: Waits) -> Bool { isDear && !waits.isContended }

    /// When it has had no reader for too long.
    func stopsUnwantedAt(_ waits: Waits) -> Int64? {
        waits.unwanted?.since.adding(outlastsReaders(waits) ? tuning.unwantedStopSequential : tuning.unwantedStop)
    }

    /// When it gives its connection slot to another that is waited for.
    func givesWayAt(_ waits: Waits) -> Int64? {
        guard waits.isContended, waits.isIdle else { return nil }
        return waits.lastProgress.adding(isDear ? tuning.pausedStop : tuning.yieldAfter)
    }

    /// The first time after `now` at which what is decided may change though nothing happens.
    package func firstChange(of waits: Waits, after now: Int64) -> Int64? {
        var earliest = EarliestDeadline(now: now)
        earliest.add(isSilentAt(waits))
        earliest.add(stopsPausedAt(waits))
        earliest.add(stopsUnwantedAt(waits))
        earliest.add(givesWayAt(waits))
        return earliest.time
    }
}
