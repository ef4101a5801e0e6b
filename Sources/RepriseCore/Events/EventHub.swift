import ReprisePlatform

/// Takes events to whoever listens, and counts. Listeners are called in order, and must be quick.
package final class EventHub: Sendable {
    private struct State {
        /// In the order they came.
        var listeners: [(id: Int, tell: @Sendable (CacheEvent) -> Void)] = []
        var next = 0
        var statistics = CacheStatistics()
        /// Those who have to be told that no more comes, by the number of their listener; `nil` once no more does.
        var endings: [Int: @Sendable () -> Void]? = [:]
    }

    private let state = Lock(State())

    package init() {}

    package func add(_ listener: @escaping @Sendable (CacheEvent) -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.listeners.append((state.next, listener))
            return state.next
        }
    }

    /// Adds a listener that is told when no more comes: by `end`, at once where that was before.
    package func add(
        _ listener: @escaping @Sendable (CacheEvent) -> Void, atEnd: @escaping @Sendable () -> Void
    ) -> Int {
        let (id, isOver) = state.withLock { state in
            state.next += 1
            state.endings?[state.next] = atEnd
            if state.endings != nil { state.listeners.append((state.next, listener)) }
            return (state.next, state.endings == nil)
        }
        if isOver { atEnd() }
        return id
    }

    package func remove(_ id: Int) {
        state.withLock { state in
            state.listeners.removeAll { $0.id == id }
            state.endings?[id] = nil
        }
    }

    package func send(_ event: CacheEvent) {
        for listener in state.withLock({ $0.listeners }) { listener.tell(event) }
    }

    /// Tells those who asked for it that no more comes.
    package func end() {
        let endings = state.withLock { state in
            defer { state.endings = nil }
            return state.endings ?? [:]
        }
        for (_, tell) in endings.sorted(by: { $0.key < $1.key }) { tell() }
    }

    package func count(_ change: (inout CacheStatistics) -> Void) { state.withLock { change(&$0.statistics) } }

    package var statistics: CacheStatistics { state.withLock { $0.statistics } }
}
