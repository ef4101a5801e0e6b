package import RepriseHTTP
package import ReprisePlatform
public import RepriseStorage

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A cache of remote media: what is played once is not paid for again.
///
/// All methods may be called from any thread; none waits for the network or the disk unless it is `async`.
public final class MediaCache: Sendable {
    private struct State {
        var sessions: [ResourceKey: ActiveEntry] = [:]
        var privateSessions: [ObjectIdentifier: ActiveEntry] = [:]
        var idleLimit: IdleLimit
        var usage: StoreUsage?
        /// Whether answers that vary may be stored; they may until it is known that none was seen.
        var mayHaveVariants = true
        var hasSeenVariant = false
        weak var router: (any StreamRouter)?
        var status: Status
        var companions: [any AnyObject & Sendable] = []
        /// A store that was given away and could not be taken back yet.
        var lost: Store?
    }

    /// The configuration it was made with.
    public let configuration: Configuration
    package let environment: EntryEnvironment
    /// Where the store is opened again; `nil` for a cache that was given one.
    package let opener: StoreOpener?
    /// How the process is kept awake while the store is given away.
    let activities: any ExpiringActivities
    /// Lets fetches ahead through.
    let prefetchQueue: PrefetchQueue
    /// Lets one giving away or taking back go on at a time.
    let turnstile = Turnstile()
    /// Keeps the store within its limits.
    let housekeeper: Housekeeper
    /// Keeps the store's statistics.
    let statisticsBook: StatisticsBook
    private let state: Lock<State>

    /// A cache over a store, sending by `client`. Without a store bytes pass through and are shared, not kept.
    package init(
        store: Store?, client: any OriginClient, configuration: Configuration = Configuration(),
        queues: any WorkQueues = SystemWorkQueues(), opener: StoreOpener? = nil, trouble: CacheError? = nil,
        activities: any ExpiringActivities = SystemActivities(),
        onBrokenInvariant: (@Sendable (String) -> Void)? = nil
    ) {
        self.activities = activities
        self.configuration = configuration
        self.opener = opener
        let reason = trouble?.message ?? "it was made without a store"
        let mostIdle = configuration.tuning.mostIdle ?? max(16, SystemCalls.descriptorLimit / 8)
        state = Lock(
            State(
                idleLimit: IdleLimit(most: mostIdle), status: store == nil ? .passingThrough(reason: reason) : .ready))
        let hub = EventHub(clock: { queues.wallClock() })
        let several = HostGroupClient(client: client, groups: configuration.hostGroups, queues: queues) {
            host, reason in
            hub.send(.originFailed(origin: host.origin, reason: reason))
        }
        let environment = EntryEnvironment(
            queues: queues, client: configuration.hostGroups.isEmpty ? client : several, store: store,
            hosts: HostTable(limit: configuration.tuning.requestsPerHost), hub: hub, tuning: configuration.tuning,
            freshness: configuration.freshness, sameness: configuration.sameness, limits: configuration.limits,
            admission: configuration.admission, hostGroups: configuration.hostGroups,
            freshURLs: configuration.urlRefresher.map { FreshURLs($0) }, onBrokenInvariant: onBrokenInvariant)
        self.environment = environment
        prefetchQueue = PrefetchQueue(configuration.prefetching, queues: queues)
        housekeeper = Housekeeper(environment: environment, policy: configuration.eviction)
        statisticsBook = StatisticsBook(environment)
        housekeeper.serve(self)
        if let store { takeCensus(store) }
    }

    deinit { environment.hub.end() }

    /// Adds up what is stored, on the janitor and in small steps: opening a cache never waits for it.
    private func takeCensus(_ store: Store) {
        environment.queues.upkeep { [weak self] in
            self?.statisticsBook.load()
            do throws(StoreError) {
                let names = try store.entryNames().sorted()
                self?.count(EntryRound(names) { [weak self] in self?.usage(ofEntry: $0, in: store) })
            } catch {
                self?.environment.hub.send(.degraded(key: "", reason: error.description))
            }
        }
    }

