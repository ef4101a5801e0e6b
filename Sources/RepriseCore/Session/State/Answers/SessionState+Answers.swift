import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// What an answer's head means for representations and readers.
extension SessionState {
    /// Something came from the origin.
    mutating func received(_ id: Int, _ serial: Int, _ event: OriginEvent) {
        guard transfers[id]?.request?.serial == serial else { return }
        switch event {
        case .head(let head): receivedHead(id, head)
        case .body(let piece): receivedBody(id, piece)
        case .end(let isDelimited): receivedEnd(id, isDelimited: isDelimited)
        case .failed(let failure): requestFailed(id, failure)
        }
        // A body that goes on as planned needs no new plan for every chunk.
        if case .body = event, transfers[id]?.request?.isDemanding == true { return scheduleTick() }
        plan()
    }

    private mutating func receivedHead(_ id: Int, _ head: OriginResponseHead) {
        guard var request = transfers[id]?.request, let transfer = transfers[id] else { return }
        request.hasHead = true
        request.measuredFrom = now
        let now = now
        transfers[id]?.request = request
        transfers[id]?.lastProgress = now
        environment.hosts.note(firstByte: now - request.sentAt, of: request.origin)
        let representation = transfer.representation.flatMap { representations[$0] } ?? adoptable(id)
        if let representation, isOtherVariant(representation, request.callerFields) {
            keepFromVariant(id)
            return
        }
        let trust = trust(transfer, at: request.origin)
        let judge = ResponseJudge(
            asked: request.asked, held: representation?.held, trustsEntityTags: trust.entityTags,
            trustsDates: trust.dates, now: wallClock)
        let verdict = judge.verdict(head)
        switch verdict {
        case .part, .whole, .changed, .notModified, .pastEnd: noteAccepted(request.url)
        case .refused, .busy, .invalid: break
        }
        if request.isRevalidation {
            revalidated(id, head, verdict, isConfirmed: judge.isConfirmed(by: head, strongly: false))
            return
        }
        if let representation, !representation.isPrivate, !mayShare(head, request, verdict) {
            keepFromShared(id)
            return
        }
        switch verdict {
        case .part(let range, let total):
            if let representation, !transfer.continuation.isConfirmed, !judge.isConfirmed(by: head, strongly: true),
                environment.sameness.policy(for: url.host) != .lengthOnly, !isBlank(representation)
            {
                // Asked for before another transfer showed the representation, or by a condition of which nothing shows that
                // it was heeded: the bytes decide.
                endRequest(id)
                transfers[id]?.continuation.begin(.noValidator)
                return ask(id)
            }
            accept(id, head, representation, length: total, servesRanges: true)
            beginBody(id, at: range.lowerBound, end: range.upperBound)
        case .whole(let length):
            wholeBody(
                id, head, representation, length: length, isConfirmed: judge.isConfirmed(by: head, strongly: true))
        case .changed(let difference, let length, let servesRanges):
            changed(id, head, representation, difference, length: length, servesRanges: servesRanges)
        case .notModified:
            reject(
                id,
                Mismatch(
                    expected: .status(request.asked == nil ? 200 : 206), got: .status(304),
                    "304 to a request without a condition"))
        case .pastEnd(let length): pastEnd(id, representation, length)
        case .refused(let status): refused(id, status, head)
        case .busy(let status, let retryAfter):
            let error = CacheError(
                .originRefused(status: status), "the origin answered \(status)", retryAfter: retryAfter)
            let offset = self.head(of: transfer)
            finish(id)
            note(error, at: offset)
            noteHoldOff(request, status, error)
        case .invalid(let mismatch): reject(id, mismatch)
        }
    }

