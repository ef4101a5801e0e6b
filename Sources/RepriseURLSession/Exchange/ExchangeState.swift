package import RepriseCore
package import RepriseHTTP
import RepriseRanges

/// What has come of an exchange and what of it may be handed on: the order of events and the demand. No I/O.
///
/// Inputs are the session's callbacks and the engine's demands; `next` says what is due. After a failure or a cancel
/// nothing is due any more.
package struct ExchangeState: Sendable {
    /// What is due.
    package enum Step: Sendable {
        case event(OriginEvent)
        /// The next part is wanted: somebody waits for its first byte.
        case ask
        case nothing
    }

    /// Past so many bytes that nobody has asked for the task is suspended where it can be, and below so many it goes on.
    /// (A guess: a few round trips' worth, well under the engine's own window of 1 MiB.)
    package static let highWater = 256 * 1024
    package static let lowWater = 64 * 1024
    /// Most bytes of one piece.
    package static let pieceLimit = 256 * 1024

    private enum Body {
        case coming, partEnded, ended(isDelimited: Bool), failed(OriginFailure)
    }

    private var parts: RangedParts
    private var head: OriginResponseHead?
    private var pieces: [ArraySlice<UInt8>] = []
    private var demands = 0
    private var body = Body.coming
    private var hasHead = false
    private var isDelimited = false
    private var isOver = false

    /// Bytes that have come and were not handed on.
    package private(set) var waiting = 0

    package init(_ parts: RangedParts) { self.parts = parts }

    /// The fields of the request to send now.
    package var fields: HTTPFields { parts.fields }

    /// Whether there is no more to come for the engine.
    package var isFinished: Bool { isOver }

    // MARK: From the session

    /// The head of an answer came.
    package mutating func received(_ head: OriginResponseHead) throws(OriginFailure) {
        guard !isOver, case .coming = body, let head = try parts.received(head) else { return }
        self.head = head
        hasHead = true
        let hasNoBody = head.status == 204 || head.status == 304
        isDelimited = hasNoBody || head.fields.contains("Content-Length") || head.fields.contains("Transfer-Encoding")
    }

    /// Bytes of the body came.
    package mutating func received(_ bytes: [UInt8]) throws(OriginFailure) {
        guard !isOver, !bytes.isEmpty, case .coming = body else { return }
        try parts.received(bytes.count)
        waiting += bytes.count
        var rest = bytes[...]
        while !rest.isEmpty {
            pieces.append(rest.prefix(ExchangeState.pieceLimit))
            rest = rest.dropFirst(ExchangeState.pieceLimit)
        }
    }

    /// The body of an answer ended well.
    /// - Parameter isFramed: Whether the protocol itself marks the end, as HTTP/2 and 3 do.
    package mutating func ended(isFramed: Bool) {
        guard !isOver, case .coming = body else { return }
        guard hasHead else { return failed(OriginFailure(.malformed, "the answer is not HTTP")) }
        switch parts.ended() {
        case .part: body = .partEnded
        case .end: body = .ended(isDelimited: isDelimited || isFramed || parts.isSeries)
        case .failed(let failure): body = .failed(failure)
        }
    }

    /// Nothing more can come. What came before is still handed on.
    package mutating func failed(_ failure: OriginFailure) {
        switch body {
        case .coming, .partEnded: body = .failed(failure)
        case .ended, .failed: break
        }
    }

    // MARK: From the engine

    /// One more piece is asked for.
    package mutating func demand() { demands += 1 }

    /// The engine wants nothing more.
    package mutating func cancel() {
        isOver = true
        pieces = []
        waiting = 0
    }

    // MARK: Towards the engine

    /// The next event that is due, once.
    package mutating func next() -> Step {
        guard !isOver else { return .nothing }
        if let head {
            self.head = nil
            return .event(.head(head))
        }
        if let piece = pieces.first {
            guard demands > 0 else { return .nothing }
            demands -= 1
            pieces.removeFirst()
            waiting -= piece.count
            return .event(.body(piece))
        }
        switch body {
        case .coming: return .nothing
        case .partEnded:
            guard demands > 0 else { return .nothing }
            body = .coming
            return .ask
        case .ended(let isDelimited):
            isOver = true
            return .event(.end(isDelimited: isDelimited))
        case .failed(let failure):
            isOver = true
            return .event(.failed(failure))
        }
    }
}
