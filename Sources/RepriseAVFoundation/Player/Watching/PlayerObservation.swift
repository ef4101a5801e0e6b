#if canImport(AVFoundation) && !os(watchOS)
    import AVFoundation
    import Foundation

    #if canImport(CoreMedia)
        import CoreMedia
    #endif

    /// Tells when something of a player or of an item has changed, for as long as it is held. It says neither what nor
    /// how: whoever is told looks at everything anew, so that order and number of calls do not matter.
    ///
    /// Changes may come on any thread; `onChange` is called on the main actor, a turn later.
    @MainActor
    final class PlayerObservation {
        #if canImport(ObjectiveC)
            private let tokens: [NSKeyValueObservation]

            init(_ player: AVPlayer, onChange: @escaping @MainActor @Sendable () -> Void) {
                tokens = [
                    player.observe(\.currentItem) { @Sendable _, _ in Self.hop(onChange) },
                    player.observe(\.rate) { @Sendable _, _ in Self.hop(onChange) },
                    player.observe(\.timeControlStatus) { @Sendable _, _ in Self.hop(onChange) },
                    player.observe(\.status) { @Sendable _, _ in Self.hop(onChange) },
                    player.observe(\.isExternalPlaybackActive) { @Sendable _, _ in Self.hop(onChange) },
                ]
            }

            init(_ item: AVPlayerItem, onChange: @escaping @MainActor @Sendable () -> Void) {
                tokens = [
                    item.observe(\.status) { @Sendable _, _ in Self.hop(onChange) },
                    item.observe(\.duration) { @Sendable _, _ in Self.hop(onChange) },
                    item.observe(\.loadedTimeRanges) { @Sendable _, _ in Self.hop(onChange) },
                    item.observe(\.isPlaybackLikelyToKeepUp) { @Sendable _, _ in Self.hop(onChange) },
                    item.observe(\.isPlaybackBufferEmpty) { @Sendable _, _ in Self.hop(onChange) },
                    item.observe(\.isPlaybackBufferFull) { @Sendable _, _ in Self.hop(onChange) },
                ]
            }
        #else
            private let token: SimulatedObservation

            init(_ player: AVPlayer, onChange: @escaping @MainActor @Sendable () -> Void) {
                token = player.simulatedObservation { @Sendable _ in Self.hop(onChange) }
            }

            init(_ item: AVPlayerItem, onChange: @escaping @MainActor @Sendable () -> Void) {
                token = item.simulatedObservation { @Sendable _ in Self.hop(onChange) }
            }
        #endif

        private nonisolated static func hop(_ onChange: @escaping @MainActor @Sendable () -> Void) {
            Task { @MainActor in onChange() }
        }
    }

    /// A notification that is listened to for as long as this is held. The block is called on whatever thread posts.
    final class NotificationObservation {
        private let token: any NSObjectProtocol

        init(
            _ name: Notification.Name, of object: (any Sendable)?, _ block: @escaping @Sendable (Notification) -> Void
        ) {
            token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil, using: block)
        }

        deinit { NotificationCenter.default.removeObserver(token) }
    }

    /// The progress of a player, told at intervals while it plays and when time jumps, for as long as this is held.
    final class TimeObservation {
        private let player: AVPlayer
        private let token: Any

        init(_ player: AVPlayer, every seconds: Double, onTick: @escaping @MainActor @Sendable () -> Void) {
            self.player = player
            let interval = CMTime(seconds: max(0.01, seconds), preferredTimescale: 1000)
            token = player.addPeriodicTimeObserver(forInterval: interval, queue: nil) { @Sendable _ in
                Task { @MainActor in onTick() }
            }
        }

        // A player that is let go with an observer still there raises an exception on some systems.
        deinit { player.removeTimeObserver(token) }
    }
#endif
