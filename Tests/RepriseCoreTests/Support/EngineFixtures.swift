import RepriseHTTP
import RepriseRanges
import Testing

@testable import RepriseCore

extension HostTable {
    /// A connection slot that is free.
    func freeSlot(of url: OriginURL) throws -> Slot {
        let slot = acquire(url.origin, onContention: {}, onGrant: { _ in })
        return try #require(slot)
    }
}

extension OriginRequestState {
    /// A request of a reader without fields, to the only origin there is.
    convenience init(
        _ number: Int, to url: OriginURL, _ slot: HostTable.Slot, of requester: ReaderID? = nil,
        asked: ByteRange? = nil, isConditional: Bool = false, isCheck: Bool = false, now: Int64 = 0
    ) {
        self.init(
            id: RequestID(number: number), url: url, place: 0, location: url, isOneOfSeveral: false, slot: slot,
            requester: requester, caller: Caller([:], for: url), asked: asked,
            wantedFrom: asked?.lowerBound ?? 0, isConditional: isConditional, isCheck: isCheck, now: now)
    }
}
