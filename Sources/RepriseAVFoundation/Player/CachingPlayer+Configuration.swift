#if canImport(AVFoundation) && !os(watchOS)
    extension CachingPlayer {
        /// How a player is set up.
        public struct Configuration: Sendable, Hashable {
            /// Seconds of media to be loaded before the first start, at rate 1; at most 30. 0: with the first bytes.
            public var bufferBeforeStarting: Double = 0
            /// Seconds of media to be loaded before going on after a stall, at rate 1; at most 30. Less where the end is
            /// nearer, the system will load no more, or nothing more has come for five seconds.
            public var bufferBeforeResuming: Double = 3
            /// How many items after the current one the player loads the beginning of. The system does that itself for
            /// what is enqueued; 0 leaves a gap between items.
            public var itemsAhead = 1
            /// How many bytes of the next item are brought into the cache once the current one keeps up, behind everything
            /// that is played. 0: only what the system asks for.
            public var prefetchBytes: Int64 = 0
            /// Seconds between two updates of the progress while playing.
            public var progressInterval: Double = 0.25
            /// AirPlay of video, and the like.
            public var externalPlayback = ExternalPlayback.off
            /// Whether the app's audio session is set up.
            public var audioSession = AudioSessionUse.untouched
            /// Whether to pause and resume with interruptions, to pause when headphones go, and to make the player anew
            /// when the media services were reset. Listening only: it does not touch the session.
            public var followsInterruptions = true

            /// The defaults.
            public init() {}
        }

        /// What happens to AirPlay of video. The receiver fetches the URL itself, and reaches neither a resource loader nor
        /// a loopback address. Sound by AirPlay is not concerned: it comes from this device.
        public enum ExternalPlayback: Sendable, Hashable {
            /// Off while the current item goes through the cache; on for others. Mirroring and sound still work.
            case off
            /// On; when it begins, the current item is replaced by one of its origin's URL, at the same place. It is not
            /// cached, and `headers` of the source are not sent. Later items go through the cache again once it is over.
            case swapToOrigin
        }

        /// What is done to the app's audio session. There is none on macOS.
        public enum AudioSessionUse: Sendable, Hashable {
            /// Nothing: it is the app's.
            case untouched
            /// The category `playback` is set and the session activated when something is played, and given back by
            /// `stop()`.
            case playback
        }
    }
#endif
