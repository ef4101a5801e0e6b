/// The way to the origin for one thing that is asked for: it waits for a connection slot, then has a request under way. Knows
/// which of several origins were asked for it in vain.
///
///     idle --awaitSlot--> awaitingSlot --granted--> granted --begin--> requesting --end--> idle ...
///      ^                     |                       |
///      +---- cancelled ------+------ not used -------+
///
/// Guarantees: a request has exactly one connection slot; one slot is waited for at a time.
struct OriginConnection<Subject> {
    private enum State {
        case idle
        case awaitingSlot(SlotTicket, since: Int64)
        /// The slot goes back where it is not used with the same input.
        case granted(HostTable.Slot)
        case requesting(OriginRequestState, Subject)
    }

    private var state = State.idle
    /// Origins, by their places, that have not answered what is asked for now.
    private(set) var tried: [Int] = []

    // MARK: State

    var isIdle: Bool { if case .idle = state { true } else { false } }

    /// The request that is under way, and what it is for.
    var requesting: (request: OriginRequestState, subject: Subject)? {
        if case .requesting(let request, let subject) = state { (request, subject) } else { nil }
    }

    /// The connection slot it was granted and has not used.
    var slot: HostTable.Slot? { if case .granted(let slot) = state { slot } else { nil } }

    /// Since when it waits for a connection slot, in nanoseconds; `nil` where it does not.
    var awaitsSlotSince: Int64? { if case .awaitingSlot(_, let since) = state { since } else { nil } }

    // MARK: Inputs

    mutating func awaitSlot(_ ticket: SlotTicket, now: Int64) {
        if case .idle = state { state = .awaitingSlot(ticket, since: now) }
    }

    /// A slot is there. `false` where it does not wait for that one.
    mutating func granted(_ slot: HostTable.Slot, _ ticket: SlotTicket) -> Bool {
        guard case .awaitingSlot(ticket, _) = state else { return false }
        state = .granted(slot)
        return true
    }

    /// The slot it was granted and has no use for.
    mutating func returnSlot() -> HostTable.Slot? {
        guard let slot else { return nil }
        state = .idle
        return slot
    }

    /// Its request is sent. `false` where it has no slot for one.
    mutating func begin(_ request: OriginRequestState, for subject: Subject) -> Bool {
        guard case .granted = state else {
            assertionFailure("a request without a connection slot")
            return false
        }
        state = .requesting(request, subject)
        return true
    }

    /// Takes over a request that was sent for something else.
    mutating func adopt(_ request: OriginRequestState, for subject: Subject) { state = .requesting(request, subject) }

    /// Its request is over; `nil` where it has none. No slot is waited for any more.
    mutating func end() -> OriginRequestState? {
        guard case .requesting(let request, _) = state else {
            if case .awaitingSlot = state { state = .idle }
            return nil
        }
        state = .idle
        return request
    }

    /// The origin at a place has not answered.
    mutating func failed(at place: Int) { tried.append(place) }

    /// An origin has brought something, or all were asked: the next request may go anywhere.
    mutating func forgetTried() { tried = [] }
}
