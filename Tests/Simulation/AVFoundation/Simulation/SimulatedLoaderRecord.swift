public import Foundation

/// Content information as it was filled in.
public struct SimulatedInformation: Sendable, Equatable {
    /// A uniform type identifier.
    public var contentType: String?
    /// The length of the whole resource in bytes.
    public var contentLength: Int64 = 0
    /// Whether any range can be asked for.
    public var isByteRangeAccessSupported = false
    /// When this must be asked again.
    public var renewalDate: Date?
    /// Whether every byte is at hand without delay.
    public var isEntireLengthAvailableOnDemand = false
}

/// An Objective-C exception that Apple's code would have thrown: a crash, in Swift.
public struct SimulatedTrap: Sendable, Equatable {
    /// The exception's name.
    public let name: String
    /// Why.
    public let reason: String
}

/// What one loader asked for and what it got, at one moment.
public struct SimulatedLoaderRecord: Sendable {
    /// One request.
    public struct Request: Sendable {
        /// Counts from 1 in the order of asking.
        public internal(set) var identifier = 0
        /// What for.
        public let kind: SimulatedRequest.Kind
        /// The first byte asked for.
        public let offset: Int64
        /// How many bytes were asked for.
        public internal(set) var length = Int.max
        /// Whether the range reaches the end.
        public internal(set) var isToEnd = false
        /// Whether content information was asked for.
        public internal(set) var asksInformation = false
        /// The content information as it was sent, or nil if none was.
        public internal(set) var information: SimulatedInformation?
        /// Where the next bytes go.
        public internal(set) var currentOffset: Int64
        /// Bytes that reached the player.
        public internal(set) var received: Int64 = 0
        /// The largest respond that reached the player, in bytes.
        public internal(set) var largestRespond = 0
        /// Responds without a byte; they do nothing at all.
        public internal(set) var emptyResponds = 0
        /// Responds after the end; the player sees nothing of them.
        public internal(set) var lateResponds = 0
        /// How often the delegate finished it; more than once is a line on the console.
        public internal(set) var finishes = 0
        /// Whether it was finished.
        public internal(set) var isFinished = false
        /// Whether the player cancelled it.
        public internal(set) var isCancelled = false
        /// Whether the delegate was told of the cancel.
        public internal(set) var cancelWasDelivered = false
        /// What the delegate's method returned; nil before it did.
        public internal(set) var answer: Bool?
        /// How it ended; nil while it is open.
        public internal(set) var outcome: SimulatedOutcome?
        /// Taken over, but not kept: it is dead and the player hangs.
        public internal(set) var isAbandoned = false

        init(kind: SimulatedRequest.Kind, offset: Int64) {
            self.kind = kind
            self.offset = offset
            currentOffset = offset
        }

        /// The error it ended with, if any.
        public var error: NSError? {
            if case .failed(let error) = outcome { return error }
            return nil
        }
        /// Bytes given beyond what was asked for.
        public var excess: Int64 { max(0, received - Int64(length)) }
    }

    /// Every request, in the order of asking.
    public let requests: [Request]
    /// Where Apple would have thrown, in order.
    public let traps: [SimulatedTrap]
    /// How many loads went past the delegate.
    public let nativeLoads: Int
    /// Bytes that were given and not consumed yet.
    public let retainedBytes: Int64

    /// The requests that have not ended.
    public var open: [Request] { requests.filter { $0.outcome == nil } }
}

/// How a request ended for the player.
public enum SimulatedOutcome: Sendable, Equatable {
    /// The delegate finished it; the bytes received are all there is of it.
    case finished
    /// It failed, with the error a player sees.
    case failed(NSError)
    /// The player cancelled it.
    case cancelled
    /// The player goes on with this URL by itself.
    case redirected(URL)
    /// The system loads the URL itself; the delegate was not asked, or left it.
    case native
}
