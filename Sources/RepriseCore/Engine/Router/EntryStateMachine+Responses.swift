import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// What the origin's answers mean for representations, transfers and readers.
extension EntryStateMachine {
    /// Something came from the origin. What an earlier request still says is dropped.
    mutating func received(_ id: RequestID, _ event: OriginEvent) {
        if let (request, representation) = revalidation.inFlight, request.id == id {
            receivedConfirmation(request, representation, event)
            return replan()
        }
        guard let transfer = transfers.first(where: { $0.request?.id == id }), let request = transfer.request else {
            return
        }
        switch event {
        case .interim(let head):
            return handOn(interim: head, request, among: transfer.readers.compactMap { readers[$0] })
        case .head(let head): receivedHead(transfer, request, head)
        case .body(let chunk): receivedBody(transfer, request, chunk)
        case .end(let isDelimited, let trailers):
            receivedEnd(transfer, request, isDelimited: isDelimited, trailers: trailers)
        case .failed(let failure): requestFailed(transfer, failure)
        }
        // A body that goes on as planned needs no new plan for every chunk, unless another transfer has no request.
        if case .body = event, transfer.request?.isDemanding == true, !transfers.contains(where: { $0.request == nil })
        {
            return
        }
        replan()
    }

    private mutating func receivedConfirmation(
        _ request: OriginRequestState, _ id: RepresentationID, _ event: OriginEvent
    ) {
        switch event {
        case .interim(let head): handOn(interim: head, request, among: readers.awaitingValidation)
        case .head(let head):
            leave(.note(.firstByte(request.receivedHead(now: now)), origin: request.slot.origin))
            revalidated(request, id, head)
        case .body: break
        // A body where none was expected: the head has said it all already.
        case .end: endRevalidation()
        case .failed(let failure): confirmationFailed(failure)
        }
    }

    private mutating func receivedHead(
        _ transfer: TransferState, _ request: OriginRequestState, _ answer: OriginResponseHead
    ) {
        let head = answer.codedWhole
        transfer.noteProgress(now: now)
        leave(.note(.firstByte(request.receivedHead(now: now)), origin: request.slot.origin))
        if passesOn(request, head, besides: transfer.tried) { return askElsewhere(transfer, request) }
        let representation = representations[transfer.representation] ?? adopted(by: transfer)
        if let representation, selector.isOtherVariant(representation, request.sentFields) {
            return withhold(
                from: request, transfer, as: selector.redirect(for: request.sentFields, from: representation))
        }
        let judge = judge(for: request, representation, trial: transfer.trial)
        let verdict = judge.verdict(head)
        noteVerdict(verdict, request)
        if let representation, !representation.isPrivate, !selector.mayShare(head, to: request.sentFields, verdict) {
            return withhold(from: request, transfer, as: .alone)
        }
        let isConfirmed = judge.isConfirmed(by: head, strongly: true)
        if handOn(transfer, request, head, verdict, representation) { return }
        switch verdict {
        case .part, .whole:
            if let representation, isPage(head, insteadOf: representation), !isConfirmed,
                head.status == 200 || !transfer.isContinuationConfirmed
            {
                return refusePage(transfer, head, representation)
            }
            let trustsTags = trustsEntityTags(of: request.slot.origin)
            guard transfer.agrees(with: Validator(fields: head.fields), trustsTags: trustsTags) else {
                endRequest(of: transfer)
                return ask(transfer)
            }
        default: break
        }
        switch verdict {
        case .part(let range, let total):
            receivedPart(transfer, request, head, representation, judge, range, total: total, isConfirmed: isConfirmed)
        case .whole(let length):
            receivedWhole(
                transfer, request, head, representation, judge, length: length, isConfirmed: isConfirmed)
        case .changed(let difference, let length, let servesRanges):
            if let representation {
                changed(
                    transfer, request, head, representation, difference, length: length, servesRanges: servesRanges)
            }
        case .notModified:
            let expected = Mismatch.Value.status(request.asked == nil ? 200 : 206)
            reject(
                transfer, Mismatch(expected: expected, got: .status(304), "304 to a request without a condition"))
        case .pastEnd(let length):
            pastEnd(transfer, request, representation, length, isConfirmed: isConfirmed)
        case .refused(let status): refused(transfer, request, status, fields: head.fields)
        case .busy(let status, let retryAfter) where isLimitOfOne(request, status, retryAfter):
            refused(transfer, request, status, retryAfter: retryAfter)
        case .busy(let status, let retryAfter):
            let offset = self.head(of: transfer)
            finish(transfer)
            originIsBusy(request, status, retryAfter: retryAfter, at: offset)
        case .invalid(let mismatch): reject(transfer, mismatch)
        }
    }

