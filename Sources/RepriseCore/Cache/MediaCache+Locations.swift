public import ReprisePlatform
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

    /// Opens or makes a cache whose store is on `volume`: in memory, or wherever an app keeps bytes.
    ///
    /// A volume without paths counts as the store's alone: entries fill it to fifteen sixteenths, `limits` can only lower that, and no
    /// space is left free for others. Calls the volume on this thread, a few times.
    /// - Parameters:
    ///   - volume: Where the store keeps its files.
    ///   - path: Absolute path of the store's directory on the volume; to be given for a volume with paths.
    ///   - client: What sends requests to origins.
    ///   - configuration: How the cache decides.
    /// - Throws: `CacheError` with `.unsupported` for a path that is none or is wanting, with `.store` where the volume cannot be used or
    ///   another cache has this store open.
    public convenience init(
        on volume: any StoreVolume, at path: String? = nil, client: any OriginClient,
        configuration: Configuration = Configuration()
    ) throws(CacheError) {
        try self.init(on: volume, at: path, client: client, configuration: configuration, queues: SystemWorkQueues())
    }

    /// The same on any queues.
    package convenience init(
        on volume: any StoreVolume, at path: String? = nil, client: any OriginClient,
        configuration: Configuration = Configuration(), queues: any WorkQueues
    ) throws(CacheError) {
        var configuration = configuration
        if volume.hasPaths, path == nil {
            throw CacheError(.unsupported, "a store on a volume with paths needs one: give `at`")
        }
        do throws(FileError) {
            if !volume.hasPaths { configuration.ownVolume = try volume.space("/").total }
        } catch {
            throw CacheError(StoreError(error, doing: "asking the volume for its size"))
        }
        try self.init(
            opener: StoreOpener(at: path ?? "/store", on: volume, seal: configuration.seal), client: client,
            configuration: configuration, queues: queues)
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
