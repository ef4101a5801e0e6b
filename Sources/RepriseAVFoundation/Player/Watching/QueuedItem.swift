#if canImport(AVFoundation) && !os(watchOS)
    import AVFoundation
    import Foundation

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

        @MainActor
        private final class Box {
            weak var queued: QueuedItem?
        }
    }
#endif
