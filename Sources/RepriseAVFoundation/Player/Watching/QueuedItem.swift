#if canImport(AVFoundation) && !os(watchOS)
    import AVFoundation
    import Foundation

    #if canImport(CoreMedia)
        import CoreMedia
    #endif

    /// An item of ours in a player, and what it tells.
    @MainActor
    final class QueuedItem {
        enum Report: Sendable {
            /// Look at it anew.
            case changed
            /// Media ran out.
            case stalled
            case playedToEnd
            case failedToPlayToEnd(PlaybackError)
        }

        let entry: PlayQueue.Entry
        let asset: AVURLAsset
        let item: AVPlayerItem
        /// Whether its end has been told.
        var isOver = false
        /// Whether the system has reported a stall since media moved last.
        var isStallReported = false
        /// Who is told of a seek's end, by its number.
        private var seeks: [Int: @MainActor (Bool) -> Void] = [:]
        private var lastSeek = 0
        private var isTakenOut = false
        private let changes: PlayerObservation
        private let notices: [NotificationObservation]

        /// Tells `onReport` what happens from now on, a turn of the main actor later.
        init(
            _ entry: PlayQueue.Entry, _ asset: AVURLAsset,
            onReport: @escaping @MainActor @Sendable (QueuedItem, Report) -> Void
        ) {
            self.entry = entry
            self.asset = asset
            let item = AVPlayerItem(asset: asset)
            self.item = item
            // The item is named by the notices, not held: it ends with this object.
            let box = Box()
            let tell: @Sendable (Report) -> Void = { report in
                Task { @MainActor in if let queued = box.queued { onReport(queued, report) } }
            }
            changes = PlayerObservation(item) { if let queued = box.queued { onReport(queued, .changed) } }
            notices = [
                NotificationObservation(AVPlayerItem.playbackStalledNotification, of: item) { _ in tell(.stalled) },
                NotificationObservation(AVPlayerItem.didPlayToEndTimeNotification, of: item) { _ in tell(.playedToEnd)
                },
                NotificationObservation(AVPlayerItem.failedToPlayToEndTimeNotification, of: item) { notification in
                    let error = notification.userInfo?[AVPlayerItemFailedToPlayToEndTimeErrorKey] as? any Error
                    tell(.failedToPlayToEnd(PlaybackError(error)))
                },
            ]
            box.queued = self
        }

        /// Whether a seek is under way.
        var isSeeking: Bool { !seeks.isEmpty }

        /// Moves to `seconds`, or as near as `tolerance` allows; tells, a turn later at the earliest, whether it is there: not where
        /// another seek came first, or the item failed or was taken out of the player meanwhile.
        func seek(to seconds: Double, tolerance: Double, then tell: @escaping @MainActor (Bool) -> Void) {
            lastSeek += 1
            let id = lastSeek
            seeks[id] = tell
            guard !isTakenOut else { return endSeeks() }
            let room = CMTime(seconds: max(0, tolerance), preferredTimescale: 1000)
            item.seek(
                to: CMTime(seconds: seconds, preferredTimescale: 90_000), toleranceBefore: room, toleranceAfter: room,
                completionHandler: { @Sendable [weak self] isThere in
                    Task { @MainActor in self?.seeks.removeValue(forKey: id)?(isThere) }
                })
        }

        /// Answers all seeks: of an item that has failed, or is not played any more, the system need not tell.
        func endSeeks() {
            let ended = seeks
            seeks = [:]
            for tell in ended.values { Task { tell(false) } }
        }

        /// It is not in the player any more; its media process may have ended.
        func takenOut() {
            isTakenOut = true
            endSeeks()
        }

        @MainActor
        private final class Box {
            weak var queued: QueuedItem?
        }
    }
#endif
