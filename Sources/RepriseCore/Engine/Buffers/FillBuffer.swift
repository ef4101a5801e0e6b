import RepriseRanges
import RepriseStorage

/// Names a fill buffer within its entry. Ascending, never used again.
struct BufferID: EntryID {
    let number: Int
}

/// One write of a fill buffer's bytes. What came of it is told with the ticket, so that a result never reaches other bytes
/// than those it is about.
struct WriteTicket: Sendable {
    let buffer: BufferID
    /// Bytes the write stores.
    let range: ByteRange
    /// Which of the buffer's destinations they are written to; a result for an earlier one changes nothing.
    fileprivate let destination: Int
}

/// A write to carry out on its generation's lane.
struct WriteOrder {
    let ticket: WriteTicket
    let writer: FillWriter
    /// The bytes, which follow each other from `ticket.range.lowerBound` on.
    let chunks: [ArraySlice<UInt8>]
}

/// A run of bytes received for one representation, on its way to readers and to the disk.
///
///     active <--setAtRest--> at rest          a transfer feeds it
///        \______ release _______/
///                   v
///               released                      nothing more comes
///                   v  written, or not to be stored and read
///               `isSpent`                     its table drops it
///
/// Guarantees: at most one write is in flight; bytes count as drained by the ticket of the write that stored them, or because
/// they are not to be stored; a released buffer takes no more bytes. It knows no lock, queue or transfer.
struct FillBuffer {
    /// Where the bytes go besides to readers.
    enum Destination {
        /// The store has not decided yet, or its files are being made.
        case undecided
        /// Into a generation's files.
        case disk(FillWriter)
        /// Nowhere: readers are the only ones who need them.
        case none
    }

    private enum Feed { case active, atRest, released }

    private struct Flight {
        let ticket: WriteTicket
        /// When it began, in nanoseconds.
        let since: Int64
    }

    let id: BufferID
    /// The representation whose bytes these are.
    let representation: RepresentationID
    /// Offset of its first byte ever.
    let start: Int64
    private var window: LiveWindow
    private var destination = Destination.undecided
    private var destinations = 0
    private var flight: Flight?
    private var feed = Feed.active
    /// Another transfer goes on in the block in which this buffer ends: its bytes are written to their end at once.
    private var isFollowed = false

    init(id: BufferID, representation: RepresentationID, at offset: Int64) {
        self.id = id
        self.representation = representation
        start = offset
        window = LiveWindow(at: offset)
    }

    // MARK: State

    /// Bytes in memory.
    var range: ByteRange { window.range }
    /// Offset of the next byte to come.
    var head: Int64 { window.head }
    /// Offset before which bytes are on disk, or will never be.
    var drained: Int64 { window.drained }
    /// Bytes that are only here.
    var undrained: Int64 { window.undrained }
    var isReleased: Bool { feed == .released }
    var isWriting: Bool { flight != nil }
    /// Since when its write is in flight, in nanoseconds; `nil` where none is.
    var writingSince: Int64? { flight?.since }

    /// Bytes it keeps in memory, those of a write in flight included.
    var bytesInMemory: Int64 { heldOrWritten.count }

    /// Bytes in memory and those of a write in flight.
    var heldOrWritten: ByteRange {
        ByteRange(min(window.base, flight?.ticket.range.lowerBound ?? .max), window.head)
    }

    /// Where its bytes go, in the words of its representation's storage.
    var place: StorageState.Destination {
        switch destination {
        case .undecided: .undecided
        case .disk(let writer): .files(ObjectIdentifier(writer.generation))
        case .none: .nowhere
        }
    }

    /// Whether its bytes lie where the store takes any (`BlockLayout.longestStored`): others go to readers only.
    var isStorable: Bool { start < BlockLayout.longestStored }

    /// Whether its bytes go to readers only.
    var passesThrough: Bool { if case .none = destination { true } else { false } }

    /// Whether the store has still to decide where its bytes go, or its files are being made.
    var isUndecided: Bool { if case .undecided = destination { true } else { false } }

    /// Whether it says nothing that another does not: nothing more comes, the store has not decided, and the other has all its
    /// bytes.
    func isCovered(by other: FillBuffer) -> Bool {
        guard isUndecided, feed == .released, flight == nil else { return false }
        return other.id != id && other.representation == representation && other.range.contains(range)
    }

