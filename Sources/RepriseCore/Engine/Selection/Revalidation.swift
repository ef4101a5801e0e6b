import RepriseHTTP

/// Asks the origin whether what is stored is still good (RFC 9111 §4.3), one request at a time.
///
/// Readers wait for it in the reader table; beside them a stale representation that was handed out may have to be confirmed
/// though no reader waits (`stale-while-revalidate`).
struct Revalidation {
    private var connection = OriginConnection<RepresentationID>()
    /// Whose fields confirm what was handed out stale.
    private(set) var background: Caller?

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

    // MARK: Inputs

    /// What is stored was handed out stale: a request with these fields is to confirm it.
    mutating func want(for caller: Caller) { background = caller }

    /// There is nothing to be confirmed any more.
    mutating func forgetBackground() { background = nil }

    mutating func awaitSlot(_ ticket: SlotTicket, now: Int64) { connection.awaitSlot(ticket, now: now) }

    /// A slot is there. `false` where it does not wait for that one.
    mutating func granted(_ slot: HostTable.Slot, _ ticket: SlotTicket) -> Bool {
        connection.granted(slot, ticket)
    }

    /// The slot it was granted and has no use for.
    mutating func returnSlot() -> HostTable.Slot? { connection.returnSlot() }

    /// Its request is sent: it confirms for all.
    mutating func begin(_ request: OriginRequestState, of representation: RepresentationID) {
        if connection.begin(request, for: representation) { background = nil }
    }

    /// Its request is over, or brings content to a transfer; `nil` where none is under way.
    mutating func end() -> OriginRequestState? { connection.end() }

    /// The origin at a place has not answered; another is asked.
    mutating func failed(at place: Int) { connection.failed(at: place) }

    /// An origin has answered, or all were asked.
    mutating func forgetTried() { connection.forgetTried() }
}
