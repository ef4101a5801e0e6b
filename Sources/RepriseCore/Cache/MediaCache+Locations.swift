package import ReprisePlatform
import RepriseStorage

/// Opening a cache where an app's files belong.
extension MediaCache {
    /// Whether a cache keeps what it plays.
    public enum Status: Sendable, Hashable {
        /// What is played is kept.
        case ready
        /// Everything plays and nothing is kept or found, for the reason given. `resume()` tries again.
        case passingThrough(reason: String)
        /// The store was given away by `suspend()`; readers wait for `resume()`.
        case suspended
        /// It was closed and cannot be used any more.
        case closed
    }

    /// Opens or makes a cache at `location`, sending by `client`.
    ///
    /// On Apple's systems its files can be read from the first unlock after a start on, also while the screen is locked.
    /// Blocks for a few file calls, however much is stored.
    /// - Throws: `CacheError` with `.unsupported` for a name or place that cannot be, with `.store` where the directory
    ///   cannot be used or another process writes it.
    public convenience init(
        at location: StoreLocation, client: any OriginClient, configuration: Configuration = Configuration()
    ) throws(CacheError) {
        try self.init(
            opener: StoreOpener(location: location, seal: configuration.seal), client: client,
            configuration: configuration)
    }

    /// Opens or makes a cache by `opener`; the same over any file system and folders.
    package convenience init(
        opener: StoreOpener, client: any OriginClient, configuration: Configuration = Configuration(),
        queues: any WorkQueues = SystemWorkQueues()
    ) throws(CacheError) {
        try MediaCache.check(configuration.limits)
        let store = try opener.open()
        self.init(store: store, client: client, configuration: configuration, queues: queues, opener: opener)
    }

    /// A cache by `opener` where that can be, else one that passes bytes through, says why in `status`, and tries again
    /// at `resume()`. Never throws.
    package convenience init(
        trying opener: StoreOpener, client: any OriginClient, configuration: Configuration = Configuration(),
        queues: any WorkQueues = SystemWorkQueues()
    ) {
        do throws(CacheError) {
            let store = try opener.open()
            self.init(store: store, client: client, configuration: configuration, queues: queues, opener: opener)
        } catch {
            self.init(
                store: nil, client: client, configuration: configuration, queues: queues, opener: opener, trouble: error
            )
        }
    }
}
