import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Keeps a store within its limits, on the janitor, in bounded steps.
///
///     high water --> trim what is read and takes more than half --> count all entries --> the too old go
///                --> others in the policy's order, until low water --> trim what is read
///
/// What is read or fetched now is never removed, and a pin is looked up in the description before anything goes.
/// Nobody waits for it but bytes that have no room.
final class Housekeeper: Sendable {
    private struct State {
        var isSweeping = false
        /// All entries are to be counted, and the too old to go, whether room is needed or not.
        var countsAll = false
        var lastCount: Int64?
        /// A sweep that could not make enough room is not repeated at once.
        var notBefore: Int64 = .min
        var whenDone: [@Sendable () -> Void] = []
    }

    /// Entries removed in one step.
    private static let removeStep = 8
    /// The too old are looked for so often, where anything is stored or read at all.
    static let countInterval: Int64 = 3600 * TransferTuning.second
    /// The pause after a sweep that could not make enough room.
    static let pause: Int64 = 2 * TransferTuning.second

    private let environment: EntryEnvironment
    private let table: EntryTable
    private let policy: any EvictionPolicy
    private let state = Lock(State())
    /// When it was made: seconds since 1970, and nanoseconds of the queues' clock.
    private let made: (wallClock: Int64, now: Int64)

    init(environment: EntryEnvironment, table: EntryTable, policy: any EvictionPolicy) {
        self.environment = environment
        self.table = table
        self.policy = policy
        made = (environment.queues.wallClock(), environment.queues.now())
        environment.quota.onDue { [weak self] in self?.look() }
        environment.quota.onSync { [weak self] in self?.touch() }
    }

    private var quota: QuotaAccounting { environment.quota }

    // MARK: Being called

    /// Looks after the store soon, unless that is under way.
    private func look() { begin(all: false) }

    /// Counts everything and makes room; calls `done` afterwards, on any thread.
    func sweep(_ done: @escaping @Sendable () -> Void) {
        state.withLock { $0.whenDone.append(done) }
        begin(all: true)
    }

    /// Something was synced or closed: a time to look for what is too old.
    private func touch() {
        let now = environment.queues.now()
        let isDue = state.withLock { $0.lastCount.map { now - $0 > Housekeeper.countInterval } ?? true }
        if isDue, quota.limits.age != nil { begin(all: true) }
    }

    private func begin(all: Bool) {
        let now = environment.queues.now()
        let begins = state.withLock { state in
            if all { state.countsAll = true }
            guard !state.isSweeping, all || now >= state.notBefore else { return false }
            state.isSweeping = true
            return true
        }
        if begins { next { $0.start() } }
    }

    /// The next step, after whatever else waits for the janitor.
    private func next(_ step: @escaping @Sendable (Housekeeper) -> Void) {
        environment.queues.upkeep { [weak self] in
            guard let self else { return }
            guard environment.access.enter() else { return finish(mayGoOn: false) }
            defer { environment.access.leave() }
            step(self)
        }
    }

    // MARK: A sweep, step by step

    private func start() {
        let countsAll = state.withLock { state in
            defer { state.countsAll = false }
            return state.countsAll
        }
        guard let store = environment.store else { return finish(mayGoOn: false) }
        do throws(StoreError) {
            let space = try store.space()
            quota.update { $0.looked(space) }
            // One that is read may have half of all before others have to go for it.
            if !quota.excess.isNone { trim(above: quota.capacity / 2) }
            guard countsAll || !quota.excess.isNone || quota.needsCount else { return finish() }
            let begun = quota.storedInAll
            let round = try EntryRound(store, open: table.openNames(in: store)) { [weak self] error, name in
                self?.environment.hub.send(.degraded(key: name, reason: error.description))
            }
            count(store, round, since: begun)
        } catch { tell(error) }
    }

