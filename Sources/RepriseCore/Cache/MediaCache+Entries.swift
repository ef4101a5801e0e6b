import RepriseHTTP
import ReprisePlatform
import RepriseRanges
public import RepriseStorage

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Pinning, removing and listing what is stored.
extension MediaCache {
    /// Keeps what is stored of `url`, and what will be, whatever the limits say; the pin outlives the process.
    ///
    /// Where nothing is stored yet the first bytes are fetched, as a pin needs an entry. A pin fetches no more than that:
    /// `complete(url)` does.
    /// - Throws: `CacheError`: `.unsupported` in a `.caches` store, `.store` where nothing can be kept, and those of reading.
    public func pin(_ url: URL) async throws(CacheError) { try await resource(for: url).pin() }

    /// Lets what is stored of `url` be evicted again. Nothing happens where nothing is stored.
    public func unpin(_ url: URL) async throws(CacheError) { try await resource(for: url).unpin() }

    /// Removes what is stored of `url`, a pinned entry too. Who plays it goes on undisturbed; who comes after this
    /// returns fetches anew.
    public func remove(_ url: URL) async throws(CacheError) { try await resource(for: url).remove() }

    /// Removes everything that is stored, pinned entries too, as `remove` does.
    /// - Throws: `CacheError` with `.store` where entries could not be removed; the others are gone all the same.
    public func removeAll() async throws(CacheError) {
        let store = try keptStore()
        try await onDisk { () throws(StoreError) in
            var failure: StoreError?
            for name in try store.entryNames() {
                do throws(StoreError) {
                    try self.table.withEntry(named: name, in: store) { active throws(StoreError) in
                        if let active { try active.removeEntry() } else { try store.remove(name: name) }
                    }
                } catch { failure = error }
            }
            // Readers of what is not on disk yet keep it to themselves as well.
            for active in self.openEntries { try active.removeEntry() }
            if let failure { throw failure }
        }
    }

    /// What is stored, in no order. Reads two small files an entry; an entry that cannot be read now is left out and
    /// told of by a `degraded` event.
    public func entries() async -> [EntryInfo] {
        guard let store = environment.store else { return [] }
        return await environment.queues.reading { self.list(store) }
    }

    private func list(_ store: Store) -> [EntryInfo] {
        var entries: [EntryInfo] = []
        do throws(StoreError) {
            for name in try store.entryNames() {
                do throws(StoreError) {
                    guard let (info, summary) = try store.describe(name: name) else { continue }
                    var entry = info
                    // The summary is behind while bytes come in; what the open entry knows may be only a part.
                    let active = table.open(ResourceKey(info.key))
                    entry.stored = max(summary.stored, active?.storedBytes ?? 0)
                    entry.statistics = summary.statistics.latest(active?.statistics ?? EntryStatistics())
                    entries.append(entry)
                } catch {
                    environment.hub.send(.degraded(key: name, reason: error.description))
                }
            }
        } catch {
            environment.hub.send(.degraded(key: "", reason: error.description))
        }
        return entries
    }

    /// The resource an entry of the list belongs to; `nil` where its URL is none.
    public func resource(for entry: EntryInfo) -> MediaResource? {
        OriginURL(entry.url).map { resource(for: $0, key: ResourceKey(entry.key)) }
    }

    // MARK: Inside

    /// The store, where something can be kept in it now.
    func keptStore() throws(CacheError) -> Store {
        switch status {
        case .ready: break
        case .passingThrough(let reason): throw CacheError(.store, "nothing is kept: \(reason)")
        case .suspended: throw CacheError(.store, "the cache is suspended; call resume() first")
        case .closed: throw CacheError(.closed, "the cache was closed")
        }
        guard let store = environment.store else { throw CacheError(.store, "nothing is kept: there is no store") }
        return store
    }

    /// Runs work that changes files by their names, on the janitor, in order.
    func onDisk<Value: Sendable>(
        _ work: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(CacheError) -> Value {
        try await use(work) { queues, job in queues.upkeep(job) }
    }

    /// Runs work that reads files or verifies what is open, on the read pool, in no order.
    func onReadPool<Value: Sendable>(
        _ work: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(CacheError) -> Value {
        try await use(work) { queues, job in queues.read(job) }
    }

    private func use<Value: Sendable>(
        _ work: @escaping @Sendable () throws(StoreError) -> Value,
        on queue: (any WorkQueues, @escaping @Sendable () -> Void) -> Void
    ) async throws(CacheError) -> Value {
        let environment = environment
        let answer: Result<Value, CacheError> = await withCallback { done in
            queue(environment.queues) {
                do throws(StoreError) {
                    guard let value = try environment.access.use(work) else {
                        return done(
                            .failure(CacheError(.store, "the cache was suspended meanwhile; call resume() first")))
                    }
                    done(.success(value))
                } catch {
                    done(.failure(CacheError(error)))
                }
            }
        }
        return try answer.get()
    }
}

extension MediaResource {
    /// Keeps what is stored of it, as `MediaCache.pin`.
    public func pin() async throws(CacheError) {
        if let location = cache.opener?.location, location.isPurgeable {
            throw CacheError(
                .unsupported,
                "the system may delete a .caches store at any time, so nothing can be pinned in it; use .offline")
        }
        if try await setPinned(true) { return }
        try await bringEntry()
        if try await setPinned(true) { return }
        throw CacheError(.store, "\(request.url) cannot be stored, so it cannot be pinned")
    }

    /// Lets what is stored of it be evicted again.
    public func unpin() async throws(CacheError) { _ = try await setPinned(false) }

    /// Removes what is stored of it, as `MediaCache.remove`.
    public func remove() async throws(CacheError) {
        _ = try cache.keptStore()
        let (cache, request) = (cache, request)
        try await cache.onDisk { () throws(StoreError) in
            try cache.table.withEntry(for: request) { active throws(StoreError) in try active.removeEntry() }
            guard cache.configuration.freshness == .http else { return }
            // What was stored of it for other request fields goes with it.
            try cache.forEachStored(under: [request.key]) { active throws(StoreError) in try active.removeEntry() }
        }
    }

    private func setPinned(_ isPinned: Bool) async throws(CacheError) -> Bool {
        let store = try cache.keptStore()
        return try await cache.onDisk { () throws(StoreError) in
            try self.cache.table.withEntry(for: self.chosen(in: store)) { active throws(StoreError) in
                try active.setPinned(isPinned)
            }
        }
    }

    /// Reads as much as it takes to tell media from a page, and waits until it is decided whether it is stored.
    private func bringEntry() async throws(CacheError) {
        let handle = makeHandle(
            in: ByteRange(0, EntryStateMachine.sniffedBytes), priority: .prefetch, isHandedOn: false)
        var reader = CacheReader(handle: handle)
        do { while try await reader.next() != nil {} } catch let error as CacheError { throw error } catch {
            throw CacheError.taskCancelled
        }
        while true {
            let waker = Waker()
            handle.whenStoredChanges { waker.wake() }
            switch handle.storage?.place {
            case .undecided, .unsniffed: break
            case .stored, .notStored, .ended, nil: return
            }
            do { try await waker.wait() } catch { throw CacheError.taskCancelled }
        }
    }
}
