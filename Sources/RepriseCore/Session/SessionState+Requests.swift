import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

extension SessionState {
    /// Sends a transfer's next request, once the host has a place and stored bytes for an overlap are read.
    mutating func ask(_ id: Int) {
        guard var transfer = transfers[id], transfer.request == nil, !transfer.isPreparing, !transfer.isFinished else { return }
        let representation = transfer.representation.flatMap { representations[$0] }
        var asked = nextRange(of: transfer, representation)
        var guardFields = HTTPFields()
        var overlap: ArraySlice<UInt8> = []
        var isCheck = false
        if let representation, !transfer.isSequential {
            let trusts = environment.hosts.trustsEntityTags(of: url.origin, now: wallClock) && !transfer.isTrial
            guard
                let guardian = ContinuationGuard(
                    policy: environment.sameness.policy(for: url.host), validator: representation.info.validator, trustsEntityTags: trusts)
            else {
                supersede(representation.id)
                finish(id)
                return
            }
            if let ifRange = guardian.ifRange { guardFields["If-Range"] = ifRange }
            if guardian.comparesOverlap, !transfer.isChecked,
                let held = heldBytes(before: asked.lowerBound, representation)
            {
                overlap = held
                asked = ByteRange(asked.lowerBound - Int64(held.count), asked.upperBound)
            } else if guardian.comparesOverlap, !transfer.isChecked,
                let stored = overlapRange(before: asked.lowerBound, representation)
            {
                guard let known = transfer.overlap else {
                    transfers[id]?.isPreparing = true
                    effects.append(.readOverlap(transfer: id, stored.generation, stored.range))
                    return
                }
                overlap = known
                isCheck = stored.range.upperBound != asked.lowerBound && !overlap.isEmpty
                let start = isCheck ? stored.range.lowerBound : asked.lowerBound - Int64(overlap.count)
                asked = ByteRange(start, isCheck ? start + Int64(overlap.count) : asked.upperBound)
            }
        }
        guard !transfer.isQueued else { return }
        transfer.isQueued = true
        transfers[id] = transfer
        guard environment.hosts.enter(url.origin, onFree: onPlaceFree) else { return }
        transfer.isQueued = false
        let callerFields = fields(for: transfer.readers)
        var fields = callerFields
        fields["Accept-Encoding"] = "identity"
        if !transfer.isSequential { fields["Range"] = RangeSpecifier.field(for: asked) }
        for line in guardFields.lines { fields[line.name] = line.value }
        let serial = makeID()
        transfer.request = Transfer.Request(
            serial: serial, origin: url.origin, callerFields: callerFields,
            asked: transfer.isSequential ? nil : asked, sentAt: now, overlap: overlap, isCheck: isCheck)
        if !isCheck {
            transfer.lastAsked = asked
            transfer.requestIndex += 1
        }
        transfer.overlap = nil
        transfer.lastProgress = now
        transfers[id] = transfer
        send(id, serial, fields, range: fields["Range"] ?? "all")
    }

    private mutating func send(_ id: Int, _ serial: Int, _ fields: HTTPFields, range: String) {
        effects.append(.event(.originRequest(key: key.text, range: range)))
        effects.append(.count { $0.originRequests += 1 })
        effects.append(.send(transfer: id, serial: serial, OriginRequest(url: url, fields: fields)))
    }

    /// Bytes the sniffer looks at.
    static let sniffedBytes: Int64 = 512

    private func nextRange(of transfer: Transfer, _ representation: Representation?) -> ByteRange {
        let head = transfer.window.head
        if transfer.isSequential { return .from(head) }
        let size = tuning.requestSize(transfer.requestIndex)
        var end = ByteRange(offset: head, count: size).upperBound
        if let generation = representation?.generation, case .absent(let until) = generation.availability(at: head) {
            end = min(end, until)
        }
        for other in transfers.values
        where other.id != transfer.id && other.representation == transfer.representation && !other.isFinished
            && other.start > head
        {
            end = min(end, other.start)
        }
        end = min(end, transfer.readers.compactMap { readers[$0]?.end }.max() ?? .max)
        // Players open with a probe of two bytes. That is too little to tell media from a page, and what is not told
        // apart is not kept: the probe would be asked again and again.
        if head == 0, representation?.needsSniffing ?? true { end = max(end, SessionState.sniffedBytes) }
        if let length = representation?.info.length { end = min(end, length) }
        return ByteRange(head, max(end, head + 1))
    }

