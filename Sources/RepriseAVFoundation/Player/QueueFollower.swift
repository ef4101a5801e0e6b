#if canImport(AVFoundation) && !os(watchOS)
    public import AVFoundation

    /// Keeps the caching of a queue player's items in step with what is played, for an app that has its own AVQueuePlayer.
    ///
    /// A queue player sends no cancel when it moves on: requests of the item it has left stay open for as long as the item
    /// lives, and with them their transfers. This pauses the caching of an asset when its item is left, and resumes it when
    /// an item of it is current again, so that skipping back works; `cancelLoading()` would make the asset useless for
    /// ever. Assets that are not of this package are left alone, and so are those an enqueued item shares (a looper's
    /// copies).
    ///
    /// ```swift
    /// let player = AVQueuePlayer(items: items)
    /// let follower = QueueFollower(player)     // works as long as it is held
    /// ```
    ///
    /// It does not hold the player. `CachingPlayer` has one already.
    @MainActor
    public final class QueueFollower {
        private weak var player: AVQueuePlayer?
        private var current: AVURLAsset?
        private var observation: PlayerObservation?

        /// Begins to follow `player`.
        public init(_ player: AVQueuePlayer) {
            self.player = player
            observation = PlayerObservation(player) { [weak self] in self?.look() }
            look()
        }

        /// Looks at once, for whoever has just moved the player on.
        func look() {
            guard let player else { return current = nil }
            let asset = player.currentItem?.asset as? AVURLAsset
            guard asset?.resourceLoader !== current?.resourceLoader else { return }
            let left = current
            current = asset
            asset?.resumeCaching()
            guard let left else { return }
            let isAwaited = player.items().contains { item in
                (item.asset as? AVURLAsset)?.resourceLoader === left.resourceLoader
            }
            if !isAwaited { left.pauseCaching() }
        }
    }
#endif
