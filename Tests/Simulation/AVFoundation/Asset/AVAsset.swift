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
    private let media: SimulatedMedia

    /// The asset of a URL; nothing is loaded yet. The options are without effect here.
    public init(url URL: URL, options: [String: Any]? = nil) { media = SimulatedMedia(url: URL) }

    /// The asset of a URL; nothing is loaded yet.
    public convenience init(url: URL) { self.init(url: url, options: nil) }

    private init(sharing other: AVURLAsset) { media = other.media }

    /// The URL it was made with.
    open var url: URL { media.loader.url }
    /// What mediates its loading, the same one for all copies.
    open var resourceLoader: AVAssetResourceLoader { media.loader }
    override var simulatedMedia: SimulatedMedia? { media }

    /// A copy that shares the loader, but no associated objects.
    override open func copy(with zone: NSZone? = nil) -> Any { AVURLAsset(sharing: self) }

    /// Ends all loading, of the copies too: open requests are finished as cancelled by the user, the delegate hears
    /// nothing and is never asked again.
    override open func cancelLoading() { media.loader.core.cancelEverything() }
}