    private func count(_ round: EntryRound<StoreUsage>) {
        let queues = environment.queues
        let begun = queues.now()
        guard let found = round.step() else {
            // Nobody waits for it, and at a start others want the processors and the disk: it takes a quarter of the time.
            return queues.after(3 * (queues.now() - begun)) { [weak self] in
                queues.upkeep { [weak self] in self?.count(round) }
            }
        }
        let total = found.reduce(into: StoreUsage()) { $0.add($1) }
        state.withLock { state in
            state.usage = total
            state.mayHaveVariants = state.hasSeenVariant
        }
        environment.quota.update { $0.counted(total.allocated) }
        environment.quota.call()
    }

    private func usage(ofEntry name: String, in store: Store) -> StoreUsage {
        var usage = StoreUsage()
        do throws(StoreError) {
            // All of its files: what a process that was killed left beside the entry's own takes room, too.
            usage.allocated = try store.use(name: name)?.allocated ?? 0
            guard let entry = try store.describe(name: name) else { return usage }
            let key = ResourceKey(entry.info.key)
            if key != key.primary { noteVariant() }
            usage.entries = 1
            usage.stored = entry.summary.stored
        } catch {
            noteVariant()
            environment.hub.send(.degraded(key: name, reason: error.description))
        }
        return usage
    }

    private func noteVariant() {
        state.withLock { state in
            state.hasSeenVariant = true
            state.mayHaveVariants = true
        }
    }

    /// Whether variants of a resource may be stored, which are only found by going through all entries.
    var mayHaveVariants: Bool { state.withLock { $0.mayHaveVariants } }

    /// Where doors that cannot serve streams themselves send players for them; the running loopback server, or `nil`.
    /// Held weakly.
    public var streamRouter: (any StreamRouter)? {
        get { state.withLock { $0.router } }
        set { state.withLock { $0.router = newValue } }
    }

    /// What was stored when the cache was opened; `nil` until it has been added up.
    public var usageAtOpening: StoreUsage? { state.withLock { $0.usage } }

    /// Opens or makes a cache in `directory`, sending by `client`.
    /// - Throws: `StoreError` where the directory cannot be used or another process writes it.
    public convenience init(
        directory: String, client: any OriginClient, configuration: Configuration = Configuration()
    ) throws(StoreError) {
        if let problem = configuration.limits.problem { throw StoreError(.wrongFormat, problem) }
        let key = try configuration.seal?.key()
        let store = try Store(root: directory, fileSystem: RealFileSystem(), key: key)
        self.init(store: store, client: client, configuration: configuration)
    }

    /// Whether it keeps what it plays, and where not, why.
    public var status: Status { state.withLock { $0.status } }

    func setStatus(_ status: Status, lost: Store? = nil) {
        state.withLock { state in
            state.status = status
            state.lost = lost
        }
    }

    /// A store that was given away and could not be taken back yet.
    var lostStore: Store? { state.withLock { $0.lost } }

