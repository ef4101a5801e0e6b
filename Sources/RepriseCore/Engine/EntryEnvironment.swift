package import RepriseHTTP
package import ReprisePlatform
import RepriseRanges
package import RepriseStorage

/// What the entries of a cache work with: everything outside them, so that a simulation can give it all.
package final class EntryEnvironment: Sendable {
    package let queues: any WorkQueues
    package let client: any OriginClient
    /// How the store is reached, which may come and go.
    package let access: StoreAccess
    /// Reads of leased bytes that are under way.
    let reads: ReadDeadlines
    package let hosts: HostTable
    package let hub: EventHub
    package let tuning: TransferTuning
    package let freshness: FreshnessPolicy
    /// Whether redirects are followed, not handed on.
    package let followsRedirects: Bool
    /// Fields that every request carries.
    package let originFields: HTTPFields
    package let sameness: SamenessRules
    /// How much may be stored.
    package let quota: QuotaAccounting
    /// Bytes of all entries that wait for the disk.
    package let unwritten: UnwrittenBytes
    package let admission: Admission
    /// Hosts that serve the same.
    package let hostGroups: [HostGroup]
    /// Where else resources are.
    package let mirrors: [Mirrors]
    /// Sends whole requests that are not an entry's, until the cache is closed.
    package let failover: ClosableClient
    /// Who is asked for URLs in place of those that expired; `nil` where nobody is.
    package let freshURLs: FreshURLs?
    /// Told of what must never be, after each input; `nil` where it is not looked for.
    package let onBrokenInvariant: (@Sendable (String) -> Void)?

    package init(
        queues: any WorkQueues, client: any OriginClient, store: Store?, hosts: HostTable, hub: EventHub,
        tuning: TransferTuning = TransferTuning(), freshness: FreshnessPolicy = .immutable,
        followsRedirects: Bool = true, originFields: HTTPFields = [:], sameness: SamenessRules = SamenessRules(),
        limits: StoreLimits = .none, ownVolume: Int64? = nil,
        admission: Admission = .all,
        hostGroups: [HostGroup] = [], mirrors: [OriginURL] = [], freshURLs: FreshURLs? = nil,
        onBrokenInvariant: (@Sendable (String) -> Void)? = nil
    ) {
        self.queues = queues
        self.client = client
        access = StoreAccess(store)
        reads = ReadDeadlines(queues)
        self.hosts = hosts
        self.hub = hub
        self.tuning = tuning
        self.freshness = freshness
        self.followsRedirects = followsRedirects
        self.originFields = originFields
        self.sameness = sameness
        quota = QuotaAccounting(limits, ownVolume: ownVolume)
        unwritten = UnwrittenBytes(limit: tuning.unwrittenLimit)
        self.admission = admission
        self.hostGroups = hostGroups
        self.mirrors = hostGroups.map { .hosts($0) } + (mirrors.count > 1 ? [.bases(mirrors)] : [])
        let whole: any OriginClient =
            self.mirrors.isEmpty
            ? client
            : FailoverClient(
                client: client, mirrors: self.mirrors, hosts: hosts, timeout: tuning.oneOfSeveralTimeout,
                queues: queues,
                isCountedByUser: freshness == .http
            ) { hub.send(.originFailed(origin: $0, reason: $1)) }
        failover = ClosableClient(whole, queues: queues)
        self.freshURLs = freshURLs
        self.onBrokenInvariant = onBrokenInvariant
    }

    /// The store; `nil` where nothing can be stored, and bytes pass through.
    package var store: Store? { access.store }

    /// How long an answer to a whole request may be waited for, in nanoseconds: until the last of the origins that it may go to
    /// has had its time.
    package func timeout(of request: OriginRequest) -> Int64 {
        let count = request.isSafe ? mirrors.places(of: request.url)?.locations.count ?? 1 : 1
        guard count > 1 else { return tuning.headTimeout }
        // What asking the next takes is not taken off the last one's time.
        return Int64(count - 1).multiplied(by: tuning.oneOfSeveralTimeout).adding(tuning.headTimeout)
            .adding(TransferTuning.second)
    }

    /// How long a call to the disk may take now, in nanoseconds.
    var diskTimeout: Int64 {
        access.isSilent(within: tuning.hungDiskMemory, now: queues.now()) ? tuning.hungDiskTimeout : tuning.diskTimeout
    }
}
