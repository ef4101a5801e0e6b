import RepriseHTTP
import ReprisePlatform
import RepriseStorage

/// Answers that are not the resource: redirects, refusals, errors, content codings, pages in place of media. A reader that
/// tells a client of any answer is given them as they are (RFC 9110 §15, §7.7); for every other reader they mean what the other
/// files say.
///
/// What is stored of the resource stays what it is: such an answer is beside it, for the reader that asked. Where there is no
/// resource, one that may be stored and says for how long is stored, and given to all.
///
/// A cache of media (freshness `.immutable`) hands on only where there is no media to give: `isLastWord`.
extension EntryStateMachine {
    /// Hands the answer to a transfer's request on. `false` where it means what it means to readers of the resource.
    mutating func handOn(
        _ transfer: TransferState, _ request: OriginRequestState, _ head: OriginResponseHead,
        _ verdict: ResponseJudge.Verdict, _ held: Representation?
    ) -> Bool {
        let candidates = transfer.readers.compactMap { readers[$0] }
        if request.asked != nil, isCodedPart(head), taker(of: request, among: candidates) != nil {
            // Of a coded body only the whole can be handed on.
            endRequest(of: transfer)
            transfer.becomeSequential()
            ask(transfer)
            return true
        }
        guard isOther(head, verdict, than: held), let reader = taker(of: request, among: candidates),
            environment.freshness == .http || isLastWord(verdict, request, to: reader, beside: held)
        else { return false }
        let answer = makeAnswer(request, head, verdict, for: reader, beside: held)
        if held == nil {
            transfer.settle(in: answer.id)
        } else {
            restart(transfer, at: 0)
            transfer.fill(answer.id)
            request.becomesContent()
        }
        let others = candidates.filter { $0.id != reader.id && $0.isUnbound }
        if case .refused = verdict { noteRefusal(of: request) }
        noteAnswer(request, status: head.status)
        give(reader, answer.id)
        if case .busy(_, let retryAfter) = verdict, environment.freshness == .immutable {
            // The others wait for the next try.
            if !others.isEmpty { backOff(after: CacheError(answered: head.status, retryAfter: retryAfter)) }
        } else {
            share(answer, with: others, request)
        }
        if case .refused = verdict { goOnOtherwise(than: request.url) }
        rebase(transfer)
        beginBody(transfer, at: 0, end: length(of: head))
        return true
    }

    /// The same for the answer to a confirmation, whose body comes with it. What was stored instead of the resource is renewed
    /// also where no reader waits for it.
    mutating func handOn(
        _ request: OriginRequestState, _ head: OriginResponseHead, _ verdict: ResponseJudge.Verdict,
        insteadOf held: Representation
    ) -> Bool {
        guard isOther(head, verdict, than: held) else { return false }
        let reader = taker(of: request, among: readers.awaitingValidation)
        guard reader != nil || request.requester == nil && isForAll(head, request, beside: held) else { return false }
        if case .busy(let status, _) = verdict, let reader, CacheError(answered: status).meansAbsence,
            selector.reuse(of: held, by: reader.fields, wallClock: wallClock).mayStandIn
        {
            return false
        }
        _ = revalidation.end()
        let others = readers.awaitingValidation.filter { $0.id != reader?.id }
        let answer = makeAnswer(request, head, verdict, for: reader, beside: held)
        let transfer = TransferState(
            id: makeID(), representation: answer.id, start: 0, isSequential: true,
            requestIndex: tuning.boundedRequests, readers: reader.map { [$0.id] } ?? [], goal: 0, now: now,
            continuation: continuationMaker)
        transfer.adopt(request)
        if reader == nil { transfer.noteWanted(false, head: 0, now: now) }
        transfers[transfer.id] = transfer
        if let reader {
            reader.note { $0.forwardStatus = head.status }
            give(reader, answer.id)
        }
        share(answer, with: others, request)
        beginBody(transfer, at: 0, end: length(of: head))
        return true
    }

    /// Hands an interim answer on, in a shared cache, to the reader that the answer would be handed to.
    mutating func handOn(interim head: OriginResponseHead, _ request: OriginRequestState, among candidates: [Reader]) {
        guard environment.freshness == .http, let reader = taker(of: request, among: candidates) else { return }
        reader.receive(interim: head)
        wake(reader)
    }

    /// The reader that an answer is handed to: the one it was asked for; where that has left, another that would have asked the
    /// same. It takes any answer, and was told of none yet.
    private func taker(of request: OriginRequestState, among candidates: [Reader]) -> Reader? {
        if let requester = request.requester.flatMap({ readers[$0] }) {
            return requester.awaitsAnyAnswer ? requester : nil
        }
        guard request.requester != nil else { return nil }
        return candidates.first { $0.awaitsAnyAnswer && $0.fields == request.callerFields }
    }

