import ReprisePlatform
import RepriseRanges
import RepriseStorage

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Download, then play: the resource as a file.
extension MediaResource {
    /// The whole resource as a file; fetches what is missing and returns when it is there.
    /// - Throws: `CacheError`: `.unsupported` in a sealed store, on a volume without paths (`StoreVolume.hasPaths`) and for a resource
    ///   with a `ContentTransform` (see `fileURL(decryptedIn:)`), `.store` where nothing can be kept, and those of reading;
    ///   `CancellationError` where the task was cancelled.
    public func fileURL() async throws -> FileLease { try await fileURL(afterBytes: .max) }

    /// The resource as a file as soon as `count` bytes from its start, or all, are there; the rest goes on coming while
    /// the lease lives.
    /// - Throws: As `fileURL()`; also `.unsupported` for an MP4 or QuickTime file whose index comes after the media,
    ///   which cannot be opened before all is there, unless it is.
    public func fileURL(afterBytes count: Int64) async throws -> FileLease {
        let store = try cache.keptStore()
        guard store.hasPaths else {
            throw CacheError(
                .unsupported,
                "\(request.url) cannot be opened as a file: its store is on a volume whose files have no paths; read it through "
                    + "asset(for:), the server or a reader, or have a copy in a file by fileURL(decryptedIn:)")
        }
        guard cache.transform(for: request) == nil else {
            throw CacheError(
                .unsupported,
                "\(request.url) cannot be opened as a file: what is stored of it are the bytes its origin sent, before its "
                    + "content transform; read it through asset(for:), the server or a reader, or have the transformed bytes "
                    + "in a file by fileURL(decryptedIn:)")
        }
        let fetch = RangeFetch(self, .from(0), outlivesRemoval: true)
        let task = Task(executorPreference: cache.environment.queues.executor) {
            do { try await fetch.run() } catch { return }  // It told the fetch, which tells whoever waits.
        }
        do {
            let needed = try await bytesNeeded(max(0, count), fetch, store)
            let kept = try await fetch.kept(atLeast: needed)
            let (generation, length) = (kept.generation, kept.length)
            let hold = generation.leaseFile()
            // From here on nothing of it is given back; what was before has to be there.
            guard generation.claimedEnd(from: 0) >= min(needed, length ?? needed) else {
                throw MediaResource.givenBack
            }
            let path = try await cache.onDisk { () throws(StoreError) -> String in
                let path = try store.makeLease(kept.info, generation)
                do throws(FileError) { if let length { try generation.extend(to: length) } } catch {
                    do throws(StoreError) { try store.endLease(path) } catch {
                        // The name is swept when the store is opened next.
                    }
                    throw StoreError(error, doing: "giving a file its length")
                }
                return path
            }
            return FileLease(
                path: path, fetch: fetch, generation: generation, task: task, hold: hold,
                environment: cache.environment
            ) { () throws(StoreError) in try store.endLease(path) }
        } catch {
            task.cancel()
            fetch.leave()
            throw error
        }
    }

    /// The whole resource as a file, also in a sealed store, on a volume without paths and where it has a `ContentTransform`: it is
    /// copied, decrypted and transformed, into a file in `directory`, which has to be there, and which anybody who may read that directory's disk
    /// can read. Elsewhere as `fileURL()`.
    ///
    /// The decrypted file goes with the lease. A process that is killed leaves it behind: a directory that the app
    /// empties when it starts is a good one.
    /// - Throws: As `fileURL()`; `.store` where `directory` cannot be used.
    public func fileURL(decryptedIn directory: URL) async throws -> FileLease {
        let store = try cache.keptStore()
        let isFile = store.hasPaths && store.integrity != .sealed && cache.transform(for: request) == nil
        if isFile { return try await fileURL() }
        let fetch = RangeFetch(self, .from(0))
        do {
            try await fetch.run()
            let mark = SystemCalls.randomBytes(8).map { String($0, radix: 16) }.joined()
            let path = try await export(to: directory.appendingPathComponent(mark)).path
            // The copy stands by itself.
            fetch.leave()
            return FileLease(
                path: path, fetch: fetch, generation: nil, task: Task {}, hold: nil, environment: cache.environment
            ) { () throws(StoreError) in try store.removeExport(path) }
        } catch {
            fetch.leave()
            throw error
        }
    }

    private static let givenBack = CacheError(.store, "what was fetched was evicted; try again")

    /// How many bytes have to be there before the file may be given away.
    private func bytesNeeded(_ asked: Int64, _ fetch: RangeFetch, _ store: Store) async throws -> Int64 {
        var head: [UInt8] = []
        var length: Int64?
        while true {
            switch FileReadiness(asked: asked, head: head, length: length, integrity: store.integrity) {
            case .give(let bytes): return bytes
            case .look(let bytes):
                let kept = try await fetch.kept(atLeast: bytes)
                length = kept.length
                head = try await firstBytes(bytes, of: kept.generation)
                // To look again would show no more.
                guard Int64(head.count) >= min(bytes, length ?? bytes) else { throw MediaResource.givenBack }
            case .refuse(let reason):
                if fetch.progress.isComplete { return .max }
                throw CacheError(.unsupported, "\(request.url) cannot be opened as a file yet: \(reason)")
            case .never(let reason):
                throw CacheError(.unsupported, "\(request.url) cannot be opened as a file: \(reason)")
            }
        }
    }

    private func firstBytes(_ count: Int64, of generation: Generation) async throws(CacheError) -> [UInt8] {
        let answer = await cache.environment.queues.reading { () -> Result<[UInt8], CacheError> in
            do throws(FileError) {
                try generation.verify(ByteRange(0, count))
                return .success(try generation.lease(ByteRange(0, count))?.read() ?? [])
            } catch {
                return .failure(CacheError(.store, error.description))
            }
        }
        return try answer.get()
    }
}
