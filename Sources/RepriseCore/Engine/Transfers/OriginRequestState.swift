import RepriseHTTP
import RepriseRanges

/// One request to the origin, from its sending to its end.
///
///     awaitingHead --head--> resting --demandChunk--> awaitingChunk --body--> resting
///                               |__ demandChunk --> owing --started--> awaitingChunk
///     any --end, failed, cancelled--> (its owner drops it)
///
/// Guarantees: it holds one connection slot, which goes with it; at most one chunk is asked for at a time, none before the
/// head; what it brought is for the reader it was sent for.
///
/// A reference, its entry's alone and under its lock.
final class OriginRequestState {
    /// What shows that its answer belongs to the representation.
    enum Evidence {
        /// A validator, or nothing has to.
        case validator
        /// The same bytes, or it has brought the first ones.
        case bytes
        /// Nothing: it was accepted while no byte of the representation was held, and has brought none.
        case nothing
    }

    private enum Phase {
        case awaitingHead
        /// No chunk is asked for.
        case resting
        /// A chunk was asked for before the exchange was there to be told.
        case owing
        /// A chunk was asked for and has not come.
        case awaitingChunk
    }

    let id: RequestID
    /// The resource's URL when it was sent.
    let url: OriginURL
    /// The number of the origin it was sent to, of those that serve the resource.
    let place: Int
    /// Where it was sent.
    let location: OriginURL
    /// Whether others serve the resource, too.
    let isOneOfSeveral: Bool
    let slot: HostTable.Slot
    /// The reader whose fields it carries: what is not to be shared belongs to that one alone. `nil` where no reader waits.
    let requester: ReaderID?
    /// Whose fields it carries, as far as they may be sent there.
    let caller: Caller
    /// The bytes asked for; `nil` where no `Range` was sent.
    let asked: ByteRange?
    /// Offset of the first byte it was to bring; bytes that are only compared come before.
    let wantedFrom: Int64
    /// Whether it carried `If-Range`.
    let isConditional: Bool
    /// Nanoseconds.
    let sentAt: Int64

    /// Whether it asks only for stored bytes, to compare them.
    private(set) var isCheck: Bool
    /// Whether it was told what it says of the origin.
    private(set) var isOutcomeNoted = false
    /// `nil` before its answer was accepted.
    private(set) var evidence: Evidence?
    private var exchange: (any OriginExchange)?
    private var phase = Phase.awaitingHead
    /// Offset of the next byte of the body.
    private(set) var position: Int64 = 0
    /// Where the body ends by its own word.
    private(set) var end: Int64?
    /// The length of the whole by its own word: the representation's once the bytes are known to be its.
    private(set) var announcedLength: Int64?
    /// Bytes of the body so far.
    private(set) var bodyBytes: Int64 = 0
    /// Bytes received since `measuredFrom`, for the host's rate.
    private var measured: Int64 = 0
    private var measuredFrom: Int64 = 0

    init(
        id: RequestID, url: OriginURL, place: Int, location: OriginURL, isOneOfSeveral: Bool, slot: HostTable.Slot,
        requester: ReaderID?, caller: Caller, asked: ByteRange?, wantedFrom: Int64, isConditional: Bool, isCheck: Bool,
        now: Int64
    ) {
        self.id = id
        self.url = url
        self.place = place
        self.location = location
        self.isOneOfSeveral = isOneOfSeveral
        self.slot = slot
        self.requester = requester
        self.caller = caller
        self.asked = asked
        self.wantedFrom = wantedFrom
        self.isConditional = isConditional
        self.isCheck = isCheck
        sentAt = now
    }

    // MARK: State

    var callerFields: HTTPFields { caller.fields }
    /// Those of them that were sent: they chose the answer.
    var sentFields: HTTPFields { ResponseSelector.allowed(caller, at: url) }

    /// Whether others' bytes have to show that its answer belongs to the representation.
    var isUnconfirmed: Bool { evidence == .nothing }

    /// Whether it has brought a byte that was missing, where its bytes reach so far.
    func hasBrought(upTo head: Int64) -> Bool { head > wantedFrom }

    /// Whether a chunk was asked for and has not come.
    var isDemanding: Bool { phase == .owing || phase == .awaitingChunk }

    /// Whether its answer's head has come.
    var hasHead: Bool { phase != .awaitingHead }

    /// When its answer's head is too late, in nanoseconds; `nil` where it has come.
    func headDue(_ timeout: Int64) -> Int64? { hasHead ? nil : sentAt.adding(timeout).adding(1) }

    // MARK: Inputs

    /// The client has taken it: the exchange, where it is to be asked for a chunk at once.
    func started(_ exchange: any OriginExchange) -> (any OriginExchange)? {
        self.exchange = exchange
        guard phase == .owing else { return nil }
        phase = .awaitingChunk
        return exchange
    }

    /// The head of its answer came: how long that took, in nanoseconds.
    func receivedHead(now: Int64) -> Int64 {
        if phase == .awaitingHead { phase = .resting }
        measuredFrom = now
        return now - sentAt
    }

    /// What it says of the origin was told.
    func noteOutcome() { isOutcomeNoted = true }

    /// Its answer is a representation's.
    func accept(_ evidence: Evidence) { self.evidence = evidence }

    /// Its body begins at `position`, and ends at `end` by its own word.
    func beginBody(at position: Int64, end: Int64?) {
        self.position = position
        self.end = end
    }

    /// It tells a length that is believed once its bytes are known to be the representation's.
    func announce(length: Int64) { announcedLength = length }

    /// The answer is used for what it brings, whatever it was asked for.
    func becomesContent() { isCheck = false }

    /// Asks for a chunk.
    /// - Returns: Whether it is the first to ask for it; the exchange to ask, `nil` where that is not there yet.
    func demandChunk() -> (isNew: Bool, exchange: (any OriginExchange)?) {
        guard phase == .resting else { return (false, nil) }
        phase = exchange == nil ? .owing : .awaitingChunk
        return (true, exchange)
    }

    /// A chunk came. Answers where its first byte lies and how many bytes of it count: what is past the announced end belongs
    /// to nothing.
    func received(_ count: Int64) -> (position: Int64, used: Int64) {
        if hasHead { phase = .resting }
        bodyBytes += count
        let begun = position
        let used = end.map { min(count, max(0, $0 - begun)) } ?? count
        position += used
        return (begun, used)
    }

    /// Counts received bytes; the connection's rate in bytes a second once it was measured for `interval`.
    func measure(_ count: Int64, interval: Int64, now: Int64) -> Double? {
        measured += count
        let elapsed = now - measuredFrom
        guard elapsed >= interval else { return nil }
        let rate = Double(measured) * Double(TransferTuning.second) / Double(elapsed)
        restartMeasure(now: now)
        return rate
    }

    /// A pause is no measure of the host.
    func restartMeasure(now: Int64) {
        measuredFrom = now
        measured = 0
    }

    /// It is over: the exchange, which is to be cancelled where it has not ended by itself.
    func finish() -> (any OriginExchange)? { exchange }
}
