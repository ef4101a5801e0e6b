#if canImport(AVFoundation) && !os(watchOS)
    public import AVFoundation
    import Foundation
    public import Observation
    public import RepriseCore

    /// A player over AVQueuePlayer whose remote media goes through a cache: what was played once is not paid for again.
    ///
    /// ```swift
    /// let player = CachingPlayer(cache: cache)
    /// player.play(url)
    /// ```
    ///
    /// It plays remote URLs, files and bundle resources, one or a list, keeps the next one ready, starts with the first
    /// bytes, and goes on after a stall by a rule of its own: `automaticallyWaitsToMinimizeStalling` has to be off where a
    /// resource loader gives the media, and then nobody else does. Layers, view controllers, picture in picture and
    /// Now Playing stay the app's: give them `player`.
    ///
    /// Main actor only; nothing here waits for the network or the disk. All properties are observable. What somebody else
    /// does to `player` (a view controller that pauses, the system that plays the next item) is taken over.
    @MainActor
    @Observable
    public final class CachingPlayer {
        /// The cache that remote media goes through.
        public let cache: MediaCache
        /// How it was set up.
        public let configuration: Configuration
        /// The player of the system, for a layer or a view controller. Another one after the media services were reset:
        /// observe it. Its items and `actionAtItemEnd` are managed here.
        public internal(set) var player: AVQueuePlayer
        /// What it does.
        public internal(set) var state = PlaybackState.idle
        /// Seconds from the start of the current item; told at intervals while playing.
        public internal(set) var position: Double = 0
        /// Length of the current item in seconds; `nil` while it is not known, or has none.
        public internal(set) var duration: Double?
        /// What the player has loaded of the current item, in seconds.
        public internal(set) var loadedRanges: [Range<Double>] = []
        /// What the cache holds of the current item, in seconds. Bytes are mapped to time in proportion, so it is exact
        /// for constant bit rates only. Empty for what does not go through the cache's resource loader.
        public internal(set) var storedRanges: [Range<Double>] = []
        /// What the audio session refused, where the configuration asks for one.
        public internal(set) var audioSessionError: PlaybackError?

        var list = PlayQueue()
        private var chosenRate: Float = 1
        private var chosenVolume: Float = 1
        private var chosenMute = false
        private var choseLoop = false

        /// The items in the player, the current one first.
        @ObservationIgnored var items: [QueuedItem] = [] {
            didSet { for gone in oldValue where !items.contains(where: { $0 === gone }) { gone.takenOut() } }
        }
        /// By entry: items of one entry share the asset, and with it the loader.
        @ObservationIgnored var assets: [Int: AVURLAsset] = [:]
        @ObservationIgnored var prefetches: [Int: HeadPrefetch] = [:]
        /// Whether it should play, whether or not it can now.
        @ObservationIgnored var isWanted = false
        /// Whether it does not want to because somebody else has paused it, as it seemed.
        @ObservationIgnored var hasYielded = false
        @ObservationIgnored var stall: StallRule
        @ObservationIgnored var interruption = InterruptionRule()
        @ObservationIgnored var pendingSeek: PendingSeek?
        @ObservationIgnored var willLookAgain = false
        /// Whether assets are made of the origin's URL, for a receiver that fetches them itself.
        @ObservationIgnored var usesOrigin = false
        @ObservationIgnored let hub = EndHub()
        @ObservationIgnored private var playerWatch: [AnyObject] = []
        @ObservationIgnored private var sessionWatch: [NotificationObservation] = []
        @ObservationIgnored var follower: QueueFollower?
        @ObservationIgnored private let start = ContinuousClock.now

        /// A place to go to as soon as the item can.
        struct PendingSeek {
            let id = UUID()
            var seconds: Double
            var tolerance: Double
            var continuation: CheckedContinuation<Bool, Never>?
        }

        /// A player with nothing to play.
        public init(cache: MediaCache, configuration: Configuration = Configuration()) {
            self.cache = cache
            self.configuration = configuration
            stall = StallRule(
                bufferBeforeStarting: configuration.bufferBeforeStarting,
                bufferBeforeResuming: configuration.bufferBeforeResuming)
            player = AVQueuePlayer()
            attach()
            if configuration.followsInterruptions {
                sessionWatch = AudioSession.observe { [weak self] event in self?.handle(event) }
            }
        }

        /// Sets up a new player of the system, and watches it.
        func attach() {
            player.automaticallyWaitsToMinimizeStalling = false
            player.volume = chosenVolume
            player.isMuted = chosenMute
            player.defaultRate = chosenRate
            playerWatch = [
                PlayerObservation(player) { [weak self] in self?.refresh() },
                TimeObservation(player, every: configuration.progressInterval) { [weak self] in self?.refresh() },
            ]
            follower = QueueFollower(player)
        }

        /// Seconds of a steady clock.
        var now: Double { (ContinuousClock.now - start) / .seconds(1) }

        /// How fast it plays when it plays; 1 is as recorded. Values that are not above 0 are ignored: `pause()` pauses.
        public var rate: Float {
            get { chosenRate }
            set {
                guard newValue > 0, newValue.isFinite else { return }
                chosenRate = newValue
                player.defaultRate = newValue
                if isWanted, player.rate > 0 { player.rate = newValue }
            }
        }

        /// Somebody else has chosen a rate, a view controller's menu for example.
        func takeOver(rate: Float) {
            guard rate > 0, rate != chosenRate else { return }
            chosenRate = rate
            player.defaultRate = rate
        }

        /// Volume, 0 to 1, beside the system's.
        public var volume: Float {
            get { chosenVolume }
            set {
                chosenVolume = min(max(0, newValue), 1)
                player.volume = chosenVolume
            }
        }

        /// Whether it is silent.
        public var isMuted: Bool {
            get { chosenMute }
            set {
                chosenMute = newValue
                player.isMuted = newValue
            }
        }

        /// Whether the current item is played again and again; may change at any time.
        ///
        /// The next pass is a queued item of the same asset: as gapless as AVQueuePlayer, and from the cache. Not
        /// AVPlayerLooper: that takes the whole queue over, loads three copies, and raises an exception where the duration
        /// is not known.
        public var isLooping: Bool {
            get { choseLoop }
            set {
                guard choseLoop != newValue else { return }
                followCurrentItem()
                choseLoop = newValue
                topUp()
            }
        }

        /// Everything in the list, what has been played included.
        public var queue: [PlaybackSource] { list.entries.map(\.source) }

        /// Which one of `queue` is the current one.
        public var currentIndex: Int? { list.index }

        /// How items come to their ends, from now on. Any number of sequences; one that nobody pulls keeps the last 64.
        public func ends() -> AsyncStream<PlaybackEnd> { hub.stream() }
    }
#endif
