import ReprisePlatform
import RepriseStorage

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A file on disk with the bytes of a resource, for players and programs that open only files.
///
/// As long as it lives the file keeps its path and its bytes, also where the entry is replaced, removed or evicted, and
/// what is missing goes on being fetched. The file has its full length from the start where the origin tells it; what
/// has not come yet reads as zeros, so a player must not overtake `progress`. The path ends with the lease, and at the
/// latest with the process: copy the file to keep it.
public final class FileLease: Sendable {
    /// The file's URL. To be read only: what is written into it is taken for damage.
    public let url: URL
    private let path: String
    private let fetch: RangeFetch
    private let task: Task<Void, Never>
    private let hold: ExtentLease
    private let store: Store
    private let queues: any WorkQueues
    private let hub: EventHub

    init(
        path: String, fetch: RangeFetch, task: Task<Void, Never>, hold: ExtentLease, store: Store,
        queues: any WorkQueues, hub: EventHub
    ) {
        url = URL(fileURLWithPath: path)
        self.path = path
        self.fetch = fetch
        self.task = task
        self.hold = hold
        self.store = store
        self.queues = queues
        self.hub = hub
    }

    deinit {
        task.cancel()
        fetch.leave()
        let (store, path, hub) = (store, path, hub)
        queues.upkeep {
            do throws(StoreError) { try store.endLease(path) } catch {
                hub.send(.degraded(key: "", reason: error.description))
            }
        }
    }

    /// How much of the file is there.
    public var progress: FetchProgress { fetch.progress }

    /// Returns when the whole file is there.
    /// - Throws: `CacheError` where it cannot be had; `CancellationError`.
    public func waitUntilComplete() async throws { _ = try await fetch.kept(atLeast: .max) }
}
