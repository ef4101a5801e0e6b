#if canImport(AVFoundation) && !os(watchOS)
    /// What is done when the system takes the sound away and gives it back. Decisions only: no clock, no session.
    ///
    /// The system has paused the player by the time it says so. So a pause that nobody of ours asked for, just before,
    /// counts as the system's.
    struct InterruptionRule {
        enum Event: Equatable, Sendable {
            /// A call, an alarm, another app.
            case began
            /// It is over; the system says whether to go on by itself.
            case ended(shouldResume: Bool)
            /// Headphones were pulled out, or the like.
            case outputLost
            /// The system's media process ended: players and items are dead.
            case servicesLost
            /// It is there again: everything has to be made anew.
            case servicesReset
        }

        enum Action: Equatable {
            case nothing
            case pause
            case resume
            /// Make player and items anew, at the same place.
            case rebuild(resume: Bool)
        }

        /// A pause by others within so many seconds before an interruption belongs to it. A guess: the two come from
        /// different threads.
        static let kinship: Double = 2

        private enum State {
            case idle
            /// The system has the sound; whether to go on when it gives it back. It need not say so: "there is no guarantee that
            /// a begin interruption will have an end interruption" (AVAudioSession).
            case interrupted(willResume: Bool)
        }

        private var state = State.idle
        private var wasPlayingWhenLost: Bool?
        private var pausedByOthers: Double?

        /// The app, or the person, has paused or started: an earlier promise to go on is void, and the interruption is over.
        mutating func decidedByApp() {
            state = .idle
            wasPlayingWhenLost = nil
            pausedByOthers = nil
        }

        /// A view controller, for example, has started the player: the sound is back.
        mutating func startedByOthers() { state = .idle }

        /// The player stopped, and nobody of ours asked for it. `now` in seconds of a steady clock.
        mutating func pausedByOthers(at now: Double) { pausedByOthers = now }

        /// What looked like a pause by others was none.
        mutating func wasStall() { pausedByOthers = nil }

        /// What follows from `event`; `isWanted` where playback was wanted until now.
        mutating func decide(_ event: Event, isWanted: Bool, now: Double) -> Action {
            let wasPlaying = isWanted || pausedByOthers.map { now - $0 <= Self.kinship } ?? false
            switch event {
            case .began:
                let willResume = if case .interrupted(let willResume) = state { willResume } else { false }
                state = .interrupted(willResume: willResume || wasPlaying)
                pausedByOthers = nil
                return wasPlaying ? .pause : .nothing
            case .ended(let shouldResume):
                defer { state = .idle }
                guard case .interrupted(willResume: true) = state, shouldResume else { return .nothing }
                return .resume
            case .outputLost:
                // What was heard privately is not to be heard by the room, however the interruption ends.
                if case .interrupted = state { state = .interrupted(willResume: false) }
                pausedByOthers = nil
                return isWanted ? .pause : .nothing
            case .servicesLost:
                wasPlayingWhenLost = (wasPlayingWhenLost ?? false) || wasPlaying
                return .nothing
            case .servicesReset:
                defer {
                    wasPlayingWhenLost = nil
                    pausedByOthers = nil
                }
                if case .interrupted = state { return .rebuild(resume: false) }
                return .rebuild(resume: wasPlaying || wasPlayingWhenLost == true)
            }
        }
    }
#endif
