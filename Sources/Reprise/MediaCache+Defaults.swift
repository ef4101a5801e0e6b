public import RepriseCore
public import ReprisePlatform
import RepriseURLSession

/// The cache as an app opens it: sending by URLSession, and trying again as soon as the network is back.
extension MediaCache {
    /// A cache in the app's Caches directory, made at its first use and kept for the life of the process.
    ///
    /// It can always be used: where its store cannot be opened, everything plays and nothing is kept, `status` says why,
    /// and `resume()` tries again. It has the name `Reprise`: another cache at `.caches()` is refused while it is there.
    public static let shared: MediaCache = {
        let cache = MediaCache(trying: StoreOpener(location: .caches()), client: URLSessionOriginClient())
        cache.followNetwork()
        return cache
    }()

    /// Opens or makes a cache at `location`, sending by URLSession.
    ///
    /// One process writes a store, by one cache: make one for each location and keep it. Blocks for a few file calls, however
    /// much is stored.
    /// - Throws: `CacheError` with `.unsupported` for a name or place that cannot be, with `.store` where the directory
    ///   cannot be used or is in use.
    public convenience init(
        at location: StoreLocation = .caches(), configuration: Configuration = Configuration()
    ) throws(CacheError) {
        try self.init(at: location, client: URLSessionOriginClient(), configuration: configuration)
        followNetwork()
    }

    /// Opens or makes a cache whose store is on `volume`, sending by URLSession: `MemoryVolume(capacity:)` leaves no trace on a disk.
    ///
    /// A volume without paths counts as the store's alone: entries fill it to fifteen sixteenths, `limits` can only lower that, and no
    /// space is left free for others. Calls the volume on this thread, a few times.
    /// - Parameters:
    ///   - volume: Where the store keeps its files.
    ///   - path: Absolute path of the store's directory on the volume; to be given for a volume with paths.
    ///   - configuration: How the cache decides.
    /// - Throws: `CacheError` with `.unsupported` for a path that is none or is wanting, with `.store` where the volume cannot be used or
    ///   another cache has this store open.
    public convenience init(
        on volume: any StoreVolume, at path: String? = nil, configuration: Configuration = Configuration()
    ) throws(CacheError) {
        try self.init(on: volume, at: path, client: URLSessionOriginClient(), configuration: configuration)
        followNetwork()
    }

    private func followNetwork() {
        #if canImport(Network)
            retryAtOnce(whenReturns: SystemNetworkPath())
        #endif
    }
}
