/// The events one subscriber has not taken yet: the newest, at most so many; in place of older ones stands how many they
/// were.
package struct EventBuffer {
    private let limit: Int
    /// Those before `first` were taken or dropped.
    private var events: [CacheEvent] = []
    private var first = 0
    private var dropped = 0

    /// - Parameter limit: How many are kept, at least one.
    package init(limit: Int) { self.limit = max(1, limit) }

    /// Takes an event; where there is no room the oldest gives way.
    package mutating func add(_ event: CacheEvent) {
        events.append(event)
        if events.count - first > limit {
            first += 1
            dropped += 1
        }
        // What was taken or dropped is let go in one piece, so that an event costs the same on average.
        if first >= limit {
            events.removeFirst(first)
            first = 0
        }
    }

    /// The next event in order; `nil` where all were taken.
    package mutating func next() -> CacheEvent? {
        if dropped > 0 {
            defer { dropped = 0 }
            return .dropped(dropped)
        }
        guard first < events.count else { return nil }
        defer {
            first += 1
            if first == events.count {
                events.removeAll(keepingCapacity: true)
                first = 0
            }
        }
        return events[first]
    }
}
