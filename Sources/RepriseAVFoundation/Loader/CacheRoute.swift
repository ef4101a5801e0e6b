#if canImport(AVFoundation) && !os(watchOS)
    public import Foundation

    /// How an asset of ours gets its bytes. The URL is the one the app asked for.
    public enum CacheRoute: Sendable, Hashable {
        /// Through the cache, by the asset's resource loader.
        case loader(URL)
        /// Through the cache, by the loopback server.
        case proxy(URL)
        /// Not through the cache.
        case direct(URL, DirectReason)

        /// What the app asked for.
        public var url: URL {
            switch self {
            case .loader(let url), .proxy(let url), .direct(let url, _): url
            }
        }
    }

    /// Why an asset is played from its plain URL.
    public enum DirectReason: Sendable, Hashable {
        /// It is a file already; AVFoundation never asks a resource loader for one.
        case file
        /// HLS or DASH, and no server to route it through: AVFoundation takes media segments by HTTP only
        /// (CoreMediaErrorDomain -12881 otherwise). Start the proxy.
        case stream
        /// Media under digital rights management belongs to AVContentKeySession and its downloads.
        case protectedContent
        /// Neither http nor https.
        case unsupportedScheme
        /// The cache cannot be used now, and why.
        case cacheUnavailable(String)
    }
#endif
