import ReprisePlatform

/// Takes events to whoever listens, and counts. Listeners are called in order, and must be quick.
package final class EventHub: Sendable {
    private struct State {
        /// In the order they came.
        var listeners: [(id: Int, tell: @Sendable (CacheEvent) -> Void)] = []
        var next = 0
        var errors = RecentErrors()
        var statistics = CacheStatistics()
        /// To be called where something is counted for the first time since they were noted.
        var onCount: (@Sendable () -> Void)?
        var isCounted = false
        /// Those who have to be told that no more comes, by the number of their listener; `nil` once no more does.
        var endings: [Int: @Sendable () -> Void]? = [:]
    }

    private let clock: @Sendable () -> Int64
    private let state = Lock(State())

    /// - Parameter clock: Seconds since 1970.
    package init(clock: @escaping @Sendable () -> Int64 = { 0 }) { self.clock = clock }

    /// Adds a listener.
    /// - Parameter atEnd: Called when no more comes: by `end`, at once where that was before, and then nothing is told.
    package func add(
        _ listener: @escaping @Sendable (CacheEvent) -> Void, atEnd: (@Sendable () -> Void)? = nil
    ) -> Int {
        let (id, isOver) = state.withLock { state in
            state.next += 1
            if atEnd != nil, state.endings == nil { return (state.next, true) }
            state.endings?[state.next] = atEnd
            state.listeners.append((state.next, listener))
            return (state.next, false)
        }
        if isOver { atEnd?() }
        return id
    }

    package func remove(_ id: Int) {
        // What goes is let go of outside the lock: a listener may hold the last reference to its cache, which ends the hub.
        let gone = state.withLock { state in
            let gone = (state.listeners.filter { $0.id == id }, state.endings?[id])
            state.listeners.removeAll { $0.id == id }
            state.endings?[id] = nil
            return gone
        }
        withExtendedLifetime(gone) {}
    }

    package func send(_ event: CacheEvent) {
        let error = event.error.map { (key: $0.key, error: $0.error, time: clock()) }
        let listeners = state.withLock { state in
            if let error { state.errors.note(error.error, of: error.key, at: error.time) }
            return state.listeners
        }
        for listener in listeners { listener.tell(event) }
    }

    /// What went wrong last with the resource of that key.
    package func lastError(of key: String) -> LastError? { state.withLock { $0.errors.last(of: key) } }

    /// Tells those who asked for it that no more comes.
    package func end() {
        let endings = state.withLock { state in
            defer { state.endings = nil }
            return state.endings ?? [:]
        }
        for (_, tell) in endings.sorted(by: { $0.key < $1.key }) { tell() }
    }

    package func count(_ change: (inout CacheStatistics) -> Void) {
        let tell = state.withLock { state -> (@Sendable () -> Void)? in
            change(&state.statistics)
            defer { state.isCounted = true }
            return state.isCounted ? nil : state.onCount
        }
        tell?()
    }

    /// Sets whom to tell that something was counted, once after each `noteCounted`; it must be quick.
    package func onCount(_ tell: @escaping @Sendable () -> Void) { state.withLock { $0.onCount = tell } }

    /// The sums, which are noted now: the next that is counted is told again.
    package func noteCounted() -> CacheStatistics {
        state.withLock { state in
            state.isCounted = false
            return state.statistics
        }
    }

    package var statistics: CacheStatistics { state.withLock { $0.statistics } }
}
