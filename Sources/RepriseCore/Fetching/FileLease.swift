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
/// latest with the process: `export(to:)` makes a file that stays.
public final class FileLease: Sendable {
    /// The file's URL. To be read only: what is written into it is taken for damage.
    public let url: URL
    private let fetch: RangeFetch
    private let generation: Generation?
    private let task: Task<Void, Never>
    private let hold: ExtentLease?
    private let queues: any WorkQueues
    private let hub: EventHub
    private let end: @Sendable () throws(StoreError) -> Void

    /// - Parameters:
    ///   - generation: What is fetched into the file; `nil` where all of it is there.
    ///   - end: Takes the path away, on the janitor.
    init(
        path: String, fetch: RangeFetch, generation: Generation?, task: Task<Void, Never>, hold: ExtentLease?,
        environment: EntryEnvironment,
        end: @escaping @Sendable () throws(StoreError) -> Void
    ) {
        url = URL(fileURLWithPath: path)
        self.fetch = fetch
        self.generation = generation
        self.task = task
        self.hold = hold
        queues = environment.queues
        hub = environment.hub
        self.end = end
    }

    deinit {
        task.cancel()
        fetch.leave()
        let (end, hub) = (end, hub)
        queues.upkeep {
            do throws(StoreError) { try end() } catch {
                hub.send(.degraded(key: "", reason: error.description))
            }
        }
    }

    /// How much of the file is there.
    public var progress: FetchProgress { fetch.progress }

    /// Returns when the whole file is there.
    /// - Throws: `CacheError` where it cannot be had, `.changed` where the origin has another version by now;
    ///   `CancellationError`.
    public func waitUntilComplete() async throws {
        guard let generation else { return }
        guard try await fetch.kept(atLeast: .max).generation === generation else {
            throw CacheError(
                .changed, "the resource changed at the origin before the file was complete; ask for it again")
        }
    }
}
