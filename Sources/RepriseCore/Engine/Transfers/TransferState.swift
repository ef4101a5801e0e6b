import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// The filling of one gap by one request after another. Its bytes go into a fill buffer, which outlives it where they are still
/// on their way to the disk.
///
///     asking (`OriginConnection`) --head--> bringing --the request ends--> asking again ... gap filled: gone
///        ^                                    |  ^
///        |                          paused ---+  +--- run
///        +-- restart, becomeSequential: it begins elsewhere, or at 0
///     unwanted --for too long--> gone: its buffer stays until it is written
///
/// A reference, its entry's alone and under its lock.
final class TransferState: Identifiable {
    /// What it fills.
    private enum Target {
        /// The first answer shows it.
        case unknown
        /// What was there when its first answer came; its bytes are still compared with that, and its readers have nothing of it.
        case joining(RepresentationID)
        case filling(RepresentationID)
    }

    let id: TransferID
    private var target: Target
    /// Offset at which it begins to fill.
    private(set) var start: Int64
    /// Where its bytes go; `nil` before the first one.
    private(set) var buffer: BufferID?
    private var connection = OriginConnection<Void>()
    /// Number of the next request, for its size.
    private(set) var requestIndex: Int
    /// Where the last request began and how much it asked for.
    private(set) var lastAsked = ByteRange(0, 0)
    /// Readers it runs for.
    private(set) var readers: [ReaderID] = []
    /// Offset up to which they want bytes.
    private(set) var goal: Int64 = 0
    private(set) var pausedSince: Int64?
    /// When it lost its last reader, and where it stood.
    private(set) var unwanted: TransferDeadlines.Unwanted?
    /// Nanoseconds.
    private(set) var lastProgress: Int64
    /// When it was begun, in nanoseconds.
    let begun: Int64
    /// The byte that it is to bring in place of one that was silent, until that has come: what it repeats before is no progress.
    private var secondTryFor: Int64?
    /// Whether it brings everything from 0 because the origin serves no ranges.
    private(set) var isSequential: Bool
    private var continuation: RangeContinuation
    /// When stored bytes were asked for that an answer is to be compared with, in nanoseconds.
    private var overlapAskedAt: Int64 = 0
    /// The place of the origin that its last request went to.
    private var lastPlace = 0
    /// The origin whose answers the continuation is about; `nil` before the first request.
    private var continuedAt: String?
    private let makeContinuation: () -> RangeContinuation

    init(
        id: TransferID, representation: RepresentationID?, start: Int64, isSequential: Bool, requestIndex: Int,
        readers: [ReaderID], goal: Int64, secondTryFor: Int64? = nil, now: Int64,
        continuation: @escaping () -> RangeContinuation
    ) {
        self.id = id
        target = representation.map { .filling($0) } ?? .unknown
        self.start = start
        self.isSequential = isSequential
        self.requestIndex = requestIndex
        self.readers = readers
        self.goal = goal
        makeContinuation = continuation
        self.continuation = continuation()
        self.secondTryFor = secondTryFor
        begun = now
        lastProgress = now
    }

    // MARK: State

    /// Whether it took the place of one that was silent, and has not brought what that did not.
    var isSecondTry: Bool { secondTryFor != nil }

    /// What it fills, or is to; `nil` until the first answer shows it.
    var representation: RepresentationID? {
        switch target {
        case .unknown: nil
        case .joining(let id), .filling(let id): id
        }
    }

    /// Whether an answer is still compared with what was there when it came.
    var isJoining: Bool { if case .joining = target { true } else { false } }

    /// The request that is under way.
    var request: OriginRequestState? { connection.requesting?.request }

    /// The connection slot it was granted and has not used.
    var slot: HostTable.Slot? { connection.slot }

    /// Since when it waits for a connection slot, in nanoseconds; `nil` where it does not.
    var awaitsSlotSince: Int64? { connection.awaitsSlotSince }

    /// Origins, by their places, that have not answered what is asked for now.
    var tried: [Int] { connection.tried }

    /// Whether stored bytes are being read that an answer is to be compared with.
    var readsOverlap: Bool { continuation.isReading }
    /// Since when they are being read, in nanoseconds; `nil` where they are not.
    var readsOverlapSince: Int64? { continuation.isReading ? overlapAskedAt : nil }
    /// The place its next request has to go to; `nil` where it may go anywhere.
    var boundPlace: Int? { continuation.isBoundToOrigin ? lastPlace : nil }
    /// Why bytes decide although validators differ.
    var trial: RangeContinuation.Trial? { continuation.trial }
    /// Whether bytes have shown, or will before any other is taken, that the answers belong to the representation.
    var isContinuationConfirmed: Bool { continuation.isConfirmed }
    /// Whether bytes have still to be the same before what the answer under way says is believed.
    var isComparing: Bool { continuation.isComparing }

    /// When it has been silent for too long after it was asked for a chunk, in nanoseconds; `nil` where it was not asked.
    func stalledAt(_ timeout: Int64) -> Int64? {
        request?.isDemanding == true ? lastProgress.adding(timeout).adding(1) : nil
    }

    // MARK: Inputs: the plan

