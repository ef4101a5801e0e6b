#if canImport(AVFoundation) && !os(watchOS)
    public import Foundation

    /// What a player does.
    public enum PlaybackState: Sendable, Hashable {
        /// There is nothing to play.
        case idle
        /// Wanted to play; the first media of the item is on its way.
        case loading
        /// Media moves.
        case playing
        /// Not wanted to play.
        case paused
        /// Wanted to play; media ran out, and goes on when enough is loaded.
        case stalled
        /// The last item has ended. `resume()` plays it again, or what has been added since.
        case ended
        /// The item cannot be played. `resume()` tries it again from where it was.
        case failed(PlaybackError)
    }

    /// How the playing of an item came to its end.
    public struct PlaybackEnd: Sendable, Hashable {
        /// Why it ended.
        public enum Reason: Sendable, Hashable {
            /// It was played to its end. Passes of a loop do not count.
            case finished
            /// It was left before its end: by `next()`, `previous()`, `play()` or `stop()`.
            case left
            /// It cannot be played, or not to its end.
            case failed(PlaybackError)
        }

        /// What was played.
        public let source: PlaybackSource
        /// Why it ended.
        public let reason: Reason
    }

    /// Why something cannot be played.
    public struct PlaybackError: Error, Sendable, Hashable, CustomStringConvertible {
        /// What kind of trouble it is.
        public enum Code: Sendable, Hashable {
            /// The bundle has no such resource.
            case missingResource
            /// The system could not load or decode the media; `cause` has its error.
            case media
            /// The system's media process ended. The player is made anew when it is back.
            case mediaServicesReset
            /// The audio session refused its category or its activation.
            case audioSession
        }

        /// The kind.
        public let code: Code
        /// What happened, for a person.
        public let message: String
        /// The system's error, flat: errors of the cache have the domain NSURLErrorDomain.
        public let cause: NSError?

        init(_ code: Code, _ message: String, cause: NSError? = nil) {
            self.code = code
            self.message = message
            self.cause = cause
        }

        /// What an item or a notification says.
        init(_ error: (any Error)?) {
            let cause = error.map { $0 as NSError }
            let isReset = cause?.domain == "AVFoundationErrorDomain" && cause?.code == -11_819
            self.init(
                isReset ? .mediaServicesReset : .media, cause?.localizedDescription ?? "the media cannot be played",
                cause: cause)
        }

        /// The message.
        public var description: String { message }
    }
#endif