    /// Bytes of which its feeding transfer has to take care: all where they are not to be stored, else those the disk has
    /// not taken yet.
    var backlog: Int64 {
        if case .none = destination { return window.count }
        return window.undrained
    }

    /// Whether it waits for the disk, or for the store's decision.
    var awaitsDisk: Bool {
        switch destination {
        case .undecided: window.undrained > 0
        case .disk: flight != nil || window.undrained > 0
        case .none: flight != nil
        }
    }

    /// Whether nothing in it is needed any more.
    var isSpent: Bool {
        guard feed == .released, flight == nil else { return false }
        if case .none = destination { return window.count == 0 }
        return window.undrained == 0
    }

    /// Held bytes from `offset` on, at most `limit` and at most one chunk.
    func slice(at offset: Int64, limit: Int) -> ArraySlice<UInt8>? { window.slice(at: offset, limit: limit) }

    /// The held bytes of `range`, copied; for small ranges.
    func bytes(in range: ByteRange) -> [UInt8] { window.bytes(in: range) }

    // MARK: Inputs

    /// Bytes came from the origin.
    mutating func append(_ chunk: ArraySlice<UInt8>) {
        precondition(feed != .released, "a released buffer takes no bytes")
        window.append(chunk)
        drainWhatIsNotStored()
    }

    /// Whether its transfer has nothing more coming for now: what there is of a block is all there will be.
    mutating func setAtRest(_ isAtRest: Bool) {
        guard feed != .released else { return }
        feed = isAtRest ? .atRest : .active
    }

    /// Another transfer goes on where this buffer's bytes end.
    mutating func follow() { isFollowed = true }

    /// Its transfer is done with it.
    mutating func release() { feed = .released }

    /// The store has decided otherwise. A write in flight ends for itself.
    mutating func setDestination(_ new: Destination) {
        destinations += 1
        destination = isStorable ? new : .none
        drainWhatIsNotStored()
    }

    private mutating func drainWhatIsNotStored() {
        if case .none = destination { window.drained = window.head }
    }

    /// The next write, which is in flight from now on; `nil` where there is nothing to write now.
    ///
    /// A sealed block is written when it is full, and what there is of it once nothing more comes.
    mutating func beginWrite(layout: BlockLayout, isSealed: Bool, now: Int64) -> WriteOrder? {
        guard case .disk(let writer) = destination, flight == nil, window.undrained > 0 else { return nil }
        var end = Int64.max
        if isSealed {
            end = sealableEnd(layout)
            guard end > window.drained else { return nil }
        }
        let chunks = window.undrainedPieces(limit: FillBuffer.writtenAtOnce, before: end)
        let count = chunks.reduce(Int64(0)) { $0.adding(Int64($1.count)) }
        let ticket = WriteTicket(
            buffer: id, range: ByteRange(offset: window.drained, count: count), destination: destinations)
        flight = Flight(ticket: ticket, since: now)
        return WriteOrder(ticket: ticket, writer: writer, chunks: chunks)
    }

    /// How a write ended.
    enum WriteResult { case stored, failed, notDone }

    /// The write of a ticket ended. Answers whether it was for the present destination: only then its failure means anything.
    mutating func endWrite(_ ticket: WriteTicket, _ result: WriteResult) -> Bool {
        guard let flight, flight.ticket.range == ticket.range, flight.ticket.destination == ticket.destination else {
            return false
        }
        self.flight = nil
        guard ticket.destination == destinations else { return false }
        if case .stored = result {
            window.drained = max(window.drained, ticket.range.upperBound)
            window.trim(before: window.drained)
        }
        return true
    }

    /// Lets go of what no reader needs, where nothing is stored. `position` is where the hindmost reader stands that it has to
    /// wait for; of the end `tail` bytes stay while it is fed or `isJoined`, to compare a continuation with.
    mutating func trimUnstored(before position: Int64?, tail: Int64, isJoined: Bool) {
        guard case .none = destination else { return }
        let end = feed == .released && !isJoined ? window.head : max(window.base, window.head - tail)
        window.trim(before: min(position ?? end, end))
    }

    /// Most bytes of one write.
    private static let writtenAtOnce: Int64 = 256 * 1024

    private func sealableEnd(_ layout: BlockLayout) -> Int64 {
        let limit = ByteRange(offset: window.drained, count: FillBuffer.writtenAtOnce).upperBound
        let full = layout.blockStart(of: min(window.head, limit))
        if full > window.drained { return full }
        return feed != .active || isFollowed ? window.head : window.drained
    }
}
