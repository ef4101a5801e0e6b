package import RepriseHTTP

/// The events of one exchange in their order: heads at once, pieces of the body no faster than they are asked for, an
/// end after the last. No I/O; for clients whose library pushes.
///
///     coming --ended, failed--> [ pieces that wait ] --the last was handed on--> over
///
/// Pieces that wait are joined up to `joinLimit` and cut at `pieceLimit`: each piece costs a turn of the engine, however
/// small it is, and an origin may send chunks of one byte. What came before a failure is handed on before it; after a
/// cancel nothing is.
package struct PacedEvents: Sendable {
    /// Most bytes of a piece that others are joined to.
    package static let joinLimit = 16 * 1024
    /// Most bytes of one piece.
    package static let pieceLimit = 256 * 1024

    private enum Course {
        case coming
        /// Nothing more comes; this is told last.
        case ending(OriginEvent)
        case over
    }

    private var course = Course.coming
    private var interims: [OriginResponseHead] = []
    private var head: OriginResponseHead?
    private var pieces: [ArraySlice<UInt8>] = []
    private var demands = 0

    /// Bytes that have come and were not handed on.
    package private(set) var waiting = 0

    package init() {}

    /// Whether nothing more will be told.
    package var isOver: Bool { if case .over = course { true } else { false } }

    /// Whether nothing more can come.
    package var isEnding: Bool { if case .coming = course { false } else { true } }

    /// Whether the engine has asked for a piece and has not been given it.
    package var isDemanded: Bool { !isEnding && demands > 0 }

    // MARK: From the origin

    /// An interim answer came.
    package mutating func received(interim head: OriginResponseHead) {
        if case .coming = course { interims.append(head) }
    }

    /// The head came.
    package mutating func received(_ head: OriginResponseHead) {
        if case .coming = course { self.head = head }
    }

    /// Bytes of the body came.
    package mutating func received(_ bytes: some Collection<UInt8>) {
        guard case .coming = course, !bytes.isEmpty else { return }
        waiting += bytes.count
        // By its place: a copy of the piece would have each byte copy all before it.
        if let last = pieces.indices.last, pieces[last].count + bytes.count <= PacedEvents.joinLimit {
            pieces[last].append(contentsOf: bytes)
            return
        }
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            pieces.append(rest.prefix(PacedEvents.pieceLimit))
            rest = rest.dropFirst(PacedEvents.pieceLimit)
        }
    }

    /// The body ended well.
    package mutating func ended(isDelimited: Bool, trailers: HTTPFields = HTTPFields()) {
        if case .coming = course { course = .ending(.end(isDelimited: isDelimited, trailers: trailers)) }
    }

    /// Nothing more can come.
    package mutating func failed(_ failure: OriginFailure) {
        if case .coming = course { course = .ending(.failed(failure)) }
    }

    // MARK: From the engine

    /// One more piece is asked for.
    package mutating func demand() { demands += 1 }

    /// The engine wants nothing more.
    package mutating func cancel() {
        course = .over
        interims = []
        head = nil
        pieces = []
        waiting = 0
    }

    // MARK: Towards the engine

    /// The next event that is due, once.
    package mutating func next() -> OriginEvent? {
        if !interims.isEmpty { return .interim(interims.removeFirst()) }
        if let head {
            self.head = nil
            return .head(head)
        }
        if let piece = pieces.first {
            guard demands > 0 else { return nil }
            demands -= 1
            pieces.removeFirst()
            waiting -= piece.count
            return .body(piece)
        }
        guard case .ending(let last) = course else { return nil }
        course = .over
        return last
    }
}
