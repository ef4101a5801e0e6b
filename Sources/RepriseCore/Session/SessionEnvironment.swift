package import ReprisePlatform
package import RepriseStorage

/// What a session works with: everything outside it, so that a simulation can give it all.
package struct SessionEnvironment: Sendable {
    package var queues: any WorkQueues
    package var client: any OriginClient
    /// How the store is reached, which may come and go.
    package let access: StoreAccess
    package var hosts: HostBook
    package var hub: EventHub
    package var tuning: TransferTuning
    package var freshness: FreshnessPolicy
    package var sameness: SamenessRules
    /// How much may be stored.
    package let quota: QuotaBook
    /// Bytes of all entries that wait for the disk.
    package let unwritten: UnwrittenBytes
    package var admission: Admission
    /// Hosts that serve the same.
    package var hostGroups: [HostGroup] = []
    /// Who is asked for URLs in place of those that ran out; `nil` where nobody is.
    package var freshURLs: FreshURLs?

    package init(
        queues: any WorkQueues, client: any OriginClient, store: Store?, hosts: HostBook, hub: EventHub,
        tuning: TransferTuning = TransferTuning(), freshness: FreshnessPolicy = .immutable,
        sameness: SamenessRules = SamenessRules(), limits: StoreLimits = .none, admission: Admission = .all
    ) {
        self.queues = queues
        self.client = client
        access = StoreAccess(store)
        self.hosts = hosts
        self.hub = hub
        self.tuning = tuning
        self.freshness = freshness
        self.sameness = sameness
        quota = QuotaBook(limits)
        unwritten = UnwrittenBytes(limit: tuning.unwrittenLimit)
        self.admission = admission
    }

    /// The store; `nil` where nothing can be stored, and bytes pass through.
    package var store: Store? { access.store }
}
