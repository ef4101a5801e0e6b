import ReprisePlatform
import RepriseStorage

/// Keeps a store's statistics over restarts: on the janitor, a minute after something was counted, and when the store is
/// closed or given away. A process that is killed loses that minute's; nobody who reads waits for it.
final class StatisticsStore: Sendable {
    private struct State {
        var ledger: CumulativeStatistics
        /// The disk refused: told once, until it takes them again.
        var isRefused = false
    }

    /// A guess: often enough for whoever looks, seldom enough for a phone's memory.
    static let interval: Int64 = 60 * TransferTuning.second

    private let environment: EntryEnvironment
    private let state: Lock<State>

    init(_ environment: EntryEnvironment) {
        self.environment = environment
        state = Lock(State(ledger: CumulativeStatistics(at: environment.queues.wallClock())))
        let queues = environment.queues
        environment.hub.onCount { [weak self] in
            queues.after(StatisticsStore.interval) { [weak self] in
                queues.upkeep { [weak self] in self?.save() }
            }
        }
    }

    /// Everything that is known.
    var total: StoreStatistics {
        let now = environment.hub.statistics
        return state.withLock { $0.ledger.total(now) }
    }

    /// Reads what was counted before, so that `total` has it. I/O, on the janitor.
    func load() { keep(writes: false) }

    /// Writes what was counted. I/O, on the janitor.
    func save() { keep(writes: true) }

    private func keep(writes: Bool) {
        // Noted in any case, so that what is counted later is told again, where nothing can be written now.
        let now = writes ? environment.hub.noteCounted() : environment.hub.statistics
        guard environment.access.enter() else { return }
        defer { environment.access.leave() }
        guard let store = environment.store else { return }
        let time = environment.queues.wallClock()
        do throws(StoreError) {
            let found = try store.readStatistics()
            let due = state.withLock { state in
                state.ledger.read(found, at: time)
                return writes ? state.ledger.due(now) : nil
            }
            guard let due else { return }
            try store.writeStatistics(due)
            state.withLock { state in
                state.ledger.wrote(now)
                state.isRefused = false
            }
        } catch {
            let isNews = state.withLock { state in
                defer { state.isRefused = true }
                return !state.isRefused
            }
            if isNews { environment.hub.send(.degraded(key: "", reason: error.description)) }
        }
    }
}
