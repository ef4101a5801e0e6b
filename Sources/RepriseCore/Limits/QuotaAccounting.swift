import ReprisePlatform
package import RepriseStorage

/// The quota as everybody sees it: entries, which store, and the housekeeper, which makes room. Its lock is a leaf.
package final class QuotaAccounting: Sendable {
    private struct State {
        var quota: Quota
        var housekeeper: (@Sendable () -> Void)?
        var watch: (@Sendable () -> Void)?
    }

    private let state: Lock<State>

    /// - Parameter ownVolume: Bytes of a volume that is the store's alone.
    package init(_ limits: StoreLimits, ownVolume: Int64? = nil) {
        state = Lock(State(quota: Quota(limits: limits, ownVolume: ownVolume)))
    }

    /// Sets whom to call where room has to be made; it must be quick.
    package func onDue(_ housekeeper: @escaping @Sendable () -> Void) {
        state.withLock { $0.housekeeper = housekeeper }
    }

    /// Sets whom to tell that an entry was synced or closed; it must be quick.
    package func onSync(_ watch: @escaping @Sendable () -> Void) { state.withLock { $0.watch = watch } }

    /// An entry was synced or closed.
    package func synced() { state.withLock { $0.watch }?() }

    /// The limits now.
    package var limits: StoreLimits { state.withLock { $0.quota.limits } }

    /// Bytes all entries take, as far as is known.
    package var used: Int64 { state.withLock { $0.quota.used } }

    /// Bytes all entries take; `nil` where it is not known what was there at the start.
    package var known: Int64? { state.withLock { $0.quota.known } }

    /// Bytes that were stored in all, which a count needs.
    package var storedInAll: Int64 { state.withLock { $0.quota.storedInAll } }

    /// Whether more may be stored now.
    package var hasSpace: Bool { state.withLock { $0.quota.hasSpace } }

    /// Why nothing more is stored.
    package var refusal: String { state.withLock { $0.quota.refusal } }

    /// Whether nothing more is stored before what is there was counted.
    package var needsCount: Bool { state.withLock { $0.quota.needsCount } }

    /// What has to go.
    package var excess: Quota.Excess { state.withLock { $0.quota.excess } }

    /// Bytes that may be stored in all.
    package var capacity: Int64 { state.withLock { $0.quota.capacity } }

    /// Bytes were stored; calls the housekeeper where that is due.
    package func stored(_ bytes: Int64) {
        let due = state.withLock { state -> (@Sendable () -> Void)? in
            state.quota.stored(bytes)
            return state.quota.isDue ? state.housekeeper : nil
        }
        due?()
    }

    /// Calls the housekeeper whatever the quota says.
    package func requestEviction() { state.withLock { $0.housekeeper }?() }

    /// Takes what the housekeeper found out.
    package func update(_ change: (inout Quota) -> Void) { state.withLock { change(&$0.quota) } }
}
