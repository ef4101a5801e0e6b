import RepriseRanges

/// The one timer of an entry, set for the earliest of its deadlines. Timers cannot be called back: one that was overtaken by an
/// earlier one is ignored when it fires, and one that fires too early finds nothing due and sets the next. One that is late counts
/// for nothing: a device that sleeps stops the system's timers, and not the clock.
struct EntryTimer {
    /// Nanoseconds; `nil` where none runs.
    private var scheduled: Int64?

    /// Timers of a busy machine are less late than this.
    private static let lateness = TransferTuning.second

    /// Something is due at `time`: whether a timer has to be set for it.
    mutating func set(for time: Int64, now: Int64) -> Bool {
        if let scheduled, scheduled <= time, now < scheduled.adding(EntryTimer.lateness) { return false }
        scheduled = time
        return true
    }

    /// The timer that was set for `time` fired; `false` where it was overtaken.
    mutating func fired(_ time: Int64) -> Bool {
        guard scheduled == time else { return false }
        scheduled = nil
        return true
    }
}
