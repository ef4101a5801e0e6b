import ReprisePlatform
import RepriseRanges
public import RepriseStorage

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// In: a local file as what is stored of a URL.
extension MediaResource {
    /// Stores the bytes of `file` as all of the resource, so that playing it costs nothing: for example after an upload.
    ///
    /// The file is read once and left as it is. The entry is a generation of its own, with checksums computed from the bytes: it
    /// takes the place of what was stored in one step, who plays that goes on undisturbed, and bytes of the two never meet. A
    /// pin stays. What the origin says later of length or validator counts as for anything stored; with freshness `.http` it is
    /// asked before the first use. The store's limits hold, admission does not: it was asked for.
    ///
    /// A resource that has a `ContentTransform` takes no file: the store has to hold what the origin sends, the file most likely
    /// holds what players are given, as an export does, and a transform knows no way back.
    /// - Throws: `CacheError`: `.unsupported` for what is no file URL or no description, and for a resource with a
    ///   transform; `.store` where the file cannot be read, is empty or changes meanwhile, or cannot be stored.
    @discardableResult
    public func importFile(
        _ file: URL, as description: ImportDescription = ImportDescription()
    ) async throws(CacheError) -> EntryInfo {
        guard file.isFileURL else { throw CacheError(.unsupported, "\(file.absoluteString) is no file's URL") }
        return try await importFile(atPath: file.path, as: description)
    }

    /// The same for an absolute path.
    package func importFile(
        atPath path: String, as description: ImportDescription
    ) async throws(CacheError) -> EntryInfo {
        guard cache.transform(for: request) == nil else {
            throw CacheError(
                .unsupported,
                "\(request.url) has a content transform, so a file of what is played is not what its origin sends")
        }
        let store = try cache.keptStore()
        let queues = cache.environment.queues
        let identity = UInt64(queues.randomFraction() * 0x1p52) << 11 | 1
        let info = try description.info(request, path: path, identity: identity, now: queues.wallClock())
        let begun = try await cache.onDisk { () throws(StoreError) in try store.beginImport(path, as: info) }
        do throws(CacheError) {
            return try await carryOut(begun, store)
        } catch {
            await abandon(begun, store)
            throw error
        }
    }

    private func carryOut(_ begun: EntryImport, _ store: Store) async throws(CacheError) -> EntryInfo {
        let (cache, request) = (cache, request)
        let quota = cache.environment.quota
        guard begun.length <= quota.capacity else { throw CacheError(tooLarge: begun.length, for: quota.capacity) }
        var work = begun
        while work.done < work.length {
            if Task.isCancelled { throw CacheError.taskCancelled }
            if !quota.hasSpace { await cache.collectGarbage() }
            guard quota.hasSpace else { throw CacheError(.store, quota.refusal) }
            let current = work
            work = try await cache.onDisk { () throws(StoreError) in
                var next = current
                quota.stored(try next.advance())
                return next
            }
        }
        var info = begun.entry.info
        if cache.configuration.freshness == .http { info.checked = Freshness.invalidated }
        let (whole, final, length) = (work, info, work.length)
        return try await cache.onDisk { () throws(StoreError) in
            var summary = EntrySummary()
            summary.lastUse = cache.environment.queues.wallClock()
            summary.length = length
            summary.stored = length
            let name = store.entryName(key: request.key.text)
            let old = try store.describe(name: name)?.summary
            summary.isPinned = try store.isPinned(name: name)
            try whole.seal(summary, in: store)
            try cache.adopt(final, whole.entry.generation, request)
            quota.stored(Quota.entryCost)
            if let old { quota.update { $0.freed(old.allocated.adding(Quota.entryCost)) } }
            cache.environment.hub.send(.stored(key: request.key.text, bytes: length))
            return final
        }
    }

    private func abandon(_ begun: EntryImport, _ store: Store) async {
        let quota = cache.environment.quota
        do throws(CacheError) {
            try await cache.onDisk { () throws(StoreError) in try store.abandon(begun.entry) }
            quota.update { $0.freed(begun.entry.generation.claimedBytes) }
        } catch {
            // It is swept with the next generation of this key.
            cache.environment.hub.send(.degraded(key: request.key.text, reason: error.message))
        }
    }
}

extension MediaCache {
    /// Stores the bytes of `file` as all of `url`, as `MediaResource.importFile`.
    @discardableResult
    public func importFile(
        _ file: URL, for url: URL, as description: ImportDescription = ImportDescription()
    ) async throws(CacheError) -> EntryInfo {
        try await resource(for: url).importFile(file, as: description)
    }

    /// Makes a staged generation what is stored of a resource; who reads goes on with what they have. I/O, on the janitor.
    func adopt(_ info: EntryInfo, _ generation: Generation, _ request: ResourceRequest) throws(StoreError) {
        // One that was retired just before names no files any more; the next look-up makes another.
        for _ in 0..<4 {
            let isDone = try table.withEntry(for: request) { active throws(StoreError) in
                try active.replaceEntry(info, generation)
            }
            if isDone { return }
        }
        throw StoreError(.gone, "the entry was replaced again and again; try later")
    }
}
