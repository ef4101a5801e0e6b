import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Asking whether what is stored is still good, where freshness is HTTP's.
extension SessionState {
    /// Readers that may not use what is stored before the origin has confirmed it share one conditional request.
    mutating func startRevalidation() {
        var awaiting = readers.filter { $0.awaitsFreshness && $0.failure == nil }.map(\.id)
        guard confirmationFields != nil || !awaiting.isEmpty else { return }
        guard let number = offered, let representation = representations[number] else {
            // There is nothing to be confirmed any more: they begin anew.
            confirmationFields = nil
            for reader in awaiting { readers[reader]?.awaitsFreshness = false }
            return
        }
        // The one they waited for may have been replaced by one for other request fields.
        awaiting = awaiting.filter { belongs($0, to: number) }
        guard confirmationFields != nil || !awaiting.isEmpty,
            !transfers.contains(where: { $0.request?.isRevalidation == true }),
            mayAsk()
        else { return }
        guard !isRevalidationQueued else { return }
        isRevalidationQueued = true
        guard environment.hosts.enter(url.origin, onFree: onPlaceFree) else { return }
        isRevalidationQueued = false
        let requester = awaiting.first
        let callerFields = requester == nil ? confirmationFields ?? fields : fields(of: requester)
        confirmationFields = nil
        var fields = allowed(callerFields, of: requester, at: url)
        fields["Accept-Encoding"] = "identity"
        for line in Confirmation.conditions([representation.info.validator]).lines { fields[line.name] = line.value }
        let id = makeID()
        let serial = makeID()
        var transfer = Transfer(
            id: id, representation: number, start: 0, requestIndex: 0,
            continuation: makeContinuation(), now: now)
        transfer.request = Transfer.Request(
            serial: serial, url: url, origin: url.origin, requester: requester, callerFields: callerFields,
            sentAt: now, isRevalidation: true)
        transfers[id] = transfer
        send(id, serial, fields, range: "revalidate")
    }

    mutating func revalidated(
        _ id: Int, _ head: OriginResponseHead, _ verdict: ResponseJudge.Verdict, isConfirmed: Bool
    ) {
        guard let transfer = transfers[id], let request = transfer.request, let number = transfer.representation,
            var representation = representations[number]
        else { return }
        switch verdict {
        case .whole(let length) where !isConfirmed && mayShare(head, request, verdict):
            // Nothing shows that it is what is stored, so it is not (RFC 9111 §4.3.3).
            return replaced(id, head, length: length, servesRanges: representation.info.servesRanges, nil)
        case .changed(let difference, let length, let servesRanges)
        where head.status == 200 && mayShare(head, request, verdict) && storable(head):
            return replaced(id, head, length: length, servesRanges: servesRanges, difference)
        default: break
        }
        endRequest(id)
        transfers[id] = nil
        guard mayShare(head, request, verdict) else {
            for reader in readers.ids where readers[reader]?.awaitsFreshness == true {
                fail(reader, .mustBePrivate)
            }
            return
        }
        if case .refused(let status) = verdict, asksAnew(after: status, of: request.url) { return }
        switch verdict {
        case .notModified where Confirmation.confirmed([representation.info.validator], by: head.fields).isEmpty:
            // It confirms something else than what is stored: that is asked for without a condition (RFC 9111 §4.3.4).
            for reader in readers.ids where readers[reader]?.awaitsFreshness == true {
                readers[reader]?.awaitsFreshness = false
                readers[reader]?.representation = nil
            }
            giveUp(number)
        case .notModified, .whole:
            noteConfirmed(status: head.status)
            representation.info.checked = wallClock
            representation.info.fields = Confirmation.freshened(
                representation.info.fields, by: stored(head, of: request))
            representation.info.variant =
                Variant(answer: representation.info.fields, request: request.callerFields)?.text
            representations[number] = representation
            if representation.isCommitted { commitInfo(of: number) }
            trouble = nil
            releaseFreshness(to: number)
        case .changed: note(.originInvalid, "the origin answered with a page instead of media")
        case .refused(let status) where status == 404 || status == 410 || status == 401 || status == 403:
            let awaiting = readers.ids.filter { readers[$0]?.awaitsFreshness == true }
            let error = CacheError(.originRefused(status: status), "the origin answered \(status)")
            refuse(awaiting, request, error, status: status)
        case .busy(let status, let retryAfter):
            let error = CacheError(
                .originRefused(status: status), "the origin answered \(status)", retryAfter: retryAfter)
            note(error)
            noteHoldOff(request, status, error)
            if [500, 502, 503, 504].contains(status) { standInAtOnce(status: status) }
        default:
            note(.originUnreachable, "the origin could not confirm what is stored (\(head.status))")
        }
    }

    /// The answer to a revalidation is another representation: its body, which comes with it, is used.
    private mutating func replaced(
        _ id: Int, _ head: OriginResponseHead, length: Int64?, servesRanges: Bool, _ difference: Mismatch?
    ) {
        guard let request = transfers[id]?.request, let number = transfers[id]?.representation else { return }
        trouble = nil
        noteConfirmed(status: head.status)
        if let difference { effects.append(.event(.generationChanged(key: key.text, difference))) }
        let new = addRepresentation(head, request, length: length, servesRanges: servesRanges)
        transfers[id]?.representation = new
        transfers[id]?.request?.isRevalidation = false
        transfers[id]?.isSequential = !servesRanges
        let (size, now) = (tuning.boundedRequests, now)
        transfers[id]?.requestIndex = size
        transfers[id]?.readers = request.requester.map { [$0] } ?? []
        transfers[id]?.unwanted = request.requester == nil ? TransferPlanner.Unwanted(since: now, head: 0) : nil
        supersede(number)
        releaseFreshness(to: new)
        beginBody(id, at: 0, end: length)
    }

    /// Whether a representation may be used for a request with those fields.
    func reuse(of representation: Representation, by request: HTTPFields) -> ReuseRule {
        ReuseRule(
            stored: freshness(of: representation), request: RequestCacheControl(request), now: wallClock)
    }

    private mutating func releaseFreshness(to number: Int) {
        for reader in readers.ids where readers[reader]?.awaitsFreshness == true {
            readers[reader]?.awaitsFreshness = false
            readers[reader]?.isConfirmed = true
            if let representation = representations[number], admit(reader, to: representation) {
                give(reader, number)
            } else {
                wake(reader)
            }
        }
    }

    /// Lets a reader have stale bytes where RFC 9111 §4.2.4 allows it.
    mutating func serveStale(_ id: Int) -> Bool {
        guard let number = offered, let representation = representations[number],
            reuse(of: representation, by: readers[id]?.fields ?? [:]).mayStandIn
        else { return false }
        let now = now
        readers[id]?.waitsSince = now
        readers[id]?.outcome.detail = "origin-failed"
        give(id, number)
        return true
    }
}
