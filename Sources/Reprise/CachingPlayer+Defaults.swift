#if canImport(AVFoundation) && !os(watchOS) && !os(Linux)
    public import RepriseAVFoundation
    import RepriseCore

    extension CachingPlayer {
        /// A player with nothing to play, over `MediaCache.shared`.
        public convenience init(configuration: Configuration = Configuration()) {
            self.init(cache: .shared, configuration: configuration)
        }
    }
#endif
