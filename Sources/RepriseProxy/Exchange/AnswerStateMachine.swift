import RepriseHTTP
package import RepriseRanges

/// How far an answer from the store is sent: its head, then its body's stretches of text and of the resource's bytes, one after
/// the other. No I/O.
///
///     opening --head--> bytes or text ... bytes or text --the last has left--> over
///
/// A head that announced a length is followed by as many bytes or by the end of the connection, never by fewer or more.
package struct AnswerStateMachine: Sendable {
    /// What follows from the head.
    package enum Opening: Sendable, Hashable {
        /// Nothing but the head: all is sent with it.
        case headAlone
        /// The answer is a line of text, or has no body; the head is not sent yet.
        case text
        /// The head, and a body behind it.
        case body
    }

    /// What is to be done next.
    package enum Step: Sendable, Hashable {
        /// This text is a part of the body.
        case text(String)
        /// The next bytes of the body are these of the resource.
        case seek(ByteRange)
        /// Bytes are to be read, and sent.
        case read
        /// All was sent; where `mayHaveTrailers`, fields may come behind it.
        case end(mayHaveTrailers: Bool)
        /// Less came than the head announced, or than there is: that can only be told by closing.
        case broken
    }

    private enum Phase: Sendable {
        case opening
        case body(Body)
        case over
    }

    private enum Body: Sendable {
        /// So many bytes of those that the head announced were not read yet.
        case delimited(missing: Int64)
        /// Only the reader's end ends it.
        case open
        case openEnded
        /// Several parts: how many of their pieces were begun, and bytes of the one that were not read yet.
        case parts(MultipartByteRanges, begun: Int, missing: Int64)
        case cutShort
    }

    private var phase = Phase.opening
    /// Where the reader is to go first.
    private var start: ByteRange?
    /// Whether what was read is on its way to the client, and nothing more is read before it has left.
    package var isBusy = false

    package init() {}

    package var isOver: Bool { if case .over = phase { true } else { false } }
    package var isOpening: Bool { if case .opening = phase { true } else { false } }

    /// The answer is known.
    /// - Parameters:
    ///   - method: Of the request.
    ///   - presumed: Where the reader stands.
    package mutating func open(_ answer: ServerExchange.Answer, method: String, at presumed: ByteRange) -> Opening {
        guard answer.text == nil else { return .text }
        if let parts = answer.parts {
            phase = .body(.parts(parts, begun: 0, missing: 0))
        } else if let range = answer.range {
            phase = .body(answer.isDelimited ? .delimited(missing: range.count) : .open)
            start = range == presumed ? nil : range
        } else {
            return method == "HEAD" ? .headAlone : .text
        }
        return .body
    }

    /// What is to be done now; `nil` where nothing is before something has left.
    package mutating func next() -> Step? {
        guard !isBusy, case .body(let body) = phase else { return nil }
        if let start {
            self.start = nil
            return .seek(start)
        }
        switch body {
        case .delimited(missing: 0): return .end(mayHaveTrailers: false)
        case .openEnded: return .end(mayHaveTrailers: true)
        case .cutShort: return .broken
        case .parts(let parts, let begun, missing: 0):
            guard begun < parts.pieceCount else { return .end(mayHaveTrailers: false) }
            switch parts.piece(at: begun) {
            case .text(let text):
                phase = .body(.parts(parts, begun: begun + 1, missing: 0))
                return .text(text)
            case .bytes(let range):
                phase = .body(.parts(parts, begun: begun + 1, missing: range.count))
                return .seek(range)
            }
        case .delimited, .open, .parts: return .read
        }
    }

    /// So many bytes were read, and are sent or on their way.
    package mutating func took(_ count: Int64) {
        switch phase {
        case .body(.delimited(let missing)): phase = .body(.delimited(missing: missing - count))
        case .body(.parts(let parts, let begun, let missing)):
            phase = .body(.parts(parts, begun: begun, missing: missing - count))
        case .body(.open), .body(.openEnded), .body(.cutShort), .opening, .over: break
        }
    }

    /// The reader has no more bytes.
    package mutating func readerEnded() {
        switch phase {
        case .body(.open): phase = .body(.openEnded)
        case .body(.delimited(missing: 0)), .body(.parts(_, _, missing: 0)), .opening, .over: break
        case .body: phase = .body(.cutShort)
        }
    }

    /// The reader cannot go on.
    package mutating func readerFailed() {
        if case .body = phase { phase = .body(.cutShort) }
    }

    /// Nothing more is done.
    package mutating func end() { phase = .over }
}
