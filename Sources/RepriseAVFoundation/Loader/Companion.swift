#if canImport(AVFoundation) && !os(watchOS)
    import AVFoundation

    #if canImport(ObjectiveC)
        import ObjectiveC
    #endif

    /// Keeps what belongs to an asset alive for as long as the asset's resource loader, which its copies share: queues
    /// and loopers copy items without the state of a subclass.
    enum Companion {
        // A value that is never changed and never given back: only its address counts.
        // nonisolated(unsafe): nobody reads or writes through it.
        nonisolated(unsafe) private static let key = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)

        static func attach(_ holder: RouteHolder, to owner: AVAssetResourceLoader) {
            unsafe objc_setAssociatedObject(owner, key, holder, .OBJC_ASSOCIATION_RETAIN)
        }

        static func of(_ owner: AVAssetResourceLoader) -> RouteHolder? {
            unsafe objc_getAssociatedObject(owner, key) as? RouteHolder
        }
    }
#endif