    // The bytes just before `offset` that are in memory: the disk may not have them yet.
    private func heldBytes(before offset: Int64, _ representation: Representation) -> ArraySlice<UInt8>? {
        guard offset > 0 else { return nil }
        for id in transfers.keys.sorted() {
            guard let transfer = transfers[id], transfer.representation == representation.id,
                transfer.window.range.contains(offset - 1)
            else { continue }
            let start = max(transfer.window.base, offset - tuning.overlap)
            return transfer.window.bytes(in: ByteRange(start, offset))[...]
        }
        return nil
    }

    // The stored bytes just before `offset`; where none adjoin, the first stored ones, for a request of their own.
    private func overlapRange(
        before offset: Int64, _ representation: Representation
    ) -> (generation: Generation, range: ByteRange)? {
        guard let generation = representation.generation else { return nil }
        let claimed = generation.claimed
        if offset > 0, let stored = claimed.range(containing: offset - 1) {
            return (generation, ByteRange(max(stored.lowerBound, offset - tuning.overlap), offset))
        }
        guard let stored = claimed.ranges.first else { return nil }
        return (generation, ByteRange(stored.lowerBound, min(stored.upperBound, stored.lowerBound + tuning.overlap)))
    }

    /// Stored bytes for an overlap have been read, or could not be.
    mutating func overlapRead(_ id: Int, _ bytes: [UInt8]?) {
        guard transfers[id]?.isPreparing == true else { return }
        transfers[id]?.isPreparing = false
        transfers[id]?.overlap = (bytes ?? [])[...]
        ask(id)
    }

    /// A place at the host became free.
    mutating func placeIsFree() {
        for id in transfers.keys.sorted() where transfers[id]?.isQueued == true { transfers[id]?.isQueued = false }
        plan()
    }

    /// The client has taken a request.
    mutating func started(_ id: Int, _ serial: Int, _ exchange: any OriginExchange) {
        guard transfers[id]?.request?.serial == serial else {
            effects.append(.cancel(exchange))
            return
        }
        transfers[id]?.request?.exchange = exchange
        if transfers[id]?.request?.owesDemand == true {
            transfers[id]?.request?.owesDemand = false
            effects.append(.demand(exchange))
        }
    }

    // MARK: Revalidation (freshness .http)

    /// Readers that may not use what is stored before the origin has confirmed it share one conditional request.
    mutating func startRevalidation() {
        guard readers.values.contains(where: { $0.awaitsFreshness && $0.failure == nil }), let current,
            let representation = representations[current],
            !transfers.values.contains(where: { $0.request?.isRevalidation == true }),
            trouble.map({ now >= $0.notBefore }) ?? true
        else { return }
        guard environment.hosts.enter(url.origin, onFree: onPlaceFree) else { return }
        let awaiting = readers.keys.sorted().filter { readers[$0]?.awaitsFreshness == true }
        let callerFields = fields(for: awaiting)
        var fields = callerFields
        fields["Accept-Encoding"] = "identity"
        if let tag = representation.info.validator.entityTag { fields["If-None-Match"] = tag.field }
        if let date = representation.info.validator.lastModified { fields["If-Modified-Since"] = date }
        let id = makeID()
        let serial = makeID()
        var transfer = Transfer(id: id, representation: current, start: 0, requestIndex: 0, now: now)
        transfer.request = Transfer.Request(
            serial: serial, origin: url.origin, callerFields: callerFields, sentAt: now, isRevalidation: true)
        transfers[id] = transfer
        send(id, serial, fields, range: "revalidate")
    }

    private mutating func revalidated(_ id: Int, _ head: OriginResponseHead, _ verdict: ResponseJudge.Verdict) {
        guard let number = transfers[id]?.representation, var representation = representations[number] else { return }
        let mayShare = mayShare(head, transfers[id]?.request, verdict)
        endRequest(id)
        transfers[id] = nil
        guard mayShare else {
            for reader in readers.keys.sorted() where readers[reader]?.awaitsFreshness == true {
                fail(reader, .mustBePrivate)
            }
            return
        }
        switch verdict {
        case .notModified, .whole:
            representation.info.checked = wallClock
            let length = representation.info.fields
            representation.info.fields = SessionState.merge(length, with: head.fields)
            representations[number] = representation
            if representation.isCommitted { effects.append(.commit(representation: number, representation.info)) }
            trouble = nil
            releaseFreshness(to: number)
        case .changed(let length, let servesRanges):
            guard storable(head) else {
                note(.originInvalid, "the origin answered with a page instead of media")
                return
            }
            trouble = nil
            let new = addRepresentation(head, length: length, servesRanges: servesRanges)
            supersede(number)
            releaseFreshness(to: new)
        case .refused(let status) where status == 404 || status == 410 || status == 401 || status == 403:
            for reader in readers.keys.sorted() where readers[reader]?.awaitsFreshness == true {
                fail(reader, CacheError(.originRefused(status: status), "the origin answered \(status)"))
            }
        default:
            note(.originUnreachable, "the origin could not confirm what is stored (\(head.status))")
        }
    }

