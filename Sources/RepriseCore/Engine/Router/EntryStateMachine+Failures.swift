import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// The origin will not answer, or cannot now.
extension EntryStateMachine {
    // MARK: Back-off

    var pauses: OriginBackoff.Pauses { OriginBackoff.Pauses(first: tuning.firstRetry, longest: tuning.longestRetry) }

    /// Something went wrong at the origin, at the byte `offset`: it is tried again later.
    mutating func failed(_ error: CacheError, at offset: Int64? = nil, closedAt end: Int64? = nil) {
        backOff(after: error, at: offset, closedAt: end)
        tell(.originError(key: key.text, error))
    }

    /// The origin is tried again later, after what was told of before, or is no error of the origin's.
    mutating func backOff(after error: CacheError, at offset: Int64? = nil, closedAt end: Int64? = nil) {
        backoff.failed(
            error, at: offset, closedAt: end, now: now, pauses: pauses, retryAfter: wait(error.retryAfter ?? 0),
            jitter: environment.queues.randomFraction())
    }

    mutating func failed(_ code: CacheError.Code, _ message: String, at offset: Int64? = nil) {
        failed(CacheError(code, message), at: offset)
    }

    /// How long a host is left alone that asked for so many seconds: the field may hold any number, a day is the most.
    func wait(_ retryAfter: Int64) -> Int64 {
        min(max(0, retryAfter), 86_400).multiplied(by: TransferTuning.second)
    }

    /// The origin cannot answer now. Where it asked to be left alone the next request waits, in any entry: a server that has too
    /// many requests means all of them (RFC 6585 §4), any other status this resource.
    mutating func originIsBusy(_ request: OriginRequestState, _ status: Int, retryAfter: Int64?, at offset: Int64?) {
        failed(CacheError(answered: status, retryAfter: retryAfter), at: offset)
        if let retryAfter { noteHoldOff(request, status, retryAfter: retryAfter) }
    }

    /// Whether an answer says that one user has asked too often, not that the host has too many requests. RFC 6585 leaves open
    /// who is counted: where many share the cache, those whose credentials were sent; the cache's own are everybody's.
    func isCountedByUser(_ request: OriginRequestState, _ status: Int) -> Bool {
        guard status == 429, environment.freshness == .http else { return false }
        if isPrivate { return true }
        let (sent, own) = (request.sentFields, environment.originFields)
        return EntryStateMachine.credentials.contains { sent[$0] != nil && !sent.hasSame($0, as: own) }
    }

    private static let credentials = ["Authorization", "Cookie"]

    /// The same, for longer than a reader waits and while readers of other users wait: those go on, as where the origin refuses
    /// one user.
    func isLimitOfOne(_ request: OriginRequestState, _ status: Int, _ retryAfter: Int64?) -> Bool {
        guard isCountedByUser(request, status), wait(retryAfter ?? 0) > tuning.retryDeadline else { return false }
        return readers.contains { reader in
            reader.isWaiting
                && EntryStateMachine.credentials.contains { !reader.fields.hasSame($0, as: request.callerFields) }
        }
    }

    /// The origin asked to be left alone.
    mutating func noteHoldOff(_ request: OriginRequestState, _ status: Int, retryAfter: Int64) {
        if isCountedByUser(request, status) { return }
        let error = CacheError(answered: status, retryAfter: retryAfter)
        leave(.note(.holdOff(error), origin: request.slot.origin))
    }

    /// An answer that must not be used; tried again, as the next one may be better.
    mutating func reject(_ transfer: TransferState, _ mismatch: Mismatch) {
        let offset = head(of: transfer)
        finish(transfer)
        tell(.mismatch(key: key.text, mismatch))
        failed(.originInvalid, "the origin's answer cannot be used: \(mismatch)", at: offset)
    }

    /// A request came to nothing, or ended too soon: retried from the first byte that is missing.
    /// - Parameter end: Where its answer ended, if only the closed connection told that it does.
    mutating func requestFailed(_ transfer: TransferState, _ failure: OriginFailure, closedAt end: Int64? = nil) {
        if let request = transfer.request {
            noteFailure(of: request, failure)
            // Also where an answer began, and brought nothing that was missing: each begins like that.
            let hasBrought = request.hasHead && request.hasBrought(upTo: head(of: transfer))
            if !hasBrought, hasAnother(than: request, besides: transfer.tried) {
                return askElsewhere(transfer, request)
            }
        }
        let offset = head(of: transfer)
        finish(transfer)
        failed(CacheError(failure), at: offset, closedAt: end)
        failFinally(failure)
    }