    /// A URL that was answered by something better than a refusal is good.
    mutating func noteVerdict(_ verdict: ResponseJudge.Verdict, _ request: OriginRequestState) {
        switch verdict {
        case .part, .whole, .changed, .notModified, .pastEnd:
            renewal.accepted(request.url)
            selector.accepted(request.url)
        case .refused, .busy, .invalid: break
        }
    }

    /// A part of the resource comes.
    private mutating func receivedPart(
        _ transfer: TransferState, _ request: OriginRequestState, _ head: OriginResponseHead,
        _ representation: Representation?, _ judge: ResponseJudge, _ range: ByteRange, total: Int64?,
        isConfirmed: Bool
    ) {
        let evidence = evidence(of: transfer, isConfirmed: isConfirmed)
        if let representation, evidence == .nothing {
            if !isBlank(representation) || isAlien(head, to: representation, judge, besides: transfer) {
                // Asked for before another transfer showed the representation, or by a condition of which nothing shows that it
                // was heeded: the bytes decide, where they may.
                guard environment.sameness.policy(for: url.host) == .strict else {
                    return compareBytes(of: transfer, .noValidator)
                }
                finish(transfer)
                return giveUp(representation, for: transfer.readers)
            }
            if isAnother(head, total, than: representation, judge, request, transfer) {
                return changed(
                    transfer, request, head, representation, .unconfirmed(representation.info), length: total,
                    servesRanges: true)
            }
        }
        accept(transfer, request, head, representation, evidence, length: total, servesRanges: true)
        beginBody(transfer, at: range.lowerBound, end: range.upperBound)
    }

    /// All of the resource from 0 comes.
    private mutating func receivedWhole(
        _ transfer: TransferState, _ request: OriginRequestState, _ head: OriginResponseHead,
        _ representation: Representation?, _ judge: ResponseJudge, length: Int64?, isConfirmed: Bool
    ) {
        if let representation, request.asked != nil, representation.info.servesRanges,
            isElsewhere(representation, request.slot.origin),
            isWorthTrial(
                transfer, representation, Validator(fields: head.fields), length: length, at: request.slot.origin)
        {
            // Not a host without ranges, but one that does not know the condition.
            return compareBytes(of: transfer, .otherHost)
        }
        if let representation, !isConfirmed, !isBlank(representation), !isComparable(transfer) {
            // Nothing says that it is what is held, and what is held cannot be compared with it on the way.
            if !transfer.isSequential, isComparableFromStart(representation) {
                // Asked again from the start, the stored beginning can be.
                representation.learn(servesRanges: false, now: now)
                endRequest(of: transfer)
                rebase(transfer)
                return ask(transfer)
            }
            let difference = Mismatch(
                expected: .media(contentType: representation.info.fields["Content-Type"]), got: .status(200),
                "the origin sends everything anew, with nothing that shows it to be the same")
            return changed(
                transfer, request, head, representation, difference, length: length, servesRanges: false)
        }
        let evidence = evidence(of: transfer, isConfirmed: isConfirmed)
        if let representation, evidence == .nothing {
            if isAnother(head, length, than: representation, judge, request, transfer) {
                return changed(
                    transfer, request, head, representation, .unconfirmed(representation.info), length: length,
                    servesRanges: false)
            }
            // Nothing of an empty one can be compared with what others bring.
            if length == 0, representation.end != 0 {
                finish(transfer)
                return giveUp(representation, for: transfer.readers)
            }
        }
        accept(transfer, request, head, representation, evidence, length: length, servesRanges: false)
        rebase(transfer)
        // Where a validator says that it is what is held, it ends where that does.
        beginBody(transfer, at: 0, end: length ?? (isConfirmed ? representation?.info.length : nil))
    }

