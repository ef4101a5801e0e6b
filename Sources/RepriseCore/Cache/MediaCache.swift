package import RepriseHTTP
package import ReprisePlatform
import RepriseRanges
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
        weak var router: (any StreamRouter)?
        var status: Status
        var companions: [any AnyObject & Sendable] = []
        /// A store that was given away and could not be taken back yet.
        var lost: Store?
    }

    /// The configuration it was made with.
    public let configuration: Configuration
    package let environment: EntryEnvironment
    /// The entries that are open.
    package let table: EntryTable
    /// Where the store is opened again; `nil` for a cache that was given one.
    package let opener: StoreOpener?
    /// How the process is kept awake while the store is given away.
    let activities: any ExpiringActivities
    /// Keys of what requests may have changed, whose entries were not looked at yet.
    let awaitingInvalidation = Lock<Set<ResourceKey>>([])
    /// Lets fetches ahead through.
    let prefetchQueue: PrefetchQueue
    /// Lets one giving away or taking back go on at a time.
    let storeTransition = AsyncMutex()
    /// Keeps the store within its limits.
    let housekeeper: Housekeeper
    /// Counts what the store holds.
    let census: StoreCensus
    /// Keeps the store's statistics.
    let statisticsStore: StatisticsStore
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
        state = Lock(State(status: store == nil ? .passingThrough(reason: reason) : .ready))
        let hub = EventHub(clock: { queues.wallClock() })
        let environment = EntryEnvironment(
            queues: queues, client: client, store: store,
            hosts: HostTable(limit: configuration.tuning.requestsPerHost), hub: hub, tuning: configuration.tuning,
            freshness: configuration.freshness, followsRedirects: configuration.followsRedirects,
            originFields: configuration.originFields,
            sameness: configuration.sameness, limits: configuration.limits, ownVolume: configuration.ownVolume,
            admission: configuration.admission, hostGroups: configuration.hostGroups, mirrors: configuration.mirrors,
            freshURLs: configuration.urlRefresher.map { FreshURLs($0) }, onBrokenInvariant: onBrokenInvariant)
        self.environment = environment
        table = EntryTable(environment, mostIdle: mostIdle)
        prefetchQueue = PrefetchQueue(configuration.prefetching, queues: queues)
        housekeeper = Housekeeper(environment: environment, table: table, policy: configuration.eviction)
        statisticsStore = StatisticsStore(environment)
        census = StoreCensus(environment, table)
        if store != nil { beginWithStore() }
    }

    deinit { environment.hub.end() }

    /// The store was opened, or taken back.
    package func beginWithStore() {
        let statistics = statisticsStore
        environment.queues.upkeep { statistics.load() }
        census.begin()
    }

    /// The store is about to be let go, and nothing works on it any more: its index says so. Calls `done` afterwards, on the janitor.
    /// - Parameter session: The index's when that was decided.
    package func closeIndex(of store: Store, session: Int, _ done: @escaping @Sendable () -> Void) {
        let census = census
        environment.queues.upkeep {
            census.close(store, session)
            done()
        }
    }

    /// Where doors that cannot serve streams themselves send players for them; the running loopback server, or `nil`.
    /// Held weakly.
    public var streamRouter: (any StreamRouter)? {
        get { state.withLock { $0.router } }
        set { state.withLock { $0.router = newValue } }
    }

    /// What was stored when the cache was opened; `nil` until it has been added up.
    public var usageAtOpening: StoreUsage? { census.usage }

    /// Opens or makes a cache in `directory`, sending by `client`.
    /// - Throws: `StoreError` where the directory cannot be used or another process writes it.
    public convenience init(
        directory: String, client: any OriginClient, configuration: Configuration = Configuration()
    ) throws(StoreError) {
        if let problem = configuration.limits.problem { throw StoreError(.wrongFormat, problem) }
        let key = try configuration.seal?.key()
        let store = try Store(root: directory, volume: DiskVolume(), key: key)
        self.init(store: store, client: client, configuration: configuration)
    }

    /// Whether it keeps what it plays, and where not, why.
    public var status: Status { state.withLock { $0.status } }

    /// Nothing where it was closed, which is for good. Answers what it was before.
    @discardableResult
    func setStatus(_ status: Status, lost: Store? = nil) -> Status {
        state.withLock { state in
            let before = state.status
            if before == .closed { return before }
            state.status = status
            state.lost = lost
            return before
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
        var all = withOriginFields(fields)
        all.remove([
            "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
            "Icy-MetaData", "Accept-Encoding", "Host", "Content-Length",
        ])
        all.removeHopByHop()
        var request = ResourceRequest(key: key ?? configuration.key(for: url), url: url, fields: all)
        request.isKept = storing == .normal
        return MediaResource(cache: self, request: request)
    }

    /// Fields of a request with those that every request to an origin has.
    package func withOriginFields(_ fields: HTTPFields) -> HTTPFields {
        fields.replacing(in: configuration.originFields)
    }

    /// - Parameter isHandedOn: Whether anybody looks at the bytes; where nobody does they need not be transformed.
    func makeReader(
        _ request: ResourceRequest, position: Int64, end: Int64, priority: TransferPlanner.Priority, isHandedOn: Bool
    ) -> ReaderHandle {
        // What must not be stored is not stored, whoever else wants it (RFC 9111 §5.2.1.5).
        let isAlone = configuration.freshness == .http && RequestCacheControl(request.fields).noStore
        let first =
            isAlone
            ? table.attachAlone(request, position, end, priority) : table.attach(request, position, end, priority)
        return ReaderHandle(
            first, position: position, end: end, queues: environment.queues,
            transform: isHandedOn ? transform(for: request) : nil
        ) { redirect, position, end in
            switch redirect {
            case .alone: return self.table.attachAlone(request, position, end, priority)
            case .aloneOnce:
                var own = request
                own.answers = .next
                return self.table.attachAlone(own, position, end, priority)
            case .variant(let variant):
                self.census.noteVariant()
                var own = request
                own.key = own.key.variant(variant)
                return self.table.attach(own, position, end, priority)
            }
        }
    }

    /// The entries that are open.
    package var openEntries: [ActiveEntry] { table.all }

    /// Readers and transfers of all open resources now.
    package var activity: (readers: Int, transfers: Int) {
        openEntries.reduce((0, 0)) { ($0.0 + $1.activity.readers, $0.1 + $1.activity.transfers) }
    }

    /// Tells the cache that the device can reach the network again: what waits between two tries is tried at once.
    ///
    /// Costs nothing where nothing waits. `RepriseURLSession` calls it by itself where it watches the network's path.
    public func networkPathReturned() {
        for entry in openEntries { entry.handle(.networkPathReturned) }
    }

    /// Keeps `companion` alive as long as the cache: what works for it and must not outlive it. It must not hold the
    /// cache strongly.
    package func keep(_ companion: any AnyObject & Sendable) { state.withLock { $0.companions.append(companion) } }

    /// How long closing waits for the disk.
    static let closingLimit: Int64 = 10 * TransferTuning.second

    /// Ends all readers, writes what is in memory, and lets the store go. Waits for the disk, at most about ten seconds; where a
    /// call to it hangs for longer, the store is let go when that ends.
    public func close() async {
        let queues = environment.queues
        let deadline = Deadline(MediaCache.closingLimit, on: queues)
        // From here on no reader gets an entry, and no entry asks an origin.
        let before = setStatus(.closed)
        if before != .closed {
            table.shutDown()
            environment.failover.close()
        }
        _ = await deadline.wait { tell in
            // Another transition may be under way, which a disk that hangs keeps for longer.
            _ = Task(executorPreference: queues.executor) {
                await self.storeTransition.lock()
                if before != .closed { await self.letStoreGo(deadline, mayWait: before == .ready) }
                self.storeTransition.unlock()
                tell()
            }
        }
    }

    private func letStoreGo(_ deadline: Deadline, mayWait: Bool) async {
        let queues = environment.queues
        await drain(by: deadline) { $0.isWriting || mayWait && $0.isStoring }
        _ = await deadline.wait { tell in queues.upkeep(tell) }
        for entry in openEntries { entry.handle(.abandonUnwritten) }
        let statistics = statisticsStore
        queues.upkeep { statistics.save() }
        _ = await deadline.wait { tell in queues.upkeep(tell) }
        // Work that a hung disk finishes later must not touch a root that is another cache's by then.
        let store = environment.store
        let session = store?.indexSession ?? 0
        _ = await deadline.wait { tell in
            environment.access.shut {
                guard let store else { return tell() }
                self.closeIndex(of: store, session: session, tell)
                // A disk that took too long is not waited for once more.
                if deadline.hasPassed { store.release() }
            }
        }
        if environment.access.isStill { store?.release() }
        environment.hub.end()
    }
}

extension MediaCache {
    /// What transforms the bytes of a resource on their way out; `nil` where they leave as they came.
    func transform(for request: ResourceRequest) -> CheckedTransform? {
        configuration.contentTransform?(request.key, request.url).map { CheckedTransform($0) }
    }
}
