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
        plan()
    }

    private mutating func receivedHead(_ id: Int, _ head: OriginResponseHead) {
        guard var request = transfers[id]?.request, let transfer = transfers[id] else { return }
        request.hasHead = true
        request.measuredFrom = now
        let now = now
        transfers[id]?.request = request
        transfers[id]?.lastProgress = now
        environment.hosts.note(firstByte: now - request.sentAt, of: url.origin)
        let representation = transfer.representation.flatMap { representations[$0] } ?? adoptable(id)
        if let representation, isOtherVariant(representation, request.callerFields) {
            keepFromVariant(id)
            return
        }
        let trust = trust(transfer)
        let judge = ResponseJudge(
            asked: request.asked, held: representation?.held, trustsEntityTags: trust.entityTags,
            trustsDates: trust.dates, now: wallClock)
        let verdict = judge.verdict(head)
        switch verdict {
        case .part, .whole, .changed, .notModified, .pastEnd: noteAccepted(request.url)
        case .refused, .busy, .invalid: break
        }
        if request.isRevalidation {
            revalidated(id, head, verdict)
            return
        }
        if let representation, !representation.isPrivate, !mayShare(head, request, verdict) {
            keepFromShared(id)
            return
        }
        switch verdict {
        case .part(let range, let total):
            accept(id, head, representation, length: total, servesRanges: true)
            beginBody(id, at: range.lowerBound, end: range.upperBound)
        case .whole(let length):
            if let representation, request.asked != nil, representation.info.servesRanges, isElsewhere(representation),
                isWorthTrial(id, representation, Validator(fields: head.fields), length: length)
            {
                // Not a host without ranges, but one that does not know the condition.
                return tryByOverlap(id, representation)
            }
            accept(id, head, representation, length: length, servesRanges: false)
            rebase(id)
            // Where a validator says that it is what is held, it ends where that does.
            let held = representation.flatMap { $0.info.validator.isEmpty ? nil : $0.info.length }
            beginBody(id, at: 0, end: length ?? held)
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
            endRequest(id)
            finish(id)
            note(error, at: transfer.window.head)
        case .invalid(let mismatch): reject(id, mismatch)
        }
    }

    /// While a first answer was under way another transfer may have shown the representation: it is the same resource.
    private mutating func adoptable(_ id: Int) -> Representation? {
        guard let newest, let representation = representations[newest], !representation.isPrivate else { return nil }
        transfers[id]?.representation = newest
        attachWriterIfOpen(id)
        return representation
    }

    private mutating func attachWriterIfOpen(_ id: Int) {
        guard var transfer = transfers[id] else { return }
        attachWriter(&transfer, transfer.representation.flatMap { representations[$0] })
        transfers[id] = transfer
    }

    private mutating func accept(
        _ id: Int, _ head: OriginResponseHead, _ held: Representation?, length: Int64?, servesRanges: Bool
    ) {
        if let held {
            if !servesRanges { representations[held.id]?.info.servesRanges = false }
            if held.info.length == nil, let length { learnLength(length, of: held.id) }
            bindUnbound(to: held.id)
            return
        }
        let isPrivate = !mayShare(head, transfers[id]?.request)
        let number = addRepresentation(
            head, transfers[id]?.request, length: length, servesRanges: servesRanges, isKept: !isPrivate)
        transfers[id]?.representation = number
        representations[number]?.isPrivate = isPrivate
        if isPrivate, !self.isPrivate {
            // Not to be shared: it belongs to the reader it was asked for, the others ask for themselves.
            let owner = transfers[id]?.readers.first
            for reader in readers.keys.sorted() where reader != owner && readers[reader]?.representation == nil {
                fail(reader, .mustBePrivate)
            }
            if !isForgotten {
                isForgotten = true
                effects.append(.forget)
            }
        }
        noteAnswer(id, head)
        bindUnbound(to: number)
    }

    /// The end of a representation is known: that is written down, and who waits past it is told.
    mutating func learnLength(_ length: Int64, of number: Int) {
        representations[number]?.info.length = length
        if let representation = representations[number], representation.isCommitted {
            effects.append(.commit(representation: number, representation.info))
        }
        wakeWaiting()
    }

    private mutating func bindUnbound(to number: Int) {
        for reader in readers.keys.sorted()
        where readers[reader]?.representation == nil && readers[reader]?.failure == nil {
            guard belongs(reader, to: number) else { continue }
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
        let stores = environment.store != nil && !isPrivate && !isRetired && isKept && storable(head)
        representations[number] = Representation(
            id: number, info: info, storing: stores ? .undecided : .off(nil), isCommitted: false, needsSniffing: true)
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
        guard var transfer = transfers[id] else { return }
        transfer.isSequential = true
        if transfer.window.head > 0 {
            transfer.start = 0
            transfer.window = LiveWindow(at: 0)
        }
        transfers[id] = transfer
        // Others that hold a place for the same bytes are not needed: this one brings them all.
        for other in transfers.keys.sorted()
        where other != id && transfers[other]?.representation == transfer.representation
            && transfers[other]?.isFinished == false
        {
            finish(other)
        }
    }
}
