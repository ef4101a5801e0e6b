import RepriseHTTP

/// Asks the origin whether what is stored is still good (RFC 9111 §4.3), one request at a time.
///
///     idle --awaitSlot--> awaitingSlot --granted--> granted --begin--> inFlight --end--> idle
///
/// Readers wait for it in the reader table; beside them a stale representation that was handed out may have to be confirmed
/// though no reader waits (`stale-while-revalidate`).
struct Revalidation {
    private enum State {
        case idle
        case awaitingSlot(SlotTicket, since: Int64)
        /// The slot goes back where it is not used with the same input.
        case granted(HostTable.Slot)
        case inFlight(OriginRequestState, RepresentationID)
    }

    private var state = State.idle
    /// Whose fields confirm what was handed out stale.
    private(set) var background: Caller?

    // MARK: State

    /// The request that is under way, and what it is to confirm.
    var inFlight: (request: OriginRequestState, representation: RepresentationID)? {
        if case .inFlight(let request, let representation) = state { (request, representation) } else { nil }
    }

    var isIdle: Bool { if case .idle = state { true } else { false } }
    /// Since when it waits for a connection slot, in nanoseconds; `nil` where it does not.
    var awaitsSlotSince: Int64? { if case .awaitingSlot(_, let since) = state { since } else { nil } }
    /// The connection slot it was granted and has not used.
    var slot: HostTable.Slot? { if case .granted(let slot) = state { slot } else { nil } }

    // MARK: Inputs

    /// What is stored was handed out stale: a request with these fields is to confirm it.
    mutating func want(for caller: Caller) { background = caller }

    /// There is nothing to be confirmed any more.
    mutating func forgetBackground() { background = nil }

    mutating func awaitSlot(_ ticket: SlotTicket, now: Int64) {
        if isIdle { state = .awaitingSlot(ticket, since: now) }
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

    /// Its request is sent: it confirms for all.
    mutating func begin(_ request: OriginRequestState, of representation: RepresentationID) {
        guard case .granted = state else { return assertionFailure("a request without a connection slot") }
        state = .inFlight(request, representation)
        background = nil
    }

    /// Its request is over, or brings content to a transfer; `nil` where none is under way.
    mutating func end() -> OriginRequestState? {
        guard case .inFlight(let request, _) = state else {
            if case .awaitingSlot = state { state = .idle }
            return nil
        }
        state = .idle
        return request
    }
}
