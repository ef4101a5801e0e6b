import RepriseRanges

/// When what was written has to be on the disk.
struct SyncSchedule {
    /// Nanoseconds; `nil` where nothing was written since the last sync.
    private(set) var due: Int64?

    mutating func wrote(now: Int64, interval: Int64) { due = due ?? now.adding(interval) }

    func isDue(_ now: Int64) -> Bool { due.map { now >= $0 } ?? false }

    mutating func done() { due = nil }
}
