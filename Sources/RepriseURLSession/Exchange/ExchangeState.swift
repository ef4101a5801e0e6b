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

    private enum Part {
        /// Whether its head tells where it ends; `nil` before a head.
        case coming(isDelimited: Bool?)
        /// Its body ended well, and another is to follow.
        case ended
    }

    private var parts: RangedParts
    private var part = Part.coming(isDelimited: nil)
    private var events = PacedEvents()

    package init(_ parts: RangedParts) { self.parts = parts }

    /// Bytes that have come and were not handed on.
    package var waiting: Int { events.waiting }

    /// The fields of the request to send now.
    package var fields: HTTPFields { parts.fields }

    /// Whether there is no more to come for the engine.
    package var isFinished: Bool { events.isOver }

    private var isComing: Bool { if case .coming = part { !events.isEnding } else { false } }

    // MARK: From the session

    /// The head of an answer came.
    package mutating func received(_ head: OriginResponseHead) throws(OriginFailure) {
        guard isComing else { return }
        if let breach = head.breach { throw OriginFailure(.malformed, breach) }
        let hasNoBody = head.status == 204 || head.status == 304
        let isDelimited =
            hasNoBody || head.fields.contains("Content-Length") || head.fields.contains("Transfer-Encoding")
        guard let head = try parts.received(try ExchangeState.decoded(head)) else { return }
        part = .coming(isDelimited: isDelimited)
        events.received(head)
    }

    /// Codings that the system takes away on its own, whatever was asked for. The head it leaves as it came.
    private static let codings = ["gzip", "x-gzip", "deflate", "br"]

    /// A head as it is true of the body that the system hands on: without the coding, and without what is said of the coded bytes
    /// alone. A part of those cannot be decoded.
    private static func decoded(_ head: OriginResponseHead) throws(OriginFailure) -> OriginResponseHead {
        guard let coding = head.fields.contentCoding?.lowercased(),
            coding.listMembers.allSatisfy({ codings.contains(String($0)) })
        else { return head }
        guard head.status != 206 else {
            throw OriginFailure(.malformed, "the origin's part is coded (\(coding)) though identity was asked for")
        }
        var head = head
        head.fields.remove([
            "Content-Encoding", "Content-Length", "Accept-Ranges", "ETag", "Last-Modified", "Content-MD5",
            "Content-Digest", "Digest",
        ])
        return head
    }

    /// Bytes of the body came.
    package mutating func received(_ bytes: [UInt8]) throws(OriginFailure) {
        guard isComing else { return }
        try parts.received(bytes.count)
        events.received(bytes)
    }

    /// The body of an answer ended well.
    /// - Parameter isFramed: Whether the protocol itself marks the end, as HTTP/2 and 3 do.
    package mutating func ended(isFramed: Bool) {
        guard isComing, case .coming(let isDelimited) = part else { return }
        guard isDelimited != nil || parts.isSeries else {
            return events.failed(OriginFailure(.malformed, "the answer is not HTTP"))
        }
        switch parts.ended() {
        case .part: part = .ended
        case .end: events.ended(isDelimited: isDelimited == true || isFramed || parts.isSeries)
        case .failed(let failure): events.failed(failure)
        }
    }

    /// Nothing more can come. What came before is still handed on.
    package mutating func failed(_ failure: OriginFailure) { events.failed(failure) }

    // MARK: From the engine

    /// One more piece is asked for.
    package mutating func demand() { events.demand() }

    /// The engine wants nothing more.
    package mutating func cancel() { events.cancel() }

    // MARK: Towards the engine

    /// The next event that is due, once.
    package mutating func next() -> Step {
        if let event = events.next() { return .event(event) }
        guard case .ended = part, events.isDemanded else { return .nothing }
        part = .coming(isDelimited: nil)
        return .ask
    }
}