    private func count(_ store: Store, _ round: EntryRound, since begun: Int64) {
        guard let found = round.step() else { return next { $0.count(store, round, since: begun) } }
        let uses = withUses(of: table.all, found.map(\.use), in: store)
        let now = environment.queues.now()
        state.withLock { $0.lastCount = now }
        quota.update { $0.counted(uses.reduce(0) { $0.adding($1.allocated) }, since: begun) }
        let plan = EvictionPlan(uses, age: quota.limits.age, policy: policy, now: trustedWallClock)
        remove(store, plan.expired[...], plan.order[...])
    }

    /// The entries with the uses that their files do not tell of yet: those of open ones.
    private func withUses(of open: [ActiveEntry], _ found: [StoredUse], in store: Store) -> [StoredUse] {
        var newest: [String: Int64] = [:]
        for entry in open { newest[store.entryName(key: entry.key.text)] = entry.lastUse }
        guard !newest.isEmpty else { return found }
        return found.map { use in
            var use = use
            use.lastUse = max(use.lastUse, newest[use.name] ?? 0)
            return use
        }
    }

    /// The clock on the wall, at most a day ahead of the time that has passed since this was made: a clock that jumps far ahead
    /// must not make everything too old.
    private var trustedWallClock: Int64 {
        let passed = (environment.queues.now() - made.now) / TransferTuning.second
        return min(environment.queues.wallClock(), made.wallClock.adding(passed).adding(86_400))
    }

    private func remove(_ store: Store, _ expired: ArraySlice<StoredUse>, _ order: ArraySlice<StoredUse>) {
        var (expired, order) = (expired, order)
        for _ in 0..<Housekeeper.removeStep {
            guard let use = expired.popFirst() ?? (quota.excess.isNone ? nil : order.popFirst()) else {
                if !quota.excess.isNone { trim(above: 0) }
                return finish()
            }
            do throws(StoreError) { try remove(store, use) } catch { tell(error, use.name) }
        }
        let rest = (expired: expired, order: order)
        next { $0.remove(store, rest.expired, rest.order) }
    }

    private func remove(_ store: Store, _ use: StoredUse) throws(StoreError) {
        // It has no reader, and its entry need not be open.
        guard !store.isBeingImported(name: use.name), try !store.isPinned(name: use.name) else { return }
        let key = try table.withEntry(named: use.name, in: store) { entry throws(StoreError) -> String? in
            guard let entry else {
                try store.remove(name: use.name)
                return use.name
            }
            return try entry.evict() ? entry.key.text : nil
        }
        guard let key else { return }
        quota.update { $0.freed(use.allocated, files: Quota.filesPerEntry) }
        environment.hub.send(.evicted(key: key, bytes: use.allocated))
    }

    /// Has those who are read give back what they have above `share` bytes, as far as that is needed; the largest first.
    private func trim(above share: Int64) {
        guard let store = environment.store, store.canPunch else { return }
        let open = table.all.map { ($0, $0.storedBytes) }.sorted { $0.1 > $1.1 }
        for (entry, size) in open where size > share {
            let wanted = min(quota.excess.bytes, size - share)
            guard wanted > 0 else { return }
            let freed = entry.trim(wanted)
            guard freed > 0 else { continue }
            quota.update { $0.freed(freed) }
            environment.hub.send(.evicted(key: entry.key.text, bytes: freed))
        }
    }

    /// - Parameter mayGoOn: Whether what was asked for meanwhile can be done now; not where the store is out of reach.
    private func finish(mayGoOn: Bool = true) {
        let now = environment.queues.now()
        let isEnough = quota.excess.isNone
        let (done, again) = state.withLock { state -> ([@Sendable () -> Void], Bool) in
            state.isSweeping = false
            state.notBefore = isEnough ? now : now.adding(Housekeeper.pause)
            // Somebody wanted all counted while a smaller sweep ran, and waits for that.
            if state.countsAll, mayGoOn { return ([], true) }
            state.countsAll = false
            defer { state.whenDone = [] }
            return (state.whenDone, false)
        }
        for entry in table.all { entry.handle(.spaceLookedFor) }
        for tell in done { tell() }
        if again { begin(all: true) }
    }

    private func tell(_ error: StoreError, _ name: String = "") {
        environment.hub.send(.degraded(key: name, reason: error.description))
        if name.isEmpty { finish(mayGoOn: false) }
    }
}
