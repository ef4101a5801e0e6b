import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Asking whether what is stored is still good, where freshness is HTTP's.
extension EntryStateMachine {
    /// Readers that may not use what is stored before the origin has confirmed it share one conditional request.
    mutating func startRevalidation() {
        var awaiting = readers.awaitingValidation
        guard revalidation.background != nil || !awaiting.isEmpty else { return revalidation.forgetTried() }
        guard let offered = representations.offered else {
            // There is nothing to be confirmed any more: they begin anew.
            revalidation.forgetBackground()
            for reader in awaiting { reader.unbind() }
            return
        }
        // The one they waited for may have been replaced by one for other request fields.
        awaiting = awaiting.filter { belongs($0, to: offered) }
        guard revalidation.background != nil || !awaiting.isEmpty, mayAsk() else { return }
        let (place, location) = origin(besides: revalidation.tried)
        if let slot = revalidation.slot, slot.origin.octets != location.origin.octets { returnUnusedSlots() }
        guard let slot = revalidation.slot else {
            guard revalidation.isIdle else { return }
            let ticket: SlotTicket = makeID()
            revalidation.awaitSlot(ticket, now: now)
            return leave(.acquireSlot(ticket, origin: location.origin))
        }
        let requester = awaiting.first
        let caller = requester?.caller ?? revalidation.background ?? caller
        var fields = ResponseSelector.allowed(caller, at: url)
        fields["Accept-Encoding"] = codings(fields, isHandedOn: requester?.awaitsAnyAnswer ?? true, beside: offered)
        for line in Confirmation.conditions([offered.info.validator]).lines { fields[line.name] = line.value }
        let request = OriginRequestState(
            id: makeID(), url: url, place: place, location: location, isOneOfSeveral: hasMirrors, slot: slot,
            requester: requester?.id, caller: caller, asked: nil, wantedFrom: 0,
            isConditional: true, isCheck: false, now: now)
        revalidation.begin(request, of: offered.id, restingUntil: now.adding(tuning.longestRetry))
        send(request, fields, range: "revalidate")
    }

    /// The head of a confirmation came.
    mutating func revalidated(_ request: OriginRequestState, _ id: RepresentationID, _ head: OriginResponseHead) {
        guard let representation = representations[id] else { return endRevalidation() }
        if passesOn(request, head, besides: revalidation.tried) { return confirmElsewhere(request) }
        revalidation.forgetTried()
        let judge = judge(for: request, representation, trial: nil)
        let verdict = judge.verdict(head)
        noteVerdict(verdict, request)
        switch verdict {
        case .part, .whole, .changed, .notModified:
            guard selector.isOtherVariant(representation, request.sentFields) else { break }
            // What was sent asks for another variant: neither this one is confirmed by that, nor what comes is for who waits.
            endRevalidation()
            for reader in readers.awaitingValidation { redirect(reader, .alone) }
            return
        case .pastEnd, .refused, .busy, .invalid: break
        }
        if handOn(request, head, verdict, insteadOf: representation) { return }
        let mayShare = selector.mayShare(head, to: request.sentFields, verdict)
        // A full answer is to be used itself (RFC 9111 §4.3.3): where it has the same bytes, what is stored of them is.
        let isConfirmed = judge.isConfirmed(by: head, strongly: head.status == 200)
        switch verdict {
        case .whole(let length) where mayShare && !isConfirmed && !isPage(head, insteadOf: representation):
            return replaced(
                request, representation, head, length: length, servesRanges: representation.info.servesRanges, nil)
        case .changed(let difference, let length, let servesRanges)
        where head.status == 200 && mayShare && !isPage(head, insteadOf: representation):
            // No range was asked for: that none is offered says nothing.
            return replaced(
                request, representation, head, length: length,
                servesRanges: servesRanges || representation.info.servesRanges, difference)
        default: break
        }
        endRevalidation()
        guard mayShare else {
            // By the answer's own word others would not have what is stored either: they ask first, too.
            if selector.forbidsSharing(head), !isPage(head, insteadOf: representation) {
                head.status == 304 || isConfirmed ? invalidate(representation) : outdate(representation)
            }
            for reader in readers.awaitingValidation { redirect(reader, .alone) }
            return
        }
        if case .refused(let status) = verdict, renews(after: status, request) { return }
        switch verdict {
        case .notModified where Confirmation.confirmed([representation.info.validator], by: head.fields).isEmpty:
            // It confirms something else than what is stored: that is asked for without a condition (RFC 9111 §4.3.4).
            for reader in readers.awaitingValidation { reader.unbind() }
            giveUp(representation)
        case .notModified: confirmed(representation, head, request)
        case .whole where isConfirmed: confirmed(representation, head, request)
        case .whole, .changed: failed(.originInvalid, "the origin answered with a page instead of media")
        case .refused(let status) where (300...499).contains(status):
            // It has answered: what is stale does not stand in (RFC 9111 §4.3.3).
            let error = CacheError(answered: status, location: RedirectRule.location(status, head.fields))
            refuse(answered(by: request), request, error, status: status)
        case .busy(let status, let retryAfter) where isLimitOfOne(request, status, retryAfter):
            let error = CacheError(answered: status, retryAfter: retryAfter)
            refuse(answered(by: request), request, error, status: status)
        case .busy(let status, let retryAfter):
            originIsBusy(request, status, retryAfter: retryAfter, at: nil)
            if CacheError(answered: status).meansAbsence { standInAtOnce(status: status) }
        case .refused(let status):
            failed(.originRefused(status: status), "the origin could not confirm what is stored (\(status))")
        default: failed(.originInvalid, "the origin could not confirm what is stored (\(head.status))")
        }
    }