    /// All of the resource from 0 comes.
    private mutating func wholeBody(
        _ id: Int, _ head: OriginResponseHead, _ representation: Representation?, length: Int64?, isConfirmed: Bool
    ) {
        guard let transfer = transfers[id], let request = transfer.request else { return }
        if let representation, request.asked != nil, representation.info.servesRanges, isElsewhere(representation),
            isWorthTrial(id, representation, Validator(fields: head.fields), length: length)
        {
            // Not a host without ranges, but one that does not know the condition.
            return tryByOverlap(id, representation)
        }
        if let representation, !isConfirmed, !isBlank(representation), !isComparable(transfer, representation) {
            // Nothing says that it is what is held, and what is held cannot be compared with it on the way.
            if !transfer.isSequential, isComparableFromStart(representation) {
                // Asked again from the start, the stored beginning can be.
                representations[representation.id]?.info.servesRanges = false
                endRequest(id)
                rebase(id)
                return ask(id)
            }
            let difference = Mismatch(
                expected: .media(contentType: representation.info.fields["Content-Type"]), got: .status(200),
                "the origin sends everything anew, with nothing that shows it to be the same")
            return changed(id, head, representation, difference, length: length, servesRanges: false)
        }
        accept(id, head, representation, length: length, servesRanges: false)
        rebase(id)
        // Where a validator says that it is what is held, it ends where that does.
        beginBody(id, at: 0, end: length ?? (isConfirmed ? representation?.info.length : nil))
    }

    /// Whether the answer under way is compared with what is held from its first byte on, or need not be.
    private func isComparable(_ transfer: Transfer, _ representation: Representation) -> Bool {
        let policy = environment.sameness.policy(for: url.host)
        return transfer.isSequential && transfer.continuation.isComparing || policy == .lengthOnly
    }

    private func isComparableFromStart(_ representation: Representation) -> Bool {
        buffers.heldEnd(representation.id, from: 0) != nil
            || representation.generation?.askClaimed({ $0.contains(0) }) ?? false
    }

    /// While a first answer was under way another transfer may have shown the representation: it is the same resource.
    private mutating func adoptable(_ id: Int) -> Representation? {
        guard let newest, let representation = representations[newest], !representation.isPrivate,
            !representation.isTransient
        else { return nil }
        transfers[id]?.representation = newest
        return representation
    }

    private mutating func accept(
        _ id: Int, _ head: OriginResponseHead, _ held: Representation?, length: Int64?, servesRanges: Bool
    ) {
        if let held {
            if !servesRanges { representations[held.id]?.info.servesRanges = false }
            if held.info.length == nil, let length {
                if transfers[id]?.continuation.isComparing == true {
                    transfers[id]?.request?.announcedLength = length
                } else {
                    learnLength(length, of: held.id)
                }
            }
            bindUnbound(to: held.id, for: transfers[id]?.request)
            return
        }
        let request = transfers[id]?.request
        let isPrivate = !mayShare(head, request)
        let number = addRepresentation(
            head, request, length: length, servesRanges: servesRanges, isKept: !isPrivate)
        transfers[id]?.representation = number
        representations[number]?.isPrivate = isPrivate
        if isPrivate, !self.isPrivate {
            // Not to be shared: it belongs to the reader whose fields it was asked with, the others ask for themselves.
            for reader in readers.ids
            where reader != request?.requester && readers[reader]?.representation == nil {
                fail(reader, .mustBePrivate)
            }
            leaveTable()
        }
        noteAnswer(id, head)
        bindUnbound(to: number, for: request)
    }

    /// The end of a representation is known: that is written down, and readers that wait past it are told.
    mutating func learnLength(_ length: Int64, of number: Int) {
        representations[number]?.info.length = length
        if representations[number]?.isCommitted == true { commitInfo(of: number) }
        // All of a short resource may be there already, and was too little to be told from a page.
        if Int64(buffers.prefix(of: number, limit: SessionState.sniffedBytes).count) >= length {
            sniff(number, isAtEnd: true)
            write(number)
        }
        wakeWaiting()
    }

