import ReprisePlatform

/// A request's body that comes while it is sent: its sender gives pieces as it has them, the client that sends the request asks for
/// one after the other. Safe to use from any thread.
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

    private enum End { case end, broken }

    private struct State {
        var held: [UInt8] = []
        var end: End?
        var hasBegun = false
        var isUnwanted = false
        var taker: (@Sendable (Piece) -> Void)?

        /// What can be told now, and whom.
        mutating func due() -> (Piece, @Sendable (Piece) -> Void)? {
            guard let taker else { return nil }
            let piece: Piece
            switch end {
            // Who asks for more of what is broken is told at once.
            case .broken: piece = .broken
            case .end where held.isEmpty: piece = .end
            case .end, nil:
                if held.isEmpty { return nil }
                piece = .bytes(held)
                held = []
            }
            self.taker = nil
            return (piece, taker)
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
    package var holdsBytes: Bool { state.withLock { !$0.held.isEmpty } }

    /// Gives further bytes; they are dropped where none are wanted any more.
    package func append(_ bytes: some Collection<UInt8>) {
        change { if $0.end == nil, !$0.isUnwanted { $0.held += bytes } }
    }

    /// Nothing more of it is asked for: what comes need not be held.
    package func drop() {
        change { state in
            state.isUnwanted = true
            state.held = []
        }
    }

    /// All bytes were given, as many as were announced.
    package func end() { change { if $0.end == nil { $0.end = .end } } }

    /// No more bytes come, though some are missing.
    package func fail() {
        change { state in
            guard state.end == nil else { return }
            state.end = .broken
            state.held = []
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
