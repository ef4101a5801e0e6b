import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Asking whether what is stored is still good, where freshness is HTTP's.
extension SessionState {
    /// Readers that may not use what is stored before the origin has confirmed it share one conditional request.
    mutating func startRevalidation() {
        var awaiting = readers.values.filter { $0.awaitsFreshness && $0.failure == nil }.map(\.id).sorted()
        guard confirmationFields != nil || !awaiting.isEmpty, let number = offered,
            let representation = representations[number]
        else { return }
        // The one they waited for may have been replaced by one for other request fields.
        awaiting = awaiting.filter { belongs($0, to: number) }
        guard confirmationFields != nil || !awaiting.isEmpty,
            !transfers.values.contains(where: { $0.request?.isRevalidation == true }),
            trouble.map({ now >= $0.notBefore }) ?? true, refreshing == nil
        else { return }
        guard !isRevalidationQueued else { return }
        isRevalidationQueued = true
        guard environment.hosts.enter(url.origin, onFree: onPlaceFree) else { return }
        isRevalidationQueued = false
        let callerFields = awaiting.isEmpty ? confirmationFields ?? fields : fields(for: awaiting)
        confirmationFields = nil
        var fields = callerFields
        fields["Accept-Encoding"] = "identity"
        for line in Confirmation.conditions([representation.info.validator]).lines { fields[line.name] = line.value }
        let id = makeID()
        let serial = makeID()
        var transfer = Transfer(id: id, representation: number, start: 0, requestIndex: 0, now: now)
        transfer.request = Transfer.Request(
            serial: serial, url: url, origin: url.origin, callerFields: callerFields, sentAt: now, isRevalidation: true)
        transfers[id] = transfer
        send(id, serial, fields, range: "revalidate")
    }

    mutating func revalidated(_ id: Int, _ head: OriginResponseHead, _ verdict: ResponseJudge.Verdict) {
        guard let number = transfers[id]?.representation, var representation = representations[number] else { return }
        let request = transfers[id]?.request
        let mayShare = mayShare(head, request, verdict)
        endRequest(id)
        transfers[id] = nil
        guard mayShare else {
            for reader in readers.keys.sorted() where readers[reader]?.awaitsFreshness == true {
                fail(reader, .mustBePrivate)
            }
            return
        }
        if case .refused(let status) = verdict, let request, asksAnew(after: status, of: request.url) { return }
        switch verdict {
        case .notModified where Confirmation.confirmed([representation.info.validator], by: head.fields).isEmpty:
            note(.originInvalid, "the origin confirms something else than what is stored")
        case .notModified, .whole:
            noteConfirmed(status: head.status)
            representation.info.checked = wallClock
            representation.info.fields = Confirmation.freshened(
                representation.info.fields, by: stored(head, of: request))
            representation.info.variant =
                Variant(
                    answer: representation.info.fields, request: request?.callerFields ?? fields)?.text
            representations[number] = representation
            if representation.isCommitted { effects.append(.commit(representation: number, representation.info)) }
            trouble = nil
            releaseFreshness(to: number)
        case .changed(let difference, let length, let servesRanges):
            guard storable(head) else {
                note(.originInvalid, "the origin answered with a page instead of media")
                return
            }
            trouble = nil
            noteConfirmed(status: head.status)
            effects.append(.event(.generationChanged(key: key.text, difference)))
            let new = addRepresentation(head, request, length: length, servesRanges: servesRanges)
            supersede(number)
            releaseFreshness(to: new)
        case .refused(let status) where status == 404 || status == 410 || status == 401 || status == 403:
            for reader in readers.keys.sorted() where readers[reader]?.awaitsFreshness == true {
                fail(reader, CacheError(.originRefused(status: status), "the origin answered \(status)"))
            }
        case .busy(let status, let retryAfter):
            note(CacheError(.originRefused(status: status), "the origin answered \(status)", retryAfter: retryAfter))
            if [500, 502, 503, 504].contains(status) { standInAtOnce(status: status) }
        default:
            note(.originUnreachable, "the origin could not confirm what is stored (\(head.status))")
        }
    }

    /// Whether a representation may be used for a request with those fields.
    func reuse(of representation: Representation, by request: HTTPFields) -> ReuseRule {
        ReuseRule(
            stored: freshness(of: representation), request: RequestCacheControl(request), now: wallClock)
    }

    private mutating func releaseFreshness(to number: Int) {
        for reader in readers.keys.sorted() where readers[reader]?.awaitsFreshness == true {
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