    /// Whether media cannot be had for a reader by trying further: nothing of it is held, or in an entry of its own nothing of
    /// what it reads next, and a failure is the last before the reader would be told of one, with nothing to make do with.
    private func isLastWord(
        _ verdict: ResponseJudge.Verdict, _ request: OriginRequestState, to reader: Reader, beside held: Representation?
    ) -> Bool {
        guard held == nil || isPrivate && isStarving(reader), newest(reader.caller.url) == request.url else {
            return false
        }
        if case .refused = verdict { return true }
        guard superseded == nil else { return false }
        guard case .busy(_, let retryAfter) = verdict else { return true }
        return reader.answers == .next
            || backoff.isLastTry(
                waitsSince: reader.waitsSince, timeLimit: tuning.openDeadline, now: now, pauses: pauses,
                retryAfter: wait(retryAfter ?? 0))
    }

    private func isCodedPart(_ head: OriginResponseHead) -> Bool {
        head.status == 206 && head.fields.contentCoding != nil
    }

    /// Whether an answer is another than the resource, or than what is held of it.
    private func isOther(
        _ head: OriginResponseHead, _ verdict: ResponseJudge.Verdict, than held: Representation?
    ) -> Bool {
        switch verdict {
        // A fresh URL may be had instead.
        case .refused(let status): status != 304 && environment.freshURLs == nil
        case .busy: true
        case .invalid: head.status != 206 && (head.status != 200 || head.fields.contentCoding != nil)
        case .whole, .changed: head.status == 200 && held.map { isPage(head, insteadOf: $0) } ?? false
        case .part, .notModified, .pastEnd: false
        }
    }

    /// Whether such an answer is stored and given to all: it may be, is good for a while, and there is no resource that it would
    /// displace.
    private func isForAll(
        _ head: OriginResponseHead, _ request: OriginRequestState, beside held: Representation?
    ) -> Bool {
        // Who still reads what is held goes on with it.
        if let held, held.isResource || isComing(held, besides: request.id) { return false }
        return selector.isSharedHTTP && isWorthStoring(head) && selector.mayShare(head, to: request.sentFields)
    }

    /// Makes the representation of such an answer.
    private mutating func makeAnswer(
        _ request: OriginRequestState, _ head: OriginResponseHead, _ verdict: ResponseJudge.Verdict,
        for reader: Reader?, beside held: Representation?
    ) -> Representation {
        if case .busy(let status, let retryAfter?) = verdict {
            noteHoldOff(request, status, retryAfter: retryAfter)
        }
        if head.status >= 400 { tell(.originError(key: key.text, CacheError(answered: head.status))) }
        let isForAll = isForAll(head, request, beside: held)
        if let held {
            if isForAll {
                supersede(held)
            } else if (300...399).contains(head.status), held.isResource {
                // It is somewhere else now: who comes later asks first.
                invalidate(held)
            }
        }
        return makeRepresentation(
            head, request, length: length(of: head), servesRanges: false,
            for: isForAll ? .everybody : .only(reader?.id), isHandedOn: !isForAll)
    }

    /// Readers that waited for the same answer: it is theirs too, or each asks for itself, at the same time. In a cache of
    /// media those that ask otherwise wait on: what they are answered may be media, which is stored.
    private mutating func share(_ answer: Representation, with others: [Reader], _ request: OriginRequestState) {
        func asksTheSame(_ reader: Reader) -> Bool {
            reader.takesAnyAnswer && reader.fields == request.callerFields
                && newest(reader.caller.url) == request.url
        }
        for reader in others where environment.freshness == .http || asksTheSame(reader) {
            if selector.counts(request, for: reader) { reader.confirm() }
            if answer.isHandedOn { redirect(reader, .alone) }
        }
        if !answer.isHandedOn { bindUnbound(to: answer, for: request) }
    }

    private func length(of head: OriginResponseHead) -> Int64? {
        if head.status == 204 { return 0 }
        return ResponseJudge.bodyLength(head).flatMap { $0 <= ResponseJudge.longestResource ? $0 : nil }
    }
}

extension CacheError {
    /// What is stored, or answered, is not the resource, and a reader of bytes takes nothing else.
    init(_ answer: Representation) {
        if let coding = answer.info.fields.contentCoding, answer.info.status == 200 {
            self.init(.originInvalid, "the origin's answer is coded (\(coding)) though identity was asked for")
        } else {
            self.init(
                answered: answer.info.status,
                location: RedirectRule.location(answer.info.status, answer.info.fields))
        }
    }
}
