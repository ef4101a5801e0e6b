import RepriseHTTP
import ReprisePlatform

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a cache tells: events and sums.
extension MediaCache {
    /// What happened since the cache was opened.
    public var statistics: CacheStatistics { environment.hub.statistics }

    /// As `storeStatistics`, without looking at the file again.
    package var knownStoreStatistics: StoreStatistics { statisticsStore.total }

    /// What happened since the store was made, restarts included; without a store, since the cache was opened.
    ///
    /// A process that is killed loses the last minute's; a damaged file of sums begins anew, which `since` tells.
    public func storeStatistics() async -> StoreStatistics {
        let book = statisticsStore
        await environment.queues.tidying { book.load() }
        return book.total
    }

    /// Calls `listener` for every event, in order, on whatever thread it happens; it must be quick.
    /// Hold on to the result: the listener ends with it.
    public func onEvent(_ listener: @escaping @Sendable (CacheEvent) -> Void) -> EventSubscription {
        EventSubscription(hub: environment.hub, id: environment.hub.add(listener))
    }

    /// What happens from now on, as a sequence of its own for each who asks; with `url`, what is about that resource alone.
    ///
    /// Ends when the cache is closed. A slow loop delays nobody: it finds at most the `limit` newest events, and before
    /// them, where older ones were dropped, how many.
    public func events(for url: URL? = nil, limit: Int = 256) -> CacheEvents {
        let wanted = url.map { url in OriginURL(url.absoluteString).map { configuration.key(for: $0) } }
        return CacheEvents(hub: environment.hub, limit: limit) { event in
            guard let wanted else { return true }
            // What varies has keys of its own below the resource's.
            return wanted != nil && event.key.map { ResourceKey($0).primary } == wanted
        }
    }
}

/// Keeps an event listener alive.
public final class EventSubscription: Sendable {
    private let hub: EventHub
    private let id: Int

    init(hub: EventHub, id: Int) {
        self.hub = hub
        self.id = id
    }

    deinit { hub.remove(id) }
}
