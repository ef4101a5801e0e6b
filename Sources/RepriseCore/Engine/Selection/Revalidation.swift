import RepriseHTTP

/// Asks the origin whether what is stored is still good (RFC 9111 §4.3), one request at a time.
///
/// Readers wait for it in the reader table; beside them a stale representation that was handed out may have to be confirmed
/// though no reader waits (`stale-while-revalidate`).
///
///     idle --a reader waits, want--> asking (`OriginConnection`) --confirmed, replaced, failed--> idle
///                                         ^        |
///                                         +--------+ invalidated meanwhile: the answer counts for nothing, asked again
///     want after a failure: rests before the next one in the background
struct Revalidation {
    private var connection = OriginConnection<RepresentationID>()
    /// Whose fields confirm what was handed out stale.
    private(set) var background: Caller?
    /// Until when what is handed out stale asks nothing: the confirmation that was last asked for in the background has not come.
    private var restsUntil = Int64.min
    /// When the entry was invalidated last, in nanoseconds: the answer to a request that was sent by then may be an old one.
    private var invalidatedAt = Int64.min

    // MARK: State

    /// The request that is under way, and what it is to confirm.
    var inFlight: (request: OriginRequestState, representation: RepresentationID)? {
        connection.requesting.map { ($0.request, $0.subject) }
    }

    var isIdle: Bool { connection.isIdle }
    /// Since when it waits for a connection slot, in nanoseconds; `nil` where it does not.
    var awaitsSlotSince: Int64? { connection.awaitsSlotSince }
    /// The connection slot it was granted and has not used.
    var slot: HostTable.Slot? { connection.slot }
    /// Origins, by their places, that have not answered what is asked now.
    var tried: [Int] { connection.tried }

    /// Whether what answers a request that was sent then, in nanoseconds, has to be confirmed before it is used again.
    func isOutdated(sentAt: Int64) -> Bool { sentAt <= invalidatedAt }

    // MARK: Inputs

    /// What is stored was handed out stale: a request with these fields is to confirm it.
    mutating func want(for caller: Caller, now: Int64) {
        if now >= restsUntil { background = caller }
    }

    /// The request is over that was to confirm it, without a word that counts.
    mutating func wantAgain(for caller: Caller) { background = caller }

    /// There is nothing to be confirmed any more.
    mutating func forgetBackground() { background = nil }

    mutating func awaitSlot(_ ticket: SlotTicket, now: Int64) { connection.awaitSlot(ticket, now: now) }

    /// A slot is there. `false` where it does not wait for that one.
    mutating func granted(_ slot: HostTable.Slot, _ ticket: SlotTicket) -> Bool {
        connection.granted(slot, ticket)
    }

    /// The slot it was granted and has no use for.
    mutating func returnSlot() -> HostTable.Slot? { connection.returnSlot() }

    /// Its request is sent: it confirms for all. Where none waits for it, none is sent again for so long, unless it does confirm.
    mutating func begin(_ request: OriginRequestState, of representation: RepresentationID, restingUntil rest: Int64) {
        guard connection.begin(request, for: representation) else { return }
        background = nil
        if request.requester == nil { restsUntil = rest }
    }

    /// What was asked for until now has to be confirmed.
    mutating func invalidated(now: Int64) { invalidatedAt = now }

    /// The origin's word came.
    mutating func confirmed() { restsUntil = .min }

    /// Its request is over, or brings content to a transfer; `nil` where none is under way.
    mutating func end() -> OriginRequestState? { connection.end() }

    /// The origin at a place has not answered; another is asked.
    mutating func failed(at place: Int) { connection.failed(at: place) }

    /// An origin has answered, or all were asked.
    mutating func forgetTried() { connection.forgetTried() }
}