    /// What is stored is asked about before it is used again, also after a restart.
    mutating func invalidate(_ representation: Representation) {
        representation.invalidate()
        rewriteDescription(of: representation)
    }

    /// The origin was seen to have another version, which may never be named, as it may come in part: the same of this one, which
    /// only stands in for an origin that is gone.
    mutating func outdate(_ representation: Representation) {
        if selector.isSharedHTTP, representation.outdate() { rewriteDescription(of: representation) }
    }

    private mutating func confirmed(
        _ representation: Representation, _ head: OriginResponseHead, _ request: OriginRequestState
    ) {
        representations.noteShown(by: request.id)
        noteConfirmed(by: request, status: head.status)
        freshen(
            representation, by: head, to: request.sentFields, checked: wallClock(at: request.sentAt),
            isWhole: head.status == 200)
        releaseValidated(to: representation, by: request)
    }

    /// The origin's word about a representation brings it new fields.
    /// - Parameter isWhole: Whether those are all that it has.
    private mutating func freshen(
        _ representation: Representation, by head: OriginResponseHead, to sent: HTTPFields, checked: Int64,
        isWhole: Bool
    ) {
        if representation.isSuperseded {
            // Where its successor is there, the origin was asked before it had that.
            guard representations.offered === representation else { return }
            representation.restore()
        }
        // What is one user's by the answer's own word goes before what is kept says otherwise.
        let new = StoringRule.kept(storedFields(head))
        let stored = representation.info.fields
        let fields = StoringRule.kept(
            isWhole ? Confirmation.replaced(stored, by: new) : Confirmation.freshened(stored, by: new))
        representation.confirm(fields: fields, variant: selector.variant(of: fields, to: sent), checked: checked)
        rewriteDescription(of: representation)
    }

    /// The origin has answered a client's HEAD: what is stored is confirmed by that, or has to be (RFC 9111 §4.3.5). A page in
    /// place of media says nothing, nor does what was asked for before what is stored was.
    /// - Parameters:
    ///   - fields: Those of the request that choose an answer.
    ///   - sentAt: When it was sent, in nanoseconds.
    mutating func answeredHead(_ head: OriginResponseHead, to fields: HTTPFields, sentAt: Int64) {
        let asked = wallClock(at: sentAt)
        guard lifecycle.isOpen, selector.isSharedHTTP, head.status == 200, let held = representations.offered,
            held.isCommitted, held.info.checked >= 0, asked >= held.info.checked,
            !selector.isOtherVariant(held, fields),
            selector.mayShare(head, to: fields), !isPage(head, insteadOf: held),
            head.fields.contentCoding.map({ $0.octets == held.info.fields.contentCoding?.octets }) ?? true,
            let isSame = Confirmation.isSame(held.info, head.fields, length: ResponseJudge.bodyLength(head))
        else { return }
        if !isSame || held.info.status != 200 {
            invalidate(held)
        } else {
            freshen(held, by: head, to: fields, checked: asked, isWhole: false)
        }
    }