    private mutating func releaseFreshness(to number: Int) {
        for reader in readers.keys.sorted() where readers[reader]?.awaitsFreshness == true {
            readers[reader]?.awaitsFreshness = false
            readers[reader]?.representation = number
            wake(reader)
        }
    }

    /// Lets a reader have stale bytes where RFC 9111 §4.2.4 allows it.
    mutating func serveStale(_ id: Int) -> Bool {
        guard let current, let representation = representations[current],
            Freshness(fields: representation.info.fields, checked: representation.info.checked).mayServeStale
        else { return false }
        let now = now
        readers[id]?.awaitsFreshness = false
        readers[id]?.representation = current
        readers[id]?.waitsSince = now
        wake(id)
        return true
    }

    private static func merge(_ old: HTTPFields, with new: HTTPFields) -> HTTPFields {
        var merged = old
        for line in SessionState.endToEnd(new).lines { merged[line.name] = new[line.name] }
        return merged
    }

    // MARK: Answers

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
        let judge = ResponseJudge(
            asked: request.asked, held: representation?.held,
            trustsEntityTags: environment.hosts.trustsEntityTags(of: url.origin, now: wallClock) && !transfer.isTrial,
            now: wallClock)
        let verdict = judge.verdict(head)
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
            accept(id, head, representation, length: length, servesRanges: false)
            rebase(id)
            beginBody(id, at: 0, end: length)
        case .changed(let length, let servesRanges):
            changed(id, head, representation, length: length, servesRanges: servesRanges)
        case .notModified: reject(id, "304 to a request without a condition")
        case .pastEnd(let length): pastEnd(id, representation, length)
        case .refused(let status): refused(id, status, head)
        case .busy(let status, let retryAfter):
            let error = CacheError(
                .originRefused(status: status), "the origin answered \(status)", retryAfter: retryAfter)
            endRequest(id)
            finish(id)
            note(error, at: transfer.window.head)
        case .invalid(let reason): reject(id, reason)
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
            if held.info.length == nil, let length { representations[held.id]?.info.length = length }
            if !servesRanges { representations[held.id]?.info.servesRanges = false }
            bindUnbound(to: held.id)
            return
        }
        let isPrivate = !mayShare(head, transfers[id]?.request)
        let number = addRepresentation(head, length: length, servesRanges: servesRanges, isKept: !isPrivate)
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
        bindUnbound(to: number)
    }

    private mutating func bindUnbound(to number: Int) {
        for reader in readers.keys.sorted() where readers[reader]?.representation == nil && readers[reader]?.failure == nil {
            readers[reader]?.representation = number
            wake(reader)
        }
    }

    mutating func addRepresentation(
        _ head: OriginResponseHead, length: Int64?, servesRanges: Bool, isKept: Bool = true
    ) -> Int {
        let number = makeID()
        let type = MediaType(head.fields["Content-Type"])
        let identity = UInt64(environment.queues.randomFraction() * 0x1p52) << 11 | UInt64(number) | 1
        let info = EntryInfo(
            key: key.text, url: url.description, generation: 0, identity: identity,
            fileExtension: url.pathExtension ?? type?.fileExtension ?? "bin",
            validator: Validator(fields: head.fields), length: length, servesRanges: servesRanges,
            fields: SessionState.endToEnd(head.fields), checked: wallClock)
        let stores = environment.store != nil && !isPrivate && isKept && storable(head)
        representations[number] = Representation(
            id: number, info: info, storing: stores ? .undecided : .off(nil), isCommitted: false, needsSniffing: true)
        return number
    }

    /// Whether a body of that type may be kept as media. Text is decided by its first bytes: some servers call media so.
    func storable(_ head: OriginResponseHead) -> Bool {
        guard let type = MediaType(head.fields["Content-Type"]) else { return true }
        return type.essence == "text/plain" || !(type.isMarkup || type.isManifest)
    }

    static func endToEnd(_ fields: HTTPFields) -> HTTPFields {
        var kept = fields
        kept.removeHopByHop()
        kept.remove(["Content-Length", "Content-Range", "Set-Cookie", "Set-Cookie2", "Alt-Svc", "Strict-Transport-Security"])
        return kept
    }

    private mutating func beginBody(_ id: Int, at position: Int64, end: Int64?) {
        transfers[id]?.request?.position = position
        transfers[id]?.request?.end = end
        if end == position {
            receivedEnd(id, isDelimited: true)
            return
        }
        demand(id)
    }

    /// The origin sends everything from 0: the transfer begins anew there.
    private mutating func rebase(_ id: Int) {
        guard var transfer = transfers[id] else { return }
        transfer.isSequential = true
        if transfer.window.head > 0 {
            transfer.start = 0
            transfer.window = LiveWindow(at: 0)
        }
        transfers[id] = transfer
        // Others that hold a place for the same bytes are not needed: this one brings them all.
        for other in transfers.keys.sorted()
        where other != id && transfers[other]?.representation == transfer.representation && transfers[other]?.isFinished == false {
            finish(other)
        }
    }

    // MARK: Another representation

    private mutating func changed(
        _ id: Int, _ head: OriginResponseHead, _ held: Representation?, length: Int64?, servesRanges: Bool
    ) {
        guard let held else { return }
        let new = Validator(fields: head.fields)
        if environment.sameness.policy(for: url.host) == .automatic, !(transfers[id]?.isTrial ?? true), head.status == 200 || head.status == 206,
            let old = held.info.validator.entityTag, let tag = new.entityTag, old != tag,
            held.info.length != nil, length == held.info.length,
            held.info.validator.lastModified != nil, held.info.validator.lastModified == new.lastModified,
            held.generation?.claimed.isEmpty == false
        {
            // Only the tag differs: the bytes shall decide (nodes of one CDN often disagree about tags).
            endRequest(id)
            transfers[id]?.isTrial = true
            transfers[id]?.requestIndex -= 1
            ask(id)
            return
        }
        guard storable(head) else {
            endRequest(id)
            finish(id)
            effects.append(.event(.mismatch(key: key.text, reason: "a page instead of media")))
            note(.originInvalid, "the origin answered with a page instead of media; what is stored was kept")
            return
        }
        effects.append(.event(.generationChanged(key: key.text)))
        let number = addRepresentation(head, length: length, servesRanges: servesRanges || held.info.servesRanges)
        supersede(held.id)
        let wanted = transfers[id]?.window.head ?? 0
        let ownReaders = transfers[id]?.readers ?? []
        finishKeeping(id, number)
        for reader in ownReaders where readers[reader]?.isBound == false {
            readers[reader]?.representation = number
            wake(reader)
        }
        guard let request = transfers[id]?.request else { return }
        if head.status == 206 {
            beginBody(id, at: request.asked?.lowerBound ?? 0, end: nil)
            if let range = head.fields["Content-Range"].flatMap(ContentRange.parse), case .satisfied(let part, _) = range {
                transfers[id]?.request?.end = part.upperBound
            }
        } else if wanted > tuning.firstRequest, servesRanges || held.info.servesRanges {
            endRequest(id)
            finish(id)
        } else {
            representations[number]?.info.servesRanges = servesRanges
            rebase(id)
            beginBody(id, at: 0, end: length)
        }
    }

    /// What a transfer has brought of the old representation stays with a finished twin; it goes on for the new one.
    private mutating func finishKeeping(_ id: Int, _ number: Int) {
        guard var transfer = transfers[id] else { return }
        if transfer.window.count > 0 || transfer.isWriting {
            var twin = transfer
            twin.request = nil
            twin.isFinished = true
            let twinID = makeID()
            transfers[twinID] = Transfer(copying: twin, id: twinID)
        }
        transfer.representation = number
        transfer.window = LiveWindow(at: transfer.request?.asked?.lowerBound ?? transfer.window.head)
        transfer.start = transfer.window.head
        transfer.writer = nil
        transfer.isWriting = false
        transfer.request?.overlap = []
        transfer.request?.isCheck = false
        transfers[id] = transfer
    }

    /// The origin has another representation: this one can be read, not filled any more.
    mutating func supersede(_ number: Int) {
        representations[number]?.isSuperseded = true
        for other in transfers.keys.sorted() where transfers[other]?.representation == number {
            if transfers[other]?.request?.hasHead != true || transfers[other]?.isFinished == false { finishLater(other) }
        }
    }

    private mutating func finishLater(_ id: Int) {
        // The transfer whose answer showed the change is handed to the new representation by its caller.
        guard transfers[id]?.request?.hasHead != true else { return }
        finish(id)
    }

    // MARK: Refusals

    private mutating func pastEnd(_ id: Int, _ held: Representation?, _ length: Int64?) {
        let starved = transfers[id]?.readers ?? []
        let asked = transfers[id]?.request?.asked
        endRequest(id)
        finish(id)
        if let held, let length, held.info.length == nil {
            representations[held.id]?.info.length = length
            wakeWaiting()
            return
        }
        if let held, held.info.length == nil, let head = asked?.lowerBound, head > 0 {
            representations[held.id]?.softEnd = head
            wakeWaiting()
            return
        }
        let error = CacheError(
            .rangeNotSatisfiable(length: length), "the resource ends before the wanted range\(length.map { " (\($0) bytes)" } ?? "")")
        for reader in starved { fail(reader, error) }
    }

    private mutating func refused(_ id: Int, _ status: Int, _ head: OriginResponseHead) {
        let starved = transfers[id]?.readers ?? []
        endRequest(id)
        finish(id)
        effects.append(.event(.originError(key: key.text, reason: "status \(status)")))
        let waiting = readers.keys.sorted().filter { readers[$0]?.representation == nil }
        for reader in Set(starved + waiting).sorted() where readers[reader]?.isWaiting == true {
            fail(reader, CacheError(.originRefused(status: status), "the origin answered \(status)"))
        }
    }

    /// An answer that must not be used; tried again, as the next one may be better.
    mutating func reject(_ id: Int, _ reason: String) {
        let offset = transfers[id]?.window.head
        endRequest(id)
        finish(id)
        effects.append(.event(.mismatch(key: key.text, reason: reason)))
        note(.originInvalid, "the origin's answer cannot be used: \(reason)", at: offset)
    }

    private mutating func note(_ code: CacheError.Code, _ message: String, at offset: Int64? = nil) {
        note(CacheError(code, message), at: offset)
    }

    /// Something went wrong at the origin, at the byte `offset`: when to try again.
    mutating func note(_ error: CacheError, at offset: Int64? = nil) {
        let attempts = (trouble?.attempts ?? 0) + 1
        let backoff = min(tuning.firstRetry << Int64(min(attempts - 1, 10)), tuning.longestRetry)
        let spread = Int64(Double(backoff) * 0.25 * environment.queues.randomFraction())
        // The field may hold any number; nobody waits longer than a day for it.
        let wait = max(backoff + spread, min(error.retryAfter ?? 0, 86_400) * TransferTuning.second)
        trouble = Trouble(
            since: trouble?.since ?? now, attempts: attempts, notBefore: now + wait, error: error, offset: offset)
        effects.append(.event(.originError(key: key.text, reason: error.message)))
        lookAgain(at: now + min(wait, tuning.longestRetry))
    }

    /// A request came to nothing, or ended too soon: retried from the first byte that is missing.
    mutating func requestFailed(_ id: Int, _ failure: OriginFailure) {
        guard let transfer = transfers[id], let request = transfer.request else { return }
        let isRevalidation = request.isRevalidation
        endRequest(id)
        if isRevalidation { transfers[id] = nil } else { finish(id) }
        let code: CacheError.Code =
            switch failure.kind {
            case .timedOut: .originTimedOut
            case .malformed: .originInvalid
            case .unreachable, .interrupted, .untrusted: .originUnreachable
            }
        note(code, failure.message, at: isRevalidation ? nil : transfer.window.head)
        if failure.kind == .untrusted {
            for reader in readers.keys.sorted() where readers[reader]?.isWaiting == true {
                fail(reader, CacheError(.originUnreachable, failure.message))
            }
        }
    }
}

extension Transfer {
    init(copying other: Transfer, id: Int) {
        self.init(
            id: id, representation: other.representation, start: other.start, requestIndex: other.requestIndex,
            now: other.lastProgress)
        window = other.window
        isFinished = true
        writer = other.writer
    }
}

extension CacheError {
    /// The answer may not be shared: the reader has to ask for itself.
    static let mustBePrivate = CacheError(.closed, "the answer may not be shared")
}
