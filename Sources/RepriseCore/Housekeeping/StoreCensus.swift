import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Adds up what a store holds where it is opened or taken back, and has its index written: on the janitor and in small steps, so that
/// opening a cache never waits for it.
///
/// Where the process that had the store last closed it, its index says at once how full it is; and what is stored is added up without
/// opening an entry.
final class StoreCensus: Sendable {
    private struct State {
        var usage: StoreUsage?
        /// Whether answers that vary may be stored; they may until it is known that none was seen.
        var mayHaveVariants = true
        var hasSeenVariant = false
        var round: EntryRound?
    }

    /// Notes are written together so often: a guess, within the second in which another process's `ls` sees them.
    static let flushInterval: Int64 = TransferTuning.second / 5
    /// Before what is stored is gone through where it is known how much that is: who uses the store for a moment does without.
    static let surveyPause: Int64 = TransferTuning.second
    /// The pause after a disk did not take them.
    static let flushPause: Int64 = 10 * TransferTuning.second

    private let environment: EntryEnvironment
    private let table: EntryTable
    private let refusals: RefusalReport
    private let state = Lock(State())

    init(_ environment: EntryEnvironment, _ table: EntryTable) {
        refusals = RefusalReport(environment.hub)
        self.environment = environment
        self.table = table
    }

    /// What was stored when the store was opened; `nil` until it has been added up.
    var usage: StoreUsage? { state.withLock(\.usage) }

    /// Whether variants of a resource may be stored, which are only found by going through all entries.
    var mayHaveVariants: Bool { state.withLock(\.mayHaveVariants) }

    /// A variant was stored, or may be.
    func noteVariant() {
        state.withLock { state in
            state.hasSeenVariant = true
            state.mayHaveVariants = true
        }
    }

    /// The store was opened, or taken back.
    func begin() {
        guard let store = environment.store else { return }
        // Another process may have stored some.
        state.withLock { $0.mayHaveVariants = true }
        store.onIndexPending { [weak self] in self?.flush(after: StoreCensus.flushInterval) }
        environment.queues.upkeep { [weak self] in self?.start() }
    }

    private func start() {
        var allocated: Int64?
        _ = keepIndex { store throws(StoreError) in allocated = try store.beginIndex() }
        let queues = environment.queues
        // Its names take a while where there are many, and other work waits for the janitor.
        let survey: @Sendable () -> Void = { [weak self] in
            queues.read { [weak self] in self?.survey() }
        }
        guard let allocated else { return survey() }
        environment.quota.update { $0.noted(allocated) }
        queues.after(StoreCensus.surveyPause, survey)
    }

    private func survey() {
        guard environment.access.enter() else { return }
        defer { environment.access.leave() }
        guard let store = environment.store else { return }
        let begun = environment.quota.storedInAll
        do throws(StoreError) {
            let round = try EntryRound(store, open: table.openNames(in: store)) { [weak self] error, name in
                self?.noteVariant()
                self?.environment.hub.send(.degraded(key: name, reason: error.description))
            }
            state.withLock { $0.round = round }
            environment.queues.upkeep { [weak self] in self?.count(since: begun, round) }
        } catch {
            environment.hub.send(.degraded(key: "", reason: error.description))
        }
    }

    private func count(since stored: Int64, _ round: EntryRound) {
        // Another one was begun where the store was given away meanwhile.
        guard state.withLock({ $0.round === round }), environment.access.enter() else { return }
        defer { environment.access.leave() }
        let queues = environment.queues
        let begun = queues.now()
        guard let found = round.step() else {
            // No reader waits for it, and at a start other work wants the processors and the disk: it takes a quarter of the time.
            return queues.after((queues.now() - begun).multiplied(by: 3)) { [weak self] in
                queues.upkeep { [weak self] in self?.count(since: stored, round) }
            }
        }
        let usage = StoreUsage(found)
        if found.contains(where: \.isVariant) { noteVariant() }
        state.withLock { state in
            state.round = nil
            state.usage = usage
            state.mayHaveVariants = state.hasSeenVariant
        }
        environment.quota.update { $0.counted(usage.allocated, since: stored) }
        environment.quota.requestEviction()
    }

    /// The store is closed or given away, and nothing else works on it any more: what is noted from here on would be lost. I/O, on the
    /// janitor.
    /// - Parameter session: The index's when that was so: a disk that hung may take it only after the store was taken back.
    func close(_ store: Store, _ session: Int) {
        let allocated = environment.quota.known
        _ = isDone { () throws(StoreError) in
            if let allocated {
                try store.closeIndex(allocated: allocated, session: session)
            } else {
                try store.flushIndex()
            }
        }
    }

    private func flush(after pause: Int64) {
        let queues = environment.queues
        queues.after(pause) { [weak self] in
            // Not on the janitor: what waits there may take minutes.
            queues.read { [weak self] in self?.flush() }
        }
    }

    private func flush() {
        // What is noted later is not told of while some waits.
        guard keepIndex({ store throws(StoreError) in try store.flushIndex() }) else {
            return flush(after: StoreCensus.flushPause)
        }
        guard environment.store?.isIndexLarge == true else { return }
        environment.queues.upkeep { [weak self] in
            _ = self?.keepIndex { store throws(StoreError) in try store.compactIndex() }
        }
    }

    /// Works on the index of a store that is there; `false` where the disk refused.
    private func keepIndex(_ work: (Store) throws(StoreError) -> Void) -> Bool {
        guard environment.access.enter() else { return true }
        defer { environment.access.leave() }
        guard let store = environment.store else { return true }
        return isDone { () throws(StoreError) in try work(store) }
    }

    private func isDone(_ work: () throws(StoreError) -> Void) -> Bool {
        do throws(StoreError) {
            try work()
            refusals.accepted()
            return true
        } catch {
            refusals.refused(error)
            return false
        }
    }
}

extension IndexedEntry {
    fileprivate var isVariant: Bool { key.map { ResourceKey($0) != ResourceKey($0).primary } ?? false }
}
