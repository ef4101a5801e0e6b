#if canImport(AVFoundation) && !os(watchOS)
    public import AVFoundation
    public import Foundation
    public import RepriseCore

    extension MediaCache {
        /// An asset that plays `url` through this cache. Use it as any other: AVPlayer's own start, seeks and cancels stay.
        ///
        /// Costs no I/O; may be called on any thread. What cannot go through the cache gets a plain asset, and
        /// `AVURLAsset.cacheRoute` says why. The cache lives as long as the asset does.
        ///
        /// Set `automaticallyWaitsToMinimizeStalling` of the player to `false`, as Apple asks of everybody who gives media by
        /// a resource loader: playback starts late otherwise. It stops when a stall empties the buffer and is not resumed by
        /// the player then; `CachingPlayer` does both.
        /// - Parameters:
        ///   - url: http or https.
        ///   - headers: Fields the origin needs, for example `Authorization`.
        ///   - key: What names the resource, instead of what the key policy makes of the URL.
        public func asset(for url: URL, headers: [String: String] = [:], key: ResourceKey? = nil) -> AVURLAsset {
            switch AssetAddress.reasonAgainstLoader(url) {
            case .stream?:
                guard let routed = streamRouter?.route(for: url, headers: headers) else { return direct(url, .stream) }
                return attach(RouteHolder(.proxy(url)), to: AVURLAsset(url: routed))
            case let reason?: return direct(url, reason)
            case nil: break
            }
            switch status {
            case .passingThrough(let reason): return direct(url, .cacheUnavailable(reason))
            case .closed: return direct(url, .cacheUnavailable("the cache was closed"))
            case .ready, .suspended: break
            }
            guard let address = AssetAddress.mediated(url) else { return direct(url, .unsupportedScheme) }
            do throws(CacheError) {
                let resource = try resource(for: url, headers: headers, key: key)
                let asset = AVURLAsset(url: address)
                let loader = AssetLoader(
                    resource: resource, url: url, headers: headers, clock: environment.queues, router: streamRouter)
                // At once: a delegate that is set after the asset has begun to load is not asked.
                asset.resourceLoader.setDelegate(loader, queue: loader.queue)
                return attach(RouteHolder(.loader(url), loader), to: asset)
            } catch {
                return direct(url, .cacheUnavailable(error.message))
            }
        }

        private func direct(_ url: URL, _ reason: DirectReason) -> AVURLAsset {
            attach(RouteHolder(.direct(url, reason)), to: AVURLAsset(url: url))
        }

        private func attach(_ holder: RouteHolder, to asset: AVURLAsset) -> AVURLAsset {
            Companion.attach(holder, to: asset.resourceLoader)
            return asset
        }
    }

    extension AVURLAsset {
        /// How this asset gets its bytes; `nil` where it was not made by `MediaCache.asset(for:)`. Copies that loopers and
        /// queues make have the same answer.
        public var cacheRoute: CacheRoute? { routeHolder?.route }

        /// Lets the asset's readers ask for nothing more, until `resumeCaching()` or the player's next request. For an
        /// item that is not current any more: a queue player sends no cancel when it moves on, and `cancelLoading()`
        /// would make the asset useless for ever. What has arrived is kept. Any thread.
        public func pauseCaching() { routeHolder?.loader?.setPaused(true) }

        /// Ends a pause. Any thread.
        public func resumeCaching() { routeHolder?.loader?.setPaused(false) }

        /// A plain asset of the URL the app asked for. For AirPlay of video: the receiver fetches the URL itself and
        /// reaches neither a resource loader nor a loopback address.
        public var originAsset: AVURLAsset { AVURLAsset(url: cacheRoute?.url ?? url) }

        var routeHolder: RouteHolder? { Companion.of(resourceLoader) }
    }

    /// What belongs to an asset of ours: its route, and the delegate, which the system does not hold.
    final class RouteHolder: Sendable {
        let route: CacheRoute
        let loader: AssetLoader?

        init(_ route: CacheRoute, _ loader: AssetLoader? = nil) {
            self.route = route
            self.loader = loader
        }
    }
#endif
