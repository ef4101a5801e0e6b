public import RepriseHTTP
import RepriseRanges
public import RepriseStorage

extension MediaCache {
    /// How a cache decides.
    public struct Configuration: Sendable {
        /// When stored bytes may be used without asking the origin.
        public var freshness: FreshnessPolicy = .immutable
        /// Whether a redirect is followed; what it leads to is stored under the URL that was asked for, by what the last answer
        /// says. Where many share the cache it is not: readers are told of it (`CacheError.location`), and each goes there by
        /// itself.
        public var followsRedirects = true
        /// How sure to be that bytes fetched later belong to those stored.
        public var sameness = SamenessRules()
        /// How a URL becomes a key.
        public var keys: KeyPolicy = .unsigned
        /// Hosts that serve the same resources: one key, and the next is asked where one fails.
        public var hostGroups: [HostGroup] = []
        /// Origins that serve the same resources under the same paths: scheme, host, port and a path that is before every
        /// resource's; the preferred one first, which URLs name. Where one cannot be reached, takes more than 5 seconds to
        /// begin an answer or answers with 5xx, the next is asked, with the same fields. They should agree about `ETag` and
        /// `Last-Modified`: an answer with another validator begins anew. Fewer than two are none.
        public var mirrors: [OriginURL] = []
        /// Who is asked for a fresh URL where one ran out in the middle of playback; `nil` where a refusal stands.
        public var urlRefresher: URLRefresher?
        /// What fetching ahead may take.
        public var prefetching = PrefetchLimits()
        /// What seals the store; `nil` for a plain one. Looked at when the store is opened.
        public var seal: Seal?
        /// What transforms the bytes of a resource on their way from the store to whoever reads them, for media that the origin
        /// delivers encrypted; `nil`, from it or in its place, leaves them as they came.
        ///
        /// Asked with the resource's key and the URL it was asked for by, whenever somebody begins to read; on any thread, so
        /// it must be quick and must not call the cache. It must give the same for all URLs of a key. Another answer than
        /// before is for those who begin after it.
        public var contentTransform: (@Sendable (_ key: ResourceKey, _ url: OriginURL) -> (any ContentTransform)?)?
        /// Seconds an origin may take to begin an answer; one that takes longer counts as failed.
        public var originTimeout: Int {
            get { Int(clamping: tuning.headTimeout / TransferTuning.second) }
            set { tuning.headTimeout = Int64(max(newValue, 1)).multiplied(by: TransferTuning.second) }
        }
        /// Fields sent with every request to an origin, for example `User-Agent`.
        public var originFields: HTTPFields = [:]

        /// How much is kept.
        public var limits: StoreLimits = .device
        /// What goes first where a limit is reached.
        public var eviction: any EvictionPolicy = LeastRecentlyUsed()
        /// What is stored at all.
        public var admission: Admission = .all

        /// Bytes of a volume that is the store's alone.
        package var ownVolume: Int64?
        package var tuning = TransferTuning()

        /// The defaults, for an app.
        public init() {}

        /// The key of a URL: the policy's, for the host that stands for its group.
        package func key(for url: OriginURL) -> ResourceKey { keys.key(for: hostGroups.canonical(url)) }
    }
}
