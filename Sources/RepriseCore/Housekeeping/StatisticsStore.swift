import ReprisePlatform
import RepriseStorage

/// Keeps a store's statistics over restarts: on the janitor, a minute after something was counted, and when the store is
/// closed or given away. A process that is killed loses that minute's; nobody who reads waits for it.
///
/// What all entries take is noted where the store is closed, and taken over by who opens it next: the quota is known before a
/// census has seen each entry. After a kill nothing is noted, nor by a process that had given the store away in between: what
/// others changed meanwhile it does not know.
final class StatisticsStore: Sendable {
    private struct State {
        var ledger: CumulativeStatistics
        /// The disk refused: told once, until it takes them again.
        var isRefused = false
        /// Whether others may have changed the store since its entries were counted.
        var wasLent = false
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

    private enum Occasion { case isTaken, isInUse, isClosed }

    /// The store was opened, or taken back: reads what was counted before, so that `total` has it, and what all entries take. I/O,
    /// on the janitor.
    /// - Parameter wasLent: Whether it was given away and is taken back: what it held then is known, but for what others did.
    func load(wasLent: Bool = false) {
        if wasLent { state.withLock { $0.wasLent = true } }
        keep(.isTaken)
    }

    /// Writes what was counted. I/O, on the janitor.
    func save() { keep(.isInUse) }

    /// The same where the store is about to be closed. I/O, on the janitor.
    func saveLast() { keep(.isClosed) }

    private func keep(_ occasion: Occasion) {
        // Noted in any case, so that what is counted later is told again, where nothing can be written now.
        let now = occasion == .isTaken ? environment.hub.statistics : environment.hub.noteCounted()
        guard environment.access.enter() else { return }
        defer { environment.access.leave() }
        guard let store = environment.store else { return }
        let time = environment.queues.wallClock()
        do throws(StoreError) {
            let found = try store.readStatistics()
            let known = occasion == .isClosed ? environment.quota.known : nil
            let (noted, allocated, wasLent, due) = state.withLock { state in
                state.ledger.read(found, at: time)
                let allocated = state.wasLent ? nil : known
                return (state.ledger.allocated, allocated, state.wasLent, state.ledger.due(now, allocated: allocated))
            }
            guard let due, occasion != .isTaken || noted != nil else { return }
            try store.writeStatistics(due)
            state.withLock { state in
                state.ledger.wrote(now, allocated: allocated)
                state.isRefused = false
            }
            // Only now: what the file still said after a kill would be taken over once more.
            if occasion == .isTaken, !wasLent, let noted { environment.quota.update { $0.noted(noted) } }
        } catch {
            let isNews = state.withLock { state in
                defer { state.isRefused = true }
                return !state.isRefused
            }
            if isNews { environment.hub.send(.degraded(key: "", reason: error.description)) }
        }
    }
}