    /// Brings bytes up to `goal`, for these readers. `true` where it was paused.
    func run(to goal: Int64, for readers: [ReaderID], now: Int64) -> Bool {
        self.goal = goal
        self.readers = readers
        guard pausedSince != nil else { return false }
        pausedSince = nil
        lastProgress = now
        request?.restartMeasure(now: now)
        return true
    }

    /// Asks for no more, and keeps its connection.
    func pause(at head: Int64, now: Int64) {
        goal = head
        pausedSince = pausedSince ?? now
    }

    /// Whether it has readers.
    func noteWanted(_ isWanted: Bool, head: Int64, now: Int64) {
        if isWanted { unwanted = nil } else { unwanted = unwanted ?? .init(since: now, head: head) }
    }

    // MARK: Inputs: connection slots and requests

    func awaitSlot(_ ticket: SlotTicket, now: Int64) { connection.awaitSlot(ticket, now: now) }

    /// A slot is there. `false` where it does not wait for that one.
    func granted(_ slot: HostTable.Slot, _ ticket: SlotTicket) -> Bool {
        connection.granted(slot, ticket)
    }

    /// The slot it was granted and has no use for.
    func returnSlot() -> HostTable.Slot? { connection.returnSlot() }

    /// What the next request has to be like; where it is to be sent, `begin` follows.
    func nextRequest(_ wanted: ByteRange, _ known: RangeContinuation.Known, now: Int64) -> RangeContinuation.Step {
        overlapAskedAt = now
        return continuation.next(wanted, isSequential: isSequential, known)
    }

    /// Its request is sent.
    func begin(_ request: OriginRequestState, asking range: ByteRange, now: Int64) {
        guard connection.begin(request, for: ()) else { return }
        noteAsked(request)
        lastProgress = now
        guard !request.isCheck else { return }
        // What is asked for again from where it was asked for before counts once.
        if range.lowerBound != lastAsked.lowerBound || lastAsked.isEmpty { requestIndex += 1 }
        lastAsked = range
    }

    /// Takes over a request that was sent for something else, and whose answer brings content.
    func adopt(_ request: OriginRequestState) {
        connection.adopt(request, for: ())
        noteAsked(request)
    }

    private func noteAsked(_ request: OriginRequestState) {
        (lastPlace, continuedAt) = (request.place, request.location.origin)
    }

    /// Its next request goes to `origin`: what was withheld of another one's bytes, or begun for it, says nothing of that.
    func willAsk(at origin: String) {
        if let continuedAt, continuedAt.octets != origin.octets { continuation.changedOrigin() }
        continuedAt = origin
    }

    /// Its request is over, if it has one.
    func endRequest() -> OriginRequestState? {
        guard let request = connection.end() else { return nil }
        continuation.requestEnded(received: request.bodyBytes, at: request.position)
        return request
    }

    /// The origin at a place has not answered; another is asked.
    func failed(at place: Int) {
        connection.failed(at: place)
        continuation.changedOrigin()
    }

    /// Something came, or was asked for.
    func noteProgress(now: Int64) { lastProgress = now }

    // MARK: Inputs: what it fills

    /// Its bytes are compared with what is held.
    func compare(_ bytes: ArraySlice<UInt8>, at offset: Int64) -> RangeContinuation.Comparison {
        continuation.compare(bytes, at: offset)
    }

    /// Stored bytes for an overlap were read, or could not be. `false` where none are awaited.
    func overlapRead(_ bytes: [UInt8]?) -> Bool {
        guard continuation.isReading else { return false }
        continuation.overlapRead(bytes)
        return true
    }

    /// An answer begins whose bytes are to be used; `false` where it shows nothing of those that wait for it.
    func agrees(with validator: Validator, trustsTags: Bool) -> Bool {
        continuation.agrees(with: validator, trustsTags: trustsTags)
    }

    /// Validators differ, which need not mean that the bytes do: the next request compares them.
    func begin(_ trial: RangeContinuation.Trial) { continuation.begin(trial) }

    /// The first answer came while there is a representation: it is the same resource, as its bytes have to show.
    func join(_ representation: RepresentationID) { target = .joining(representation) }

    /// An answer was taken for one of that representation.
    func settle(in representation: RepresentationID) { target = .filling(representation) }

    /// It fills another representation from here on, of which nothing is held.
    func fill(_ representation: RepresentationID) {
        settle(in: representation)
        continuation = makeContinuation()
    }

    /// The origin sends everything from 0.
    func becomeSequential() { isSequential = true }

    /// Its first byte came.
    func fill(into buffer: BufferID) { self.buffer = buffer }

    /// Bytes came that are not compared. A head alone is no answer, nor are bytes that came before: an origin that begins each
    /// answer, or sends everything from 0, and breaks off at the same place was tried.
    func noteBytes(_ new: ByteRange) {
        if let byte = secondTryFor, byte < new.upperBound { secondTryFor = nil }
        if request?.hasBrought(upTo: new.upperBound) ?? true { connection.forgetTried() }
    }

    /// It goes on elsewhere, or for another representation: the buffer with what it has brought.
    func restart(at offset: Int64) -> BufferID? {
        defer { buffer = nil }
        start = offset
        continuation.wentElsewhere()
        return buffer
    }
}