    /// The resource behind `url`.
    /// - Parameters:
    ///   - headers: Fields the origin needs, for example `Authorization`.
    ///   - key: What names the resource, instead of what the key policy makes of the URL.
    ///   - storing: Whether what is fetched for it may be stored.
    /// - Throws: `CacheError` with `.badURL` for anything but an absolute http or https URL.
    public func resource(
        for url: URL, headers: [String: String] = [:], key: ResourceKey? = nil, storing: Storing = .normal
    ) throws(CacheError) -> MediaResource {
        guard let origin = OriginURL(url.absoluteString) else {
            throw CacheError(.badURL, "\(url.absoluteString) is not an absolute http or https URL")
        }
        return resource(
            for: origin, fields: HTTPFields(headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }), key: key,
            storing: storing)
    }

    package func resource(
        for url: OriginURL, fields: HTTPFields = [:], key: ResourceKey? = nil, storing: Storing = .normal
    )
        -> MediaResource
    {
        var all = configuration.originFields
        for line in fields.lines { all[line.name] = line.value }
        all.remove([
            "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
            "Icy-MetaData", "Accept-Encoding", "Host", "Content-Length",
        ])
        all.removeHopByHop()
        var request = ResourceRequest(key: key ?? configuration.key(for: url), url: url, fields: all)
        request.isKept = storing == .normal
        return MediaResource(cache: self, request: request)
    }

    /// - Parameter isHandedOn: Whether anybody looks at the bytes; where nobody does they need not be transformed.
    func makeReader(
        _ request: ResourceRequest, position: Int64, end: Int64, priority: TransferPlanner.Priority, isHandedOn: Bool
    ) -> ReaderHandle {
        // What must not be stored is not stored, whoever else wants it (RFC 9111 §5.2.1.5).
        let isAlone = configuration.freshness == .http && RequestCacheControl(request.fields).noStore
        let first =
            isAlone
            ? placeAlone(request, position, end, priority) : place(request, position, end, priority)
        return ReaderHandle(
            first, position: position, end: end, queues: environment.queues,
            transform: isHandedOn ? transform(for: request) : nil
        ) { redirect, position, end in
            switch redirect {
            case .alone: return self.placeAlone(request, position, end, .playing)
            case .variant(let variant):
                self.noteVariant()
                var own = request
                own.key = own.key.variant(variant)
                return self.place(own, position, end, priority)
            }
        }
    }

    private func place(
        _ request: ResourceRequest, _ position: Int64, _ end: Int64, _ priority: TransferPlanner.Priority
    ) -> ReaderHandle.Attachment {
        while true {
            let session = session(for: request)
            let id = session.attach(
                url: request.url, fields: request.fields, position: position, end: end, priority: priority,
                mayStore: request.isKept)
            if let id { return ReaderHandle.Attachment(entry: session, id: id) }
            // A session of a closed cache takes no reader, and neither would the next one.
            if status == .closed { return ReaderHandle.Attachment(entry: session, id: nil) }
            // It was closed between look-up and attaching; the next look-up makes a new one.
            forget(session, .unlisted)
        }
    }

    private func placeAlone(
        _ request: ResourceRequest, _ position: Int64, _ end: Int64, _ priority: TransferPlanner.Priority
    ) -> ReaderHandle.Attachment {
        let session = makePrivateSession(request)
        if status == .closed {
            session.shutDown()
            session.closeIfIdle()
        }
        let id = session.attach(
            url: request.url, fields: request.fields, position: position, end: end, priority: priority,
            mayStore: request.isKept)
        return ReaderHandle.Attachment(entry: session, id: id)
    }

    func session(for request: ResourceRequest) -> ActiveEntry {
        let (session, isCrowded, isClosed) = state.withLock { state in
            if let session = state.sessions[request.key] { return (session, false, false) }
            let session = makeSession(request, isPrivate: false)
            if state.status == .closed { return (session, false, true) }
            state.sessions[request.key] = session
            return (session, state.idleLimit.beginsLook(at: state.sessions.count), false)
        }
        if isClosed { session.shutDown() }
        if isCrowded { environment.queues.read { [weak self] in self?.closeSomeIdle() } }
        return session
    }

    private func closeSomeIdle() {
        let sessions = openSessions
        let idle = sessions.compactMap { session in session.idleSince.map { (since: $0, session: session) } }
        let surplus = state.withLock { $0.idleLimit.looked(idle: idle.count, of: $0.sessions.count) }
        for (_, session) in idle.sorted(by: { $0.since < $1.since }).prefix(surplus) { session.closeIfIdle() }
    }

    private func makeSession(_ request: ResourceRequest, isPrivate: Bool) -> ActiveEntry {
        ActiveEntry(
            key: request.key, url: request.url, fields: request.fields, isPrivate: isPrivate, environment: environment
        ) { [weak self] session, departure in self?.forget(session, departure) }
    }

    private func makePrivateSession(_ request: ResourceRequest) -> ActiveEntry {
        // Made and entered in one step, so that a walk through all sessions meets it or has ended before.
        state.withLock { state in
            let session = makeSession(request, isPrivate: true)
            state.privateSessions[ObjectIdentifier(session)] = session
            return session
        }
    }

    private func forget(_ session: ActiveEntry, _ departure: EntryLifecycle.Departure) {
        state.withLock { state in
            let isListed = state.sessions[session.key] === session
            if isListed { state.sessions[session.key] = nil }
            switch departure {
            // It goes on until its readers and transfers are done, unless it was told to be gone by another thread before.
            case .unlisted: if isListed { state.privateSessions[ObjectIdentifier(session)] = session }
            case .gone: state.privateSessions[ObjectIdentifier(session)] = nil
            }
        }
    }

    /// Runs work on the session of a resource that need not be open for it; one that was made for it alone goes again.
    func withSession<Value>(
        for request: ResourceRequest, _ work: (ActiveEntry) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let session = session(for: request)
        defer { session.handle(.closeIfUnopened) }
        return try work(session)
    }

    func openSession(_ key: ResourceKey) -> ActiveEntry? { state.withLock { $0.sessions[key] } }

    /// The open session of the entry with that folder name; not one whose files were replaced or removed.
    func openSession(named name: String, in store: Store) -> ActiveEntry? {
        let sessions = state.withLock { Array($0.sessions.values) }
        return sessions.first { store.entryName(key: $0.key.text) == name }
    }

    package var openSessions: [ActiveEntry] {
        let (shared, alone) = state.withLock { (Array($0.sessions.values), Array($0.privateSessions.values)) }
        return shared.sorted { $0.key.text < $1.key.text } + alone
    }

    /// Readers and transfers of all open resources now.
    package var activity: (readers: Int, transfers: Int) {
        openSessions.reduce((0, 0)) { ($0.0 + $1.activity.readers, $0.1 + $1.activity.transfers) }
    }

    /// Tells the cache that the device can reach the network again: what waits between two tries is tried at once.
    ///
    /// Costs nothing where nothing waits. `RepriseURLSession` calls it by itself where it watches the network's path.
    public func networkPathReturned() {
        for session in openSessions { session.handle(.networkPathReturned) }
    }

    /// Keeps `companion` alive as long as the cache: what works for it and must not outlive it. It must not hold the
    /// cache strongly.
    package func keep(_ companion: any AnyObject & Sendable) { state.withLock { $0.companions.append(companion) } }

    /// How long closing waits for files that are being made.
    private static let closingLimit: Int64 = 10 * TransferTuning.second

    /// Ends all readers, writes what is in memory, and lets the store go. Bounded by the disk, not by the network.
    public func close() async {
        await turnstile.enter()
        defer { turnstile.leave() }
        if status == .closed { return }
        let mayWait = status == .ready
        // From here on no reader gets a session, and no session asks an origin.
        setStatus(.closed)
        for session in openSessions { session.shutDown() }
        // The write lanes and the janitor are in order: when these have run, so has all before them. A piece that is
        // written asks for the next, so it takes as many rounds as a window has pieces; and what came fast may still wait
        // for its files, which are made on the read pool.
        let queues = environment.queues
        let deadline = queues.now() + MediaCache.closingLimit
        repeat {
            await queues.reading {}
            for lane in 0..<2 {
                await handover { done in queues.write(lane: lane) { done(()) } }
            }
        } while queues.now() < deadline && openSessions.contains(where: \.isWriting)
            || mayWait && openSessions.contains(where: \.hasUnwritten) && queues.now() < deadline
        await queues.tidying {}
        for session in openSessions { session.handle(.abandonUnwritten) }
        let book = statisticsBook
        await queues.tidying { book.save() }
        // Work that a hung disk finishes later must not touch a root that is another cache's by then.
        await handover { done in environment.access.shut { done(()) } }
        environment.store?.release()
        environment.hub.end()
    }
}
