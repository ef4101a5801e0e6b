import ReprisePlatform
import RepriseStorage

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Out: a complete resource as a file of the app's own.
extension MediaResource {
    /// Copies the resource, all of which has to be stored, to `file`, and answers where it is then.
    ///
    /// `file` may name a directory that is there, which gets a file called as in the URL; a name without an extension gets the
    /// right one. Every byte is verified on its way. Where the volume can, the copy takes no space of its own until one of the two
    /// is changed; it is never a link, so what is done to it does not reach the store. It takes the place of a file of that
    /// name, in one step, and is readable by its owner alone. Its bytes are those a player is given: where the resource has a
    /// `ContentTransform`, transformed ones. Nothing is asked of the origin: `complete(url)` before it fetches what is missing.
    /// A process that is killed leaves a hidden file that ends in `.part` beside it.
    /// - Throws: `CacheError`: `.incomplete`, saying what is missing; `.unsupported` for what is no file URL; `.store` where the
    ///   file cannot be made, or what is stored is damaged.
    @discardableResult
    public func export(to file: URL) async throws(CacheError) -> URL {
        guard file.isFileURL else { throw CacheError(.unsupported, "\(file.absoluteString) is no file's URL") }
        let store = try cache.keptStore()
        let path = file.path
        let transform = cache.transform(for: request).map { transform -> CopyTransform in
            { bytes, offset in transform.apply(to: &bytes, at: offset) }
        }
        let begun = try await cache.onReadPool { () throws(StoreError) in
            try store.beginExport(key: self.chosen(in: store).key.text, to: path, transform: transform)
        }
        guard let copy = begun else { throw CacheError(.incomplete, "nothing is stored of \(request.url)") }
        do throws(CacheError) {
            try await carryOut(copy)
        } catch {
            await abandon(copy)
            throw error
        }
        return URL(fileURLWithPath: copy.path)
    }

    private func carryOut(_ copy: EntryExport) async throws(CacheError) {
        var copy = copy
        while copy.done < copy.length {
            if Task.isCancelled { throw CacheError.taskCancelled }
            let current = copy
            copy = try await cache.onReadPool { () throws(StoreError) in
                var next = current
                _ = try next.advance()
                return next
            }
        }
        let whole = copy
        try await cache.onReadPool { () throws(StoreError) in try whole.finish() }
    }

    /// Not through the store, which may have been given away meanwhile: the file is not under its root.
    private func abandon(_ copy: EntryExport) async {
        let failure = await cache.environment.queues.reading { () -> StoreError? in
            do throws(StoreError) { try copy.abandon() } catch { return error }
            return nil
        }
        if let failure { cache.environment.hub.send(.degraded(key: request.key.text, reason: failure.description)) }
    }
}

extension MediaCache {
    /// Copies what is stored of `url`, which has to be all, to `file`, as `MediaResource.export`.
    @discardableResult
    public func export(_ url: URL, to file: URL) async throws(CacheError) -> URL {
        try await resource(for: url).export(to: file)
    }
}
