import ReprisePlatform

/// A request's body that comes while it is sent: its sender gives pieces as it has them, the client that sends the request asks
/// for one after the other. Safe to use from any thread.
public final class OriginUpload: Sendable {
    /// What is told for each demand.
    public enum Piece: Sendable, Hashable {
        /// The next bytes, at least one.
        case bytes([UInt8])
        /// The body is whole.
        case end
        /// Its sender has left: the request is to fail, so that its origin does not take the beginning for the whole.
        case broken
    }

    /// How far its sender is. Held are the bytes that were not asked for yet.
    private enum Phase {
        case coming(held: [UInt8])
        case whole(held: [UInt8])
        /// Nothing more of it is wanted: what asks for more is told nothing, until the body breaks off.
        case dropped
        case broken

        var holdsBytes: Bool {
            switch self {
            case .coming(let held), .whole(let held): !held.isEmpty
            case .dropped, .broken: false
            }
        }
    }

    private struct State {
        var phase = Phase.coming(held: [])
        var hasBegun = false
        var taker: (@Sendable (Piece) -> Void)?

        /// What can be told now, and whom.
        mutating func due() -> (Piece, @Sendable (Piece) -> Void)? {
            guard let taker, let piece = takePiece() else { return nil }
            self.taker = nil
            return (piece, taker)
        }

        private mutating func takePiece() -> Piece? {
            switch phase {
            case .coming(let held) where !held.isEmpty:
                phase = .coming(held: [])
                return .bytes(held)
            case .whole(let held) where !held.isEmpty:
                phase = .whole(held: [])
                return .bytes(held)
            case .whole: return .end
            case .broken: return .broken
            case .coming, .dropped: return nil
            }
        }
    }

    /// Bytes in all; `nil` where only its end tells.
    public let length: Int64?
    private let state: Lock<State>
    private let onDemand: @Sendable () -> Void

    /// - Parameters:
    ///   - length: Bytes in all; `nil` where that is not known.
    ///   - onDemand: Called whenever a piece is asked for that is not there; on any thread, it must be quick.
    package init(length: Int64?, onDemand: @escaping @Sendable () -> Void) {
        self.length = length
        self.onDemand = onDemand
        state = Lock(State())
    }

    /// Asks for the next piece. To be called again only when it was told.
    /// - Parameter take: Told once, on any thread, also before this returns.
    public func next(_ take: @escaping @Sendable (Piece) -> Void) {
        let (due, isSecond) = state.withLock { state in
            if state.taker != nil { return ((Piece, @Sendable (Piece) -> Void)?.none, true) }
            state.hasBegun = true
            state.taker = take
            return (state.due(), false)
        }
        // Two that ask for one body would each have a part of it.
        if isSecond { return take(.broken) }
        if let (piece, take) = due { take(piece) } else { onDemand() }
    }

    /// Whether a piece was ever asked for: a body is there only once.
    package var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// Whether bytes wait to be asked for.
    package var holdsBytes: Bool { state.withLock { $0.phase.holdsBytes } }

    /// Gives further bytes; they are dropped where none are wanted any more.
    package func append(_ bytes: some Collection<UInt8>) {
        change { state in
            guard case .coming(var held) = state.phase else { return }
            state.phase = .dropped
            held += bytes
            state.phase = .coming(held: held)
        }
    }

    /// Its origin wants no more of it: what comes is not held, and the rest, whose middle is missing, never told as the end.
    package func drop() { change { if case .coming = $0.phase { $0.phase = .dropped } } }

    /// All bytes were given, as many as were announced.
    package func end() { change { if case .coming(let held) = $0.phase { $0.phase = .whole(held: held) } } }

    /// No more bytes come, though some are missing.
    package func fail() {
        change { state in
            switch state.phase {
            case .coming, .dropped: state.phase = .broken
            case .whole, .broken: break
            }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let due = state.withLock { state in
            body(&state)
            return state.due()
        }
        if let (piece, take) = due { take(piece) }
    }
}

extension OriginUpload: Hashable {
    /// Whether both are one body.
    public static func == (one: OriginUpload, other: OriginUpload) -> Bool { one === other }

    /// Feeds which body it is.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
