import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// What the housekeeper does to a resource.
extension ResourceSession {
    /// The store was swept: bytes that wait for space may go on.
    func spaceLookedAfter() { perform { $0.spaceLookedAfter() } }

    /// Removes the entry where nobody reads or fetches it; `false` where somebody does. Who comes while it goes reads what
    /// was there and stores anew. I/O.
    func evict() throws(StoreError) -> Bool {
        guard let store = environment.store, perform({ $0.letGo() }) else { return false }
        try tenure.end { () throws(StoreError) in try store.remove(key: key.text) }
        return true
    }

    /// Gives stored bytes back that no reader is near; answers how many. What is leased goes when its leases end. I/O.
    func trim(_ wanted: Int64) -> Int64 {
        var freed: Int64 = 0
        for (generation, ranges) in state.withLock({ $0.surplus(wanted) }) {
            for range in ranges {
                let error = Self.message { () throws(FileError) in
                    let left = try generation.discard(range)
                    freed += range.count - left.intersection(range).count
                }
                guard let error else { continue }
                environment.hub.send(.degraded(key: key.text, reason: error))
                break
            }
        }
        if freed > 0 { perform { $0.trimmed() } }
        return freed
    }
}
