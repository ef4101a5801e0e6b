import ReprisePlatform
import RepriseStorage

/// Keeps a store's statistics over restarts: on the janitor, a minute after something was counted, and when the store is
/// closed or given away. A process that is killed loses that minute's; nobody who reads waits for it.
final class StatisticsStore: Sendable {
    /// A guess: often enough for whoever looks, seldom enough for a phone's memory.
    static let interval: Int64 = 60 * TransferTuning.second

    private let environment: EntryEnvironment
    private let refusals: RefusalReport
    private let ledger: Lock<CumulativeStatistics>

    init(_ environment: EntryEnvironment) {
        self.environment = environment
        refusals = RefusalReport(environment.hub)
        ledger = Lock(CumulativeStatistics(at: environment.queues.wallClock()))
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
        return ledger.withLock { $0.total(now) }
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
            let due = ledger.withLock { ledger in
                ledger.read(found, at: time)
                return writes ? ledger.due(now) : nil
            }
            guard let due else { return }
            try store.writeStatistics(due)
            ledger.withLock { $0.wrote(now) }
            refusals.accepted()
        } catch { refusals.refused(error) }
    }
}
