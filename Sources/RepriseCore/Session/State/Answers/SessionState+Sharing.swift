import RepriseHTTP

/// Whose answer it is (freshness `.http`): one user's reaches another only where the origin says so.
extension SessionState {
    /// The caller's fields a request for `wanting` is sent with. Where answers may depend on credentials they are
    /// those of the reader that needs it most, never another's; else the newest ones, as tokens run out.
    func fields(for wanting: [Int]) -> HTTPFields {
        guard environment.freshness == .http else { return fields }
        return wanting.first.flatMap { readers[$0]?.fields } ?? fields
    }

    /// Whether an answer may be stored and given to others than the reader whose fields its request carried.
    func mayShare(
        _ head: OriginResponseHead, _ request: Transfer.Request?, _ verdict: ResponseJudge.Verdict = .whole(length: nil)
    ) -> Bool {
        guard environment.freshness == .http, !isPrivate else { return true }
        switch verdict {
        case .part, .whole, .changed:
            return StoringRule.refusal(
                status: head.status, fields: head.fields, request: request?.callerFields ?? fields) == nil
        case .notModified:
            // It confirms what is shared already, whoever asked, unless it takes the permission back.
            return StoringRule.refusal(status: head.status, fields: head.fields, request: [:]) == nil
        case .pastEnd, .refused, .busy, .invalid: return true
        }
    }

    /// An answer that is only for the reader it was asked for came for a shared representation: nothing of it is used.
    /// That reader asks for itself; where it has bytes already it is told, as two answers must not meet in one.
    mutating func keepFromShared(_ id: Int) {
        let owner = transfers[id]?.readers.first
        endRequest(id)
        finish(id)
        guard let owner, let reader = readers[owner] else { return }
        guard reader.isBound else { return fail(owner, .mustBePrivate) }
        // Opened again, it is not given the shared beginning a second time.
        if !ownCallers.contains(reader.fields) { ownCallers.append(reader.fields) }
        if ownCallers.count > SessionState.ownCallersLimit { ownCallers.removeFirst() }
        fail(owner, CacheError(.changed, "the origin answers this reader otherwise than others; open it again"))
    }
}
