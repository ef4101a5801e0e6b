public import Foundation

/// Timed media. Not Sendable: make player items off the main actor from a value typed ``AVURLAsset``.
open class AVAsset: NSObject, NSCopying, AVAsynchronousKeyValueLoading, SimulatedAssociating {
    let simulatedAssociations = Guarded<[UInt: Any]>([:])
    var simulatedMedia: SimulatedMedia? { nil }

    /// A copy that shares the loader.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Ends all loading. The asset is dead afterwards.
    open func cancelLoading() {}
}

/// An asset of a URL; copies share one loader.
// @unchecked: immutable but for what is behind locks.
open class AVURLAsset: AVAsset, @unchecked Sendable {
    private let shared: SimulatedAssetCore
    /// The options it was made with, for tests.
    public let simulationOptions: [String: any Sendable]

    /// The asset of a URL; nothing is loaded yet.
    public init(url URL: URL, options: [String: Any]? = nil) {
        shared = SimulatedAssetCore(url: URL)
        simulationOptions = (options ?? [:]).mapValues { String(describing: $0) }
    }

    /// The asset of a URL; nothing is loaded yet.
    public convenience init(url: URL) { self.init(url: url, options: nil) }

    private init(sharing other: AVURLAsset) {
        shared = other.shared
        simulationOptions = other.simulationOptions
    }

    /// The URL it was made with.
    open var url: URL { shared.loader.url }
    /// What mediates its loading, the same one for all copies.
    open var resourceLoader: AVAssetResourceLoader { shared.loader }
    override var simulatedMedia: SimulatedMedia? { shared.media }

    /// A copy that shares the loader, but no associated objects.
    override open func copy(with zone: NSZone? = nil) -> Any { AVURLAsset(sharing: self) }

    /// Ends all loading, of the copies too: open requests are finished as cancelled by the user, the delegate hears
    /// nothing and is never asked again.
    override open func cancelLoading() { shared.loader.core.cancelEverything() }
}

/// What copies of an asset share; with the last of them all loading ends.
final class SimulatedAssetCore: Sendable {
    let loader: AVAssetResourceLoader
    let media: SimulatedMedia

    init(url: URL) {
        loader = AVAssetResourceLoader(url: url)
        media = SimulatedMedia(loader: loader)
    }

    deinit { loader.core.cancelEverything() }
}

/// Option: durations are exact, at a price.
public let AVURLAssetPreferPreciseDurationAndTimingKey = "AVURLAssetPreferPreciseDurationAndTimingKey"
/// Option: cookies of native loads.
public let AVURLAssetHTTPCookiesKey = "AVURLAssetHTTPCookiesKey"
/// Option: whether native loads may use the cellular network.
public let AVURLAssetAllowsCellularAccessKey = "AVURLAssetAllowsCellularAccessKey"
/// Option: whether native loads may use an expensive network.
public let AVURLAssetAllowsExpensiveNetworkAccessKey = "AVURLAssetAllowsExpensiveNetworkAccessKey"
/// Option: whether native loads may use a constrained network.
public let AVURLAssetAllowsConstrainedNetworkAccessKey = "AVURLAssetAllowsConstrainedNetworkAccessKey"
/// Option: the user agent of native loads.
public let AVURLAssetHTTPUserAgentKey = "AVURLAssetHTTPUserAgentKey"
/// Option: only this MIME type counts.
public let AVURLAssetOverrideMIMETypeKey = "AVURLAssetOverrideMIMETypeKey"