    /// The first bytes of a representation are there: what others have brought for it, or are about to, is asked for again
    /// where no validator shows that it goes on with these. What it was compared with before is gone.
    mutating func compareOthers(than transfer: TransferState) {
        guard comparesBytes else { return }
        for other in transfers where other.id != transfer.id && other.representation == transfer.representation {
            let isBelieved = other.request?.evidence == .nothing || other.request?.evidence == .bytes
            if isBelieved || other.isContinuationConfirmed { compareBytes(of: other, .noValidator) }
        }
    }

    /// While a first answer was under way another transfer may have shown the representation: it is the same resource.
    private func adopted(by transfer: TransferState) -> Representation? {
        guard let newest = representations.newest, newest.isShareable else { return nil }
        transfer.join(newest.id)
        return newest
    }

    private mutating func accept(
        _ transfer: TransferState, _ request: OriginRequestState, _ head: OriginResponseHead, _ held: Representation?,
        _ evidence: OriginRequestState.Evidence, length: Int64?, servesRanges: Bool
    ) {
        if let held {
            transfer.settle(in: held.id)
            // Where only its coming before any byte makes it this one's, it has to show that where another's come first.
            request.accept(evidence)
            if evidence == .validator { representations.noteShown(by: request.id) }
            // Everything, where no range was asked for, says nothing of ranges.
            if servesRanges || request.asked != nil { held.learn(servesRanges: servesRanges, now: now) }
            if held.info.length == nil, let length {
                if transfer.isComparing || request.isUnconfirmed {
                    request.announce(length: length)
                } else {
                    learn(length: length, of: held)
                }
            }
            return bindUnbound(to: held, for: request)
        }
        let isForRequester = !selector.mayShare(head, to: request.sentFields)
        let new = makeRepresentation(
            head, request, length: length, servesRanges: servesRanges,
            for: isForRequester ? .only(request.requester) : .everybody)
        transfer.settle(in: new.id)
        if isForRequester, !isPrivate {
            // Not to be shared: it belongs to the reader whose fields it was asked with, the others ask for themselves.
            for reader in readers where reader.id != request.requester && reader.representation == nil {
                redirect(reader, .alone)
            }
            leaveTable()
        }
        noteAnswer(request, status: head.status)
        bindUnbound(to: new, for: request)
    }

    mutating func beginBody(_ transfer: TransferState, at position: Int64, end: Int64?) {
        guard let request = transfer.request else { return }
        request.beginBody(at: position, end: end)
        if end == position { receivedEnd(transfer, request, isDelimited: true) } else { demand(transfer) }
    }

    /// The origin sends everything from 0: the transfer begins anew there.
    mutating func rebase(_ transfer: TransferState) {
        transfer.becomeSequential()
        if head(of: transfer) > 0 { restart(transfer, at: 0) }
        // Others that fetch the same bytes are not needed: this one brings them all.
        for other in transfers where other.id != transfer.id && other.representation == transfer.representation {
            finish(other)
        }
    }

    /// A transfer goes on elsewhere, or for another representation: what it has brought stays with its buffer.
    mutating func restart(_ transfer: TransferState, at offset: Int64) {
        let representation = representations[transfer.representation]
        guard let buffer = transfer.restart(at: offset) else { return }
        buffers.release(buffer)
        if let representation { write(representation) }
    }
}
