/// The earliest of the times after now at which something is due.
struct EarliestDeadline {
    /// Nanoseconds, as all times here.
    let now: Int64
    private(set) var time: Int64?

    init(now: Int64) { self.now = now }

    mutating func add(_ due: Int64?) {
        if let due, due > now, due < time ?? .max { time = due }
    }
}
