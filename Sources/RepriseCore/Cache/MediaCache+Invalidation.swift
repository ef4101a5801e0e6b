package import RepriseHTTP
import ReprisePlatform
package import RepriseStorage

/// What requests by other methods do to what is stored.
extension MediaCache {
    /// Has what is stored of the URLs concerned confirmed by the origin before it is used again, after a request whose method
    /// is not safe was answered (RFC 9111 §4.4), or may have been done without an answer. Bytes stay; who reads goes on.
    /// Nothing happens where freshness is `.immutable`.
    ///
    /// Where answers that vary are stored it looks through the store's index for variants of those URLs; else at those URLs' own
    /// alone.
    /// - Parameter answer: `nil` where none came.
    /// - Throws: `CacheError` with `.store` where an entry's description could not be written.
    package func invalidate(
        after method: String, at url: OriginURL, _ answer: OriginResponseHead?
    ) async throws(CacheError) {
        guard configuration.freshness == .http else { return }
        let targets = InvalidationRule.targets(
            method: method, url: url, status: answer?.status, fields: answer?.fields ?? HTTPFields(),
            isOfSecondTry: answer?.isOfSecondTry ?? false)
        if targets.isEmpty { return }
        let keys = targets.map { configuration.key(for: $0) }
        awaitingInvalidation.withLock { $0.formUnion(keys) }
        try await onDisk { () throws(StoreError) in
            // What other requests added meanwhile is looked at along, as each look may be at the whole store.
            let keys = self.awaitingInvalidation.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            if keys.isEmpty { return }
            do throws(StoreError) { try self.invalidate(keys) } catch {
                // The next request that waits tries them again, and is told.
                self.awaitingInvalidation.withLock { $0.formUnion(keys) }
                throw error
            }
        }
    }

    /// Has what is stored under those keys, and their variants, confirmed before it is used again. I/O.
    /// - Throws: What went wrong first; the others were told all the same.
    package func invalidate(_ keys: Set<ResourceKey>) throws(StoreError) {
        var failure: StoreError?
        for entry in openEntries where keys.contains(entry.key.primary) {
            failure.keepFirst { () throws(StoreError) in try entry.invalidate() }
        }
        failure.keepFirst { () throws(StoreError) in
            try forEachStored(under: keys) { entry throws(StoreError) in try entry.invalidate() }
        }
        if let failure { throw failure }
    }

    /// Calls `body` for each entry that is stored under those keys, variants included, by its entry in memory: a reader may be
    /// opening it. I/O: where there may be variants, the index.
    /// - Throws: What went wrong first; `body` was called for the others all the same.
    func forEachStored(
        under keys: Set<ResourceKey>, _ body: (ActiveEntry) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let store = environment.store else { return }
        let own = keys.map { store.entryName(key: $0.text) }.sorted()
        var failure: StoreError?
        for name in census.mayHaveVariants ? try names(under: keys, in: store) : own {
            failure.keepFirst { () throws(StoreError) in
                guard let info = try store.describe(name: name)?.info, keys.contains(ResourceKey(info.key).primary),
                    let url = OriginURL(info.url)
                else { return }
                try table.withEntry(for: ResourceRequest(key: ResourceKey(info.key), url: url, fields: [:]), body)
            }
        }
        if let failure { throw failure }
    }

    /// Folders of entries that are stored under those keys, and of those of which it is not known. I/O.
    private func names(under keys: Set<ResourceKey>, in store: Store) throws(StoreError) -> [String] {
        let survey = try store.survey()
        let known = survey.known.filter { entry in entry.key.map { keys.contains(ResourceKey($0).primary) } ?? true }
        return known.map(\.name) + survey.unknown
    }
}

extension StoreError? {
    /// Keeps what `body` throws, unless something was thrown before.
    fileprivate mutating func keepFirst(_ body: () throws(StoreError) -> Void) {
        do throws(StoreError) { try body() } catch { self = self ?? error }
    }
}
