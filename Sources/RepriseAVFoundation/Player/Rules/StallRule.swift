#if canImport(AVFoundation) && !os(watchOS)
    /// When to start, and when to go on after a stall. Decisions only: no clock, no player.
    ///
    /// With `automaticallyWaitsToMinimizeStalling` off, as it has to be where a resource loader gives the media, a player
    /// starts with the first bytes, and a stall sets its rate to 0 for good. What is not started again by somebody stays
    /// silent; what is started again at once stutters.
    ///
    ///     starting --plays--> playing --empty--> stalled --enough loaded--> resume --plays--> playing
    ///                            +--rate 0 with plenty loaded--> paused by others (a view controller, the system)
    struct StallRule {
        /// The player and its item at a moment. Times in seconds of the item.
        struct Situation {
            /// The rate that is wanted; 0 for a pause.
            var wantedRate: Float = 1
            /// The rate the player has.
            var rate: Float = 0
            /// Whether media is moving.
            var isPlaying = false
            /// Whether the item can be played.
            var isReady = true
            /// Whether the system has reported a stall since media moved last.
            var isStallReported = false
            var isBufferEmpty = false
            /// Whether the system will load no more for now.
            var isBufferFull = false
            var position: Double = 0
            var duration: Double?
            var loaded: [Range<Double>] = []
            /// Seconds of a steady clock.
            var now: Double = 0

            /// Seconds loaded from the position on. A seek may leave the position just before what was loaded for it.
            var loadedAhead: Double {
                let slack = 0.1
                let found = loaded.last { $0.lowerBound <= position + slack && $0.upperBound > position }
                return found.map { $0.upperBound - position } ?? 0
            }

            /// Whether everything from the position to the end is loaded.
            var isLoadedToEnd: Bool {
                guard let duration, duration > 0 else { return false }
                return position + loadedAhead >= duration - 0.1
            }

            /// Whether there is nothing left to play.
            var isAtEnd: Bool { duration.map { $0 > 0 && position >= $0 - 0.1 } ?? false }
        }

        enum Decision: Equatable {
            /// Media moves.
            case play
            /// Set the wanted rate now.
            case start
            /// Media is awaited.
            case wait
            /// Leave things as they are.
            case rest
            /// Somebody else has paused the player: that is what is wanted from now on.
            case yield
            /// Somebody else has started the player, at this rate.
            case adopt(Float)
        }

        /// Seconds of media to be loaded before the first start, at rate 1.
        let bufferBeforeStarting: Double
        /// Seconds of media to be loaded before going on after a stall, at rate 1.
        let bufferBeforeResuming: Double
        /// Where so many seconds bring nothing more, what there is is played: a system that has given up loading says so only
        /// when it gets there. A guess.
        let patience: Double
        /// Whether media of this item has moved.
        private(set) var hasStarted = false
        /// Whether it stopped for want of media.
        private(set) var isStalled = false
        /// Where the last attempt to start was made and how much was loaded then: where the player refused, a new attempt
        /// needs more.
        private var attempt: (position: Double, loaded: Double)?
        /// How far it is loaded while waiting, and since when no further.
        private var waiting: (end: Double, since: Double)?

        /// More than this is not waited for, in seconds: the system may never buffer it. A guess that wants a device.
        static let longestBuffer: Double = 30
        /// A player that has this much loaded, in seconds, did not stop for want of media.
        static let plenty: Double = 0.5
        /// What a new attempt needs more than the last one, in seconds.
        static let progress: Double = 0.25

        init(bufferBeforeStarting: Double = 0, bufferBeforeResuming: Double = 3, patience: Double = 5) {
            self.bufferBeforeStarting = min(max(0, bufferBeforeStarting), Self.longestBuffer)
            self.bufferBeforeResuming = min(max(0, bufferBeforeResuming), Self.longestBuffer)
            self.patience = patience
        }

        /// Another item is played, or another place of it.
        mutating func begin() {
            hasStarted = false
            isStalled = false
            attempt = nil
            waiting = nil
        }

        /// The person listening wants it to play now, whatever was waited for.
        mutating func insist() { attempt = nil }

        /// What follows from `now`.
        mutating func decide(_ now: Situation) -> Decision {
            if now.rate > 0 {
                guard now.isPlaying || now.wantedRate == 0 else { return .wait }
                hasStarted = true
                isStalled = false
                attempt = nil
                waiting = nil
                return now.wantedRate > 0 ? .play : .adopt(now.rate)
            }
            guard now.wantedRate > 0 else { return .rest }
            guard now.isReady else { return .wait }
            if hasStarted, !isStalled {
                if now.isAtEnd { return .rest }
                guard isWant(now) else { return .yield }
                isStalled = true
            }
            let end = now.position + now.loadedAhead
            if waiting?.end != end { waiting = (end, now.now) }
            guard isEnough(now) else { return .wait }
            attempt = (now.position, now.loadedAhead)
            return .start
        }

        private func isWant(_ now: Situation) -> Bool {
            now.isStallReported || now.isBufferEmpty || now.loadedAhead < Self.plenty * Double(now.wantedRate)
        }

        private func isEnough(_ now: Situation) -> Bool {
            let ahead = now.loadedAhead
            guard ahead > 0 else { return false }
            if let attempt, attempt.position == now.position, ahead < attempt.loaded + Self.progress { return false }
            if now.isLoadedToEnd || now.isBufferFull { return true }
            if let waiting, now.now - waiting.since >= patience { return true }
            let seconds = isStalled ? bufferBeforeResuming : bufferBeforeStarting
            return ahead >= seconds * Double(now.wantedRate)
        }
    }
#endif
