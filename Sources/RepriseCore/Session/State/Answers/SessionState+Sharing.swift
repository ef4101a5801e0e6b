import RepriseHTTP

/// Whose answer it is (freshness `.http`): one user's reaches another only where the origin says so.
extension SessionState {
    /// The reader whose fields a request for `wanting` is sent with. Where answers may depend on credentials it is the one
    /// that needs it most; else the newest caller's fields are sent, as tokens run out, unless the origin refused them.
    func requester(for wanting: [Int]) -> Int? {
        guard environment.freshness == .immutable, !refusedFields.contains(fields) else { return wanting.first }
        return wanting.first { readers[$0]?.fields == fields }
    }

    /// The fields of a caller; the newest caller's where no reader is named.
    func fields(of requester: Int?) -> HTTPFields { requester.flatMap { readers[$0]?.fields } ?? fields }

    /// The fields of a caller that may be sent to a URL: what may be a credential stays with the origin it was given for.
    func allowed(_ fields: HTTPFields, of requester: Int?, at url: OriginURL) -> HTTPFields {
        let givenFor = requester.flatMap { readers[$0]?.caller.url } ?? caller.url
        guard givenFor != url, givenFor.origin != url.origin else { return fields }
        var kept = HTTPFields()
        for line in fields.lines where SessionState.harmlessFields.contains(where: line.name.equalsIgnoringCase) {
            kept.add(line.name, line.value)
        }
        return kept
    }

    /// Request fields that carry no credential.
    private static let harmlessFields = ["Accept", "Accept-Language", "Cache-Control", "Pragma", "User-Agent"]

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
        let owner = transfers[id]?.request?.requester
        finish(id)
        guard let owner, let reader = readers[owner] else { return }
        guard reader.isBound else { return fail(owner, .mustBePrivate) }
        // Opened again, it is not given the shared beginning a second time.
        if !ownCallers.contains(reader.fields) { ownCallers.append(reader.fields) }
        if ownCallers.count > SessionState.ownCallersLimit { ownCallers.removeFirst() }
        fail(owner, CacheError(.changed, "the origin answers this reader otherwise than others; open it again"))
    }
}
