import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// The entries that are open: one for each resource, which its readers share, and beside them the entries of one reader
/// alone and the entries that were removed or replaced while they were read.
///
///     listed --removed, private--> unlisted: its readers go on, new ones get another --last of them left--> gone
///
/// Safe to use from any thread. Lock order: table, then entry.
package final class EntryTable: Sendable {
    private struct State {
        /// The entries that new readers are given.
        var listed: [ResourceKey: ActiveEntry] = [:]
        var unlisted: [ObjectIdentifier: ActiveEntry] = [:]
        var idleLimit: IdleLimit
        /// No reader gets an entry any more.
        var isClosed = false
    }

    /// An entry, and the reader's number in it; `nil` where the cache was closed.
    struct Attachment: Sendable {
        let entry: ActiveEntry
        let id: ReaderID?
    }

    private let environment: EntryEnvironment
    private let state: Lock<State>

    /// - Parameter mostIdle: Most entries without readers that stay open.
    init(_ environment: EntryEnvironment, mostIdle: Int) {
        self.environment = environment
        state = Lock(State(idleLimit: IdleLimit(most: mostIdle)))
    }

    // MARK: Looking

    /// All of them: those of the resources in the order of their keys, then the others.
    package var all: [ActiveEntry] {
        let (listed, unlisted) = state.withLock { (Array($0.listed.values), Array($0.unlisted.values)) }
        return listed.sorted { $0.key.text < $1.key.text } + unlisted
    }

    /// The open entry of a resource.
    package func open(_ key: ResourceKey) -> ActiveEntry? { state.withLock { $0.listed[key] } }

    /// The open entry with that folder name; not one whose files were replaced or removed.
    func open(named name: String, in store: Store) -> ActiveEntry? {
        let listed = state.withLock { Array($0.listed.values) }
        return listed.first { store.entryName(key: $0.key.text) == name }
    }

    /// Names of the folders of open entries.
    func openNames(in store: Store) -> Set<String> { Set(all.map { store.entryName(key: $0.key.text) }) }

    // MARK: Entries of resources

    /// The entry of a resource, which is made where it is not open.
    func entry(for request: ResourceRequest) -> ActiveEntry {
        let (entry, isCrowded, isClosed) = state.withLock { state in
            if let entry = state.listed[request.key] { return (entry, false, false) }
            let predecessors = state.unlisted.values.filter { $0.key == request.key }.map(\.lease)
            let entry = make(request, isPrivate: false, after: predecessors)
            if state.isClosed { return (entry, false, true) }
            state.listed[request.key] = entry
            return (entry, state.idleLimit.beginsLook(at: state.listed.count), false)
        }
        if isClosed { entry.shutDown() }
        if isCrowded { environment.queues.read { [weak self] in self?.closeSomeIdle() } }
        return entry
    }

    /// The entry with that folder name; `nil` where its files name no URL and no open entry makes them. I/O.
    private func entry(named name: String, in store: Store) throws(StoreError) -> ActiveEntry? {
        if let info = try store.describe(name: name)?.info, let url = OriginURL(info.url) {
            return entry(for: ResourceRequest(key: ResourceKey(info.key), url: url, fields: [:]))
        }
        // Without a description it was left over, or its files are just being made.
        return open(named: name, in: store)
    }

    /// Runs work on the entry of a resource that need not be open for it; one that was made for it alone goes again.
    func withEntry<Value>(
        for request: ResourceRequest, _ work: (ActiveEntry) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let entry = entry(for: request)
        defer { entry.handle(.closeIfUnopened) }
        return try work(entry)
    }

    /// The same by the name of the entry's folder; `nil` where its files name no URL and no open entry makes them. I/O.
    func withEntry<Value>(
        named name: String, in store: Store, _ work: (ActiveEntry?) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let entry = try entry(named: name, in: store)
        defer { entry?.handle(.closeIfUnopened) }
        return try work(entry)
    }

    // MARK: Readers

    /// Adds a reader to the entry of its resource.
    func attach(
        _ request: ResourceRequest, _ position: Int64, _ end: Int64, _ priority: TransferPlanner.Priority
    ) -> Attachment {
        while true {
            let entry = entry(for: request)
            if let id = attach(request, position, end, priority, to: entry) { return Attachment(entry: entry, id: id) }
            // An entry of a closed cache takes no reader, and neither would the next one.
            if state.withLock(\.isClosed) { return Attachment(entry: entry, id: nil) }
            // It was closed between look-up and attaching; the next look-up makes a new one.
            depart(entry, .unlisted)
        }
    }

    /// Adds a reader to an entry of its own, that shares nothing and stores nothing.
    func attachAlone(
        _ request: ResourceRequest, _ position: Int64, _ end: Int64, _ priority: TransferPlanner.Priority
    ) -> Attachment {
        // Made and entered in one step, so that a walk through all entries meets it or has ended before.
        let (entry, isClosed) = state.withLock { state in
            let entry = make(request, isPrivate: true)
            state.unlisted[ObjectIdentifier(entry)] = entry
            return (entry, state.isClosed)
        }
        if isClosed {
            entry.shutDown()
            entry.closeIfIdle()
        }
        return Attachment(entry: entry, id: attach(request, position, end, priority, to: entry))
    }

    private func attach(
        _ request: ResourceRequest, _ position: Int64, _ end: Int64, _ priority: TransferPlanner.Priority,
        to entry: ActiveEntry
    ) -> ReaderID? {
        entry.attach(
            url: request.url, fields: request.fields, position: position, end: end, priority: priority,
            mayStore: request.isKept, answers: request.answers)
    }

    // MARK: Their end

    /// Gives no entry to readers any more, and ends those there are.
    func shutDown() {
        state.withLock { $0.isClosed = true }
        for entry in all { entry.shutDown() }
    }

    private func closeSomeIdle() {
        let open = all
        let idle = open.compactMap { entry in entry.idleSince.map { (since: $0, entry: entry) } }
        let surplus = state.withLock { $0.idleLimit.looked(idle: idle.count, of: $0.listed.count) }
        for (_, entry) in idle.sorted(by: { $0.since < $1.since }).prefix(surplus) { entry.closeIfIdle() }
    }

    private func make(
        _ request: ResourceRequest, isPrivate: Bool, after predecessors: [EntryWriteLease] = []
    ) -> ActiveEntry {
        ActiveEntry(
            key: request.key, url: request.url, fields: request.fields, isPrivate: isPrivate, environment: environment,
            after: predecessors
        ) { [weak self] entry, departure in self?.depart(entry, departure) }
    }

    private func depart(_ entry: ActiveEntry, _ departure: EntryLifecycle.Departure) {
        state.withLock { state in
            let isListed = state.listed[entry.key] === entry
            if isListed { state.listed[entry.key] = nil }
            switch departure {
            // It goes on until its readers and transfers are done, unless it was told to be gone by another thread before.
            case .unlisted: if isListed { state.unlisted[ObjectIdentifier(entry)] = entry }
            case .gone: state.unlisted[ObjectIdentifier(entry)] = nil
            }
        }
    }
}