    /// One of several origins has not answered: the next is asked.
    mutating func confirmElsewhere(_ request: OriginRequestState) {
        revalidation.failed(at: request.place)
        confirmAgain(request)
    }

    /// The request of a confirmation is over without a word that counts: another is sent.
    mutating func confirmAgain(_ request: OriginRequestState) {
        if let request = revalidation.end() { close(request) }
        if request.requester == nil { revalidation.wantAgain(for: request.caller) }
        replan()
    }

    /// Ends the request of a confirmation.
    mutating func endRevalidation() {
        revalidation.forgetTried()
        if let request = revalidation.end() { close(request) }
    }

    /// The answer to a confirmation is another representation: its body, which comes with it, is used.
    private mutating func replaced(
        _ request: OriginRequestState, _ old: Representation, _ head: OriginResponseHead, length: Int64?,
        servesRanges: Bool, _ difference: Mismatch?
    ) {
        if representations.isOutdated(request.id) { return confirmAgain(request) }
        _ = revalidation.end()
        noteConfirmed(by: request, status: head.status)
        if let difference { tell(.generationChanged(key: key.text, difference)) }
        let new = makeRepresentation(head, request, length: length, servesRanges: servesRanges, for: .everybody)
        let transfer = TransferState(
            id: makeID(), representation: new.id, start: 0, isSequential: !servesRanges,
            requestIndex: tuning.boundedRequests, readers: request.requester.map { [$0] } ?? [], goal: 0, now: now,
            continuation: continuationMaker)
        transfer.adopt(request)
        if request.requester == nil { transfer.noteWanted(false, head: 0, now: now) }
        transfers[transfer.id] = transfer
        supersede(old)
        releaseValidated(to: new, by: request)
        beginBody(transfer, at: 0, end: length)
    }

    /// The readers that wait for the origin's word, and that this one counts for.
    private func answered(by request: OriginRequestState) -> [Reader] {
        readers.awaitingValidation.filter { selector.counts(request, for: $0) }
    }

    /// What was stored is confirmed or replaced for all who wait for that.
    private mutating func noteConfirmed(by request: OriginRequestState, status: Int) {
        revalidation.confirmed()
        backoff.reset()
        renewal.reset()
        let awaiting = answered(by: request)
        for reader in awaiting {
            reader.note {
                $0.forwardStatus = status
                $0.isCollapsed = reader.id != awaiting.first?.id
            }
        }
    }

    private mutating func releaseValidated(to representation: Representation, by request: OriginRequestState) {
        for reader in answered(by: request) {
            reader.confirm()
            if admit(reader, to: representation) { give(reader, representation.id) } else { wake(reader) }
        }
    }

    // MARK: What is stale

    /// Lets a reader have stale bytes where RFC 9111 §4.2.4 allows it.
    mutating func serveStale(_ reader: Reader) -> Bool {
        guard let offered = representations.offered,
            selector.reuse(of: offered, by: reader.fields, wallClock: wallClock).mayStandIn
        else { return false }
        // An answer may have shown meanwhile that it is for other request fields.
        guard belongs(reader, to: offered) else { return true }
        reader.restartWait(now: now)
        reader.note { $0.detail = "origin-failed" }
        give(reader, offered.id)
        return true
    }

    /// The origin cannot confirm what is stored: readers that it is allowed to are given it without a second try.
    mutating func standInAtOnce(status: Int?) {
        guard let offered = representations.offered else { return }
        for reader in readers.awaitingValidation {
            guard selector.reuse(of: offered, by: reader.fields, wallClock: wallClock).standsInAtOnce else { continue }
            if serveStale(reader) { reader.note { $0.forwardStatus = status } }
        }
    }
}
