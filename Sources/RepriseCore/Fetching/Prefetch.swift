import ReprisePlatform
public import RepriseRanges

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// How much of a resource to fetch ahead.
public enum PrefetchPart: Sendable, Hashable {
    /// What a player needs to begin: head, index and first seconds, as the container has them.
    case head
    /// The same with so many seconds of the media.
    case seconds(Double)
    /// So many bytes from the start.
    case bytes(Int64)
    /// These bytes.
    case range(ByteRange)
    /// All of it: what seeking left out, too.
    case whole

    func makeFetch(_ resource: MediaResource, _ queue: PrefetchQueue) -> any Fetch {
        switch self {
        case .head: HeadFetch(resource, ContainerHead(), queue)
        case .seconds(let seconds): HeadFetch(resource, ContainerHead(seconds: seconds), queue)
        case .bytes(let count): LaterFetch { RangeFetch(resource, ByteRange(0, max(0, count)), queue: queue) }
        case .range(let range): LaterFetch { RangeFetch(resource, range, queue: queue) }
        case .whole: LaterFetch { RangeFetch(resource, .from(0), queue: queue) }
        }
    }
}

/// A part of a resource that is being fetched and kept, though nobody plays it.
///
/// It goes on whether or not this value is held on to; what others fetch meanwhile is not fetched twice, and players come
/// first. Few go on at a time (`PrefetchLimits`), the others wait for their turn. What came before a restart, or before it
/// was cancelled, is not fetched again by one that asks for the same. May be used from any thread.
public final class Prefetch: Sendable {
    private let fetch: any Fetch
    private let task: Task<Void, any Error>
    private let ending: Ending

    /// How far it was when it ended; what is read for it is let go then.
    private final class Ending: Sendable {
        let progress = Lock<FetchProgress?>(nil)
    }

    init(_ resource: MediaResource, _ part: PrefetchPart, _ priority: PrefetchPriority) {
        let queue = resource.cache.prefetchQueue
        let fetch = part.makeFetch(resource, queue)
        let ending = Ending()
        // In the order they are asked for, whenever their tasks begin.
        let place = queue.enter(priority)
        self.fetch = fetch
        self.ending = ending
        task = Task(executorPreference: resource.cache.environment.queues.executor) {
            defer {
                let progress = fetch.progress
                ending.progress.withLock { $0 = progress }
                fetch.leave()
            }
            try await queue.wait(place)
            defer { queue.leave() }
            try await fetch.run()
        }
    }

    /// How far it is, in bytes.
    public var progress: FetchProgress { ending.progress.withLock { $0 } ?? fetch.progress }

    /// Whether it has ended: done, failed or cancelled.
    public var hasEnded: Bool { ending.progress.withLock { $0 != nil } }

    /// Ends it; what came stays stored.
    public func cancel() { task.cancel() }

    /// Returns when all of it is stored.
    /// - Throws: `CacheError`: `.store` where nothing can be kept, and those of reading; `CancellationError` after `cancel()`.
    public var value: Void {
        get async throws { try await task.value }
    }
}

extension MediaCache {
    /// Fetches ahead that wait for their turn, for tests.
    package var waitingPrefetches: Int { prefetchQueue.waiting }

    /// Fetches a part of what is behind `url`, and keeps it, so that playing it later costs nothing.
    /// - Throws: `CacheError` with `.badURL` for anything but an absolute http or https URL.
    @discardableResult
    public func prefetch(
        _ url: URL, _ part: PrefetchPart = .head, priority: PrefetchPriority = .normal
    ) throws(CacheError) -> Prefetch {
        try resource(for: url).prefetch(part, priority: priority)
    }

    /// Fetches what is missing of the whole, such as the holes that seeking left.
    /// - Throws: `CacheError` with `.badURL` for anything but an absolute http or https URL.
    @discardableResult
    public func complete(_ url: URL, priority: PrefetchPriority = .normal) throws(CacheError) -> Prefetch {
        try prefetch(url, .whole, priority: priority)
    }
}

extension MediaResource {
    /// Fetches a part of it, and keeps it, so that playing it later costs nothing.
    @discardableResult
    public func prefetch(_ part: PrefetchPart = .head, priority: PrefetchPriority = .normal) -> Prefetch {
        Prefetch(self, part, priority)
    }
}
