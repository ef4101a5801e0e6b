public import RepriseCore
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

    private func followNetwork() {
        #if canImport(Network)
            retryAtOnce(whenReturns: SystemNetworkPath())
        #endif
    }
}