    /// One of several origins has not answered: the next is asked.
    mutating func askElsewhere(_ transfer: TransferState, _ request: OriginRequestState) {
        transfer.failed(at: request.place)
        endRequest(of: transfer)
        ask(transfer)
    }

    mutating func confirmationFailed(_ failure: OriginFailure) {
        if let request = revalidation.inFlight?.request {
            noteFailure(of: request, failure)
            if !request.hasHead, hasAnother(than: request, besides: revalidation.tried) {
                return confirmElsewhere(request)
            }
        }
        endRevalidation()
        failed(CacheError(failure))
        failFinally(failure)
        if !failure.isFinal { standInAtOnce(status: nil) }
    }

    /// To ask again, or to make do with what is stale, would not make it right.
    private mutating func failFinally(_ failure: OriginFailure) {
        guard failure.isFinal else { return }
        for reader in readers where reader.isWaiting { fail(reader, CacheError(failure)) }
    }

    // MARK: Refusals

    mutating func refused(
        _ transfer: TransferState, _ request: OriginRequestState, _ status: Int, retryAfter: Int64? = nil,
        fields: HTTPFields = [:]
    ) {
        let (offset, isLaterTry) = (head(of: transfer), transfer.isSecondTry || transfer.boundPlace != nil)
        finish(transfer)
        let error = CacheError(
            answered: status, retryAfter: retryAfter, location: RedirectRule.location(status, fields))
        // Where a redirect leads is an answer, no trouble.
        if error.location == nil { tell(.originError(key: key.text, error)) } else { redirected(transfer, request) }
        if renews(after: status, request, at: offset, isLaterTry: isLaterTry) { return }
        let served = transfer.readers.compactMap { readers[$0] }
        let concerned = readers.filter { $0.representation == nil || transfer.readers.contains($0.id) }
        // That the next is asked is no failure: readers that wait for an answer of their own would be told of it.
        if refuse(concerned, request, error, status: status) { return }
        for reader in served where reader.failure == nil && reader.fields == request.callerFields {
            reader.waitForNeed()
        }
    }

    /// The origin answers with a redirect, which is not followed: what is stored has to be confirmed before it is given to
    /// others, and each other user asks for itself, at the same time.
    private mutating func redirected(_ transfer: TransferState, _ request: OriginRequestState) {
        guard environment.freshness == .http else { return }
        if let representation = representations[transfer.representation] {
            invalidate(representation)
        }
        for reader in readers where reader.isUnbound && reader.isAwaiting && !selector.concerns(reader, request) {
            redirect(reader, .alone)
        }
    }

    /// The origin refused a request: that is told to the readers it was sent for. The others go on, with requests of their own.
    /// - Returns: Whether another URL is to be asked, as one of them came with it.
    @discardableResult
    mutating func refuse(
        _ concerned: [Reader], _ request: OriginRequestState, _ error: CacheError, status: Int
    ) -> Bool {
        noteRefusal(of: request)
        let isAskedOtherwise = goOnOtherwise(than: request.url)
        for reader in concerned where reader.isWaiting && selector.concerns(reader, request) {
            if isAskedOtherwise, newest(reader.caller.url) != request.url { continue }
            reader.note { $0.forwardStatus = status }
            fail(reader, error)
        }
        return isAskedOtherwise
    }

    /// The origin refused a request: what others ask with comes before that.
    mutating func noteRefusal(of request: OriginRequestState) {
        selector.refused(request.callerFields)
        selector.refused(Caller(request.callerFields, for: request.url))
    }

    /// Has a URL asked that a reader came with beside one that was refused, of one that waits before others. Each is asked once,
    /// until one of them is answered. `false` where there is none.
    @discardableResult
    mutating func goOnOtherwise(than refused: OriginURL) -> Bool {
        if url != refused { return true }
        func mayDo(_ reader: Reader) -> Bool {
            let own = newest(reader.caller.url)
            return !reader.hasEnded && own != refused && !selector.hasRefused(reader.fields, at: own)
        }
        guard let reader = readers.first(where: { $0.isWaiting && mayDo($0) }) ?? readers.first(where: mayDo) else {
            return false
        }
        url = newest(reader.caller.url)
        caller = reader.caller
        selector.refused(Caller(reader.fields, for: url))
        return true
    }