    /// Gives readers without a representation the one whose answer came: the reader that asked for it as it is, the others
    /// where it may be used without asking the origin for them.
    private mutating func bindUnbound(to number: Int, for request: Transfer.Request?) {
        for reader in readers.ids
        where readers[reader]?.representation == nil && readers[reader]?.failure == nil {
            guard belongs(reader, to: number), let representation = representations[number] else { continue }
            if environment.freshness == .http, !isPrivate, !representation.isPrivate, reader != request?.requester,
                let outcome = readers[reader]?.outcome, let fields = readers[reader]?.fields
            {
                // What is not stored cannot be confirmed later.
                if representation.isTransient, reuse(of: representation, by: fields).asksOrigin { continue }
                guard admit(reader, to: representation) else { continue }
                readers[reader]?.outcome = outcome
            }
            give(reader, number)
        }
    }

    mutating func addRepresentation(
        _ head: OriginResponseHead, _ request: Transfer.Request?, length: Int64?, servesRanges: Bool,
        isKept: Bool = true
    ) -> Int {
        let number = makeID()
        let type = MediaType(head.fields["Content-Type"])
        let identity = UInt64(environment.queues.randomFraction() * 0x1p52) << 11 | UInt64(number) | 1
        var info = EntryInfo(
            key: key.text, url: url.description, generation: 0, identity: identity,
            fileExtension: url.pathExtension ?? type?.fileExtension ?? "bin",
            validator: Validator(fields: head.fields), length: length, servesRanges: servesRanges,
            fields: stored(head, of: request), checked: wallClock)
        if environment.freshness == .http {
            info.variant = Variant(answer: head.fields, request: request?.callerFields ?? fields)?.text
        }
        let isStorable = storable(head)
        let stores = environment.store != nil && !isPrivate && lifecycle.isListed && isKept && isStorable
        var representation = Representation(
            id: number, info: info, storage: stores ? .undecided : .off(.notStorable), isCommitted: false,
            needsSniffing: true)
        representation.isTransient = !isStorable && !isPrivate
        representations[number] = representation
        return number
    }

    /// Whether a body of that type may be kept as media. Text is decided by its first bytes: some servers call media
    /// so.
    func storable(_ head: OriginResponseHead) -> Bool {
        guard let type = MediaType(head.fields["Content-Type"]) else { return true }
        return type.essence == "text/plain" || !(type.isMarkup || type.isManifest)
    }

    /// The fields of an answer as they are stored.
    func stored(_ head: OriginResponseHead, of request: Transfer.Request?) -> HTTPFields {
        let kept = SessionState.endToEnd(head.fields)
        guard environment.freshness == .http, let request else { return kept }
        return Freshness.noting(delay: (now - request.sentAt) / TransferTuning.second, in: kept)
    }

    static func endToEnd(_ fields: HTTPFields) -> HTTPFields {
        var kept = fields
        kept.removeHopByHop()
        kept.remove([
            "Content-Length", "Content-Range", "Set-Cookie", "Set-Cookie2", "Alt-Svc", "Strict-Transport-Security",
        ])
        return kept
    }

    mutating func beginBody(_ id: Int, at position: Int64, end: Int64?) {
        transfers[id]?.request?.position = position
        transfers[id]?.request?.end = end
        if end == position {
            receivedEnd(id, isDelimited: true)
            return
        }
        demand(id)
    }

    /// The origin sends everything from 0: the transfer begins anew there.
    mutating func rebase(_ id: Int) {
        guard let transfer = transfers[id] else { return }
        transfers[id]?.isSequential = true
        if head(of: transfer) > 0 { restart(id, at: 0) }
        // Others that fetch the same bytes are not needed: this one brings them all.
        for other in transfers.ids
        where other != id && transfers[other]?.representation == transfer.representation
            && transfers[other]?.request?.isRevalidation != true
        {
            finish(other)
        }
    }

    /// A transfer goes on elsewhere, or for another representation: what it has brought stays with its buffer.
    mutating func restart(_ id: Int, at offset: Int64) {
        if let buffer = transfers[id]?.buffer {
            let number = transfers[id]?.representation
            buffers.release(buffer)
            if let number { write(number) }
        }
        transfers[id]?.buffer = nil
        transfers[id]?.start = offset
        transfers[id]?.continuation.wentElsewhere()
    }
}
