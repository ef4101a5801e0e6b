import ReprisePlatform
public import RepriseRanges

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// How much of a resource to fetch ahead.
public enum PrefetchPart: Sendable, Hashable {
    /// So many bytes from the start.
    case bytes(Int64)
    /// These bytes.
    case range(ByteRange)
    /// All of it: what seeking left out, too.
    case whole

    var range: ByteRange {
        switch self {
        case .bytes(let count): ByteRange(0, max(0, count))
        case .range(let range): range
        case .whole: .from(0)
        }
    }
}

/// A part of a resource that is being fetched and kept, though nobody plays it.
///
/// It goes on whether or not this value is held on to; what others fetch meanwhile is not fetched twice, and players come
/// first. May be used from any thread.
public final class Prefetch: Sendable {
    private let fetch: RangeFetch
    private let task: Task<Void, any Error>
    private let ending: Ending

    /// How far it was when it ended; what is read for it is let go then.
    private final class Ending: Sendable {
        let progress = Lock<FetchProgress?>(nil)
    }

    init(_ resource: MediaResource, _ part: PrefetchPart) {
        let fetch = RangeFetch(resource, part.range)
        let ending = Ending()
        self.fetch = fetch
        self.ending = ending
        task = Task {
            defer {
                let progress = fetch.progress
                ending.progress.withLock { $0 = progress }
                fetch.leave()
            }
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
    /// Fetches a part of what is behind `url`, and keeps it, so that playing it later costs nothing.
    /// - Throws: `CacheError` with `.badURL` for anything but an absolute http or https URL.
    @discardableResult
    public func prefetch(_ url: URL, _ part: PrefetchPart = .whole) throws(CacheError) -> Prefetch {
        try resource(for: url).prefetch(part)
    }
}

extension MediaResource {
    /// Fetches a part of it, and keeps it, so that playing it later costs nothing.
    @discardableResult
    public func prefetch(_ part: PrefetchPart = .whole) -> Prefetch { Prefetch(self, part) }
}