    /// The URL that stands for one a reader came with.
    func newest(_ url: OriginURL) -> OriginURL { environment.freshURLs?.newest(url) ?? url }

    /// An answer is not for the reader it came for, or for that reader alone: nothing of it is used.
    mutating func withhold(from request: OriginRequestState, _ transfer: TransferState, as redirect: Redirect?) {
        finish(transfer)
        guard let redirect, let reader = request.requester.flatMap({ readers[$0] }) else { return }
        if redirect == .alone, reader.isAnnounced { selector.answeredAlone(reader.fields) }
        self.redirect(reader, redirect)
    }

    /// - Parameter isConfirmed: Whether the answer's validator is the held one's.
    mutating func pastEnd(
        _ transfer: TransferState, _ request: OriginRequestState, _ held: Representation?, _ length: Int64?,
        isConfirmed: Bool
    ) {
        let asked = request.asked
        if asked?.lowerBound == 0, length ?? 0 == 0 {
            // Nothing satisfies a range of an empty resource (RFC 9110 §14.1.2): asked for whole, it is answered.
            endRequest(of: transfer)
            transfer.becomeSequential()
            return ask(transfer)
        }
        let known = held?.info.length
        if let held, let length = length ?? asked?.lowerBound,
            holds(held, from: length) || isDenied(asked, known) && length != known
        {
            if hasAnother(than: request, besides: transfer.tried) { return askElsewhere(transfer, request) }
            return lengthChanged(transfer, held, .length(known ?? asked?.upperBound ?? length, length))
        }
        finish(transfer)
        if let held, known == nil, let head = asked?.lowerBound, head > 0 {
            // An end is another version's as likely as this one's, where this one was not read up to there.
            let isReadUpTo = hasHad(held, head - 1)
            if let length {
                if isConfirmed || !comparesBytes || isReadUpTo && head == length {
                    return learn(length: length, of: held)
                }
            } else if isReadUpTo || isBlank(held) {
                held.infer(end: head)
                sniff(held, isAtEnd: true)
                write(held)
                return wakeWaiting()
            }
        }
        let error = CacheError(
            .rangeNotSatisfiable(length: length),
            "the resource ends before the wanted range\(length.map { " (\($0) bytes)" } ?? "")")
        for reader in transfer.readers.compactMap({ readers[$0] }) { fail(reader, error) }
    }

    /// Whether the origin has nothing where it had something.
    private func isDenied(_ asked: ByteRange?, _ known: Int64?) -> Bool {
        guard let asked, let known else { return false }
        return asked.lowerBound < known
    }

    /// Whether the byte at an offset is stored, in memory, or in a reader's hands.
    private func hasHad(_ representation: Representation, _ offset: Int64) -> Bool {
        buffers.heldEnd(representation.id, from: offset) != nil
            || representation.generation?.askClaimed { $0.contains(offset) } ?? false
            || readers.reading(representation.id).contains { $0.handed?.contains(offset) ?? false }
    }

    /// Whether a byte at or after an offset is stored or in memory.
    private func holds(_ representation: Representation, from offset: Int64) -> Bool {
        buffers.hasBytes(of: representation.id, from: offset)
            || representation.generation?.askClaimed({ $0.upperBound }) ?? 0 > offset
    }
}

extension OriginFailure {
    /// Whether asking again cannot make it right.
    fileprivate var isFinal: Bool { kind == .untrusted || kind == .refused }
}

extension CacheError {
    /// A request that came to nothing, as the cache says it.
    package init(_ failure: OriginFailure) {
        let code: Code =
            switch failure.kind {
            case .timedOut: .originTimedOut
            case .malformed: .originInvalid
            case .refused: .originForbidden
            case .unreachable, .interrupted, .untrusted, .exhausted: .originUnreachable
            }
        self.init(code, failure.message)
        cause = failure.cause
    }

    /// No resource is that long.
    static let beyondAnyResource = CacheError(
        .rangeNotSatisfiable(length: nil), "no resource has \(ResponseJudge.longestResource) bytes or more")
    /// The request wants only what is stored and may be used (RFC 9111 §5.2.1.7).
    static let onlyIfCached = CacheError(
        .originRefused(status: 504), "only what is stored was asked for, and not all of it is, or it is stale")
}
