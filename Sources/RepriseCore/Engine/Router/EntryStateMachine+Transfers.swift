import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Transfers: they start, ask, are paused and end. What their answers mean is in `+Responses`, their bytes in `+Bodies`.
extension EntryStateMachine {
    // MARK: As the planner decides

    mutating func start(for view: TransferPlanner.Reader, _ representation: Representation?, isSecondTry: Bool) {
        guard let reader = readers[view.id], let missing = view.missing, mayAsk() else { return }
        // Only what is stored has to begin where a block can be filled.
        let blockSize = environment.store?.layout.blockSize ?? 1
        var start = missing - missing % blockSize
        let isSequential = representation.map { !asksRange(of: $0) } ?? false
        if let representation {
            if isSequential {
                start = 0
            } else if representation.storage.isOff {
                start = missing
            } else {
                // What is held in memory is on its way to the disk, and is written before anything this transfer will bring;
                // that its files are only being made changes nothing.
                let first = representation.generation?.fillStart(for: missing) ?? start
                start = buffers.holds(ByteRange(first, missing), of: representation.id) ? missing : first
                if start > first {
                    buffers.follow(representation.id)
                    write(representation)
                }
            }
        }
        let transfer = TransferState(
            id: makeID(), representation: representation?.id, start: start,
            isSequential: isSequential, requestIndex: reader.requestIndex,
            readers: [reader.id], goal: min(view.end, view.position.adding(tuning.readAhead)),
            secondTryFor: isSecondTry ? missing : nil, now: now,
            continuation: continuationMaker)
        transfers[transfer.id] = transfer
        // One that would end before what it is begun for would be begun for it again and again.
        if start < missing, gapEnd(of: transfer, representation) <= missing { _ = transfer.restart(at: missing) }
        noteForwarded([reader.id], isCollapsed: false)
        ask(transfer)
    }

    /// Whether a new transfer asks for a range. Where there are none, trying one ends transfers that are under way.
    private func asksRange(of representation: Representation) -> Bool {
        if representation.info.servesRanges { return true }
        return representation.mayTryRange(now: now, retry: tuning.rangeRetry)
            && !transfers.contains { $0.representation == representation.id }
    }

    /// Makes what a new transfer guards its continuation with.
    var continuationMaker: () -> RangeContinuation {
        let (overlap, withheld) = (tuning.overlap, tuning.withheld)
        return { RangeContinuation(limit: overlap, withheldLimit: withheld) }
    }

    /// Offset of the next byte a transfer will fill.
    func head(of transfer: TransferState) -> Int64 {
        transfer.buffer.flatMap { buffers[$0]?.head } ?? transfer.start
    }

    mutating func run(_ transfer: TransferState, to goal: Int64, for ids: [ReaderID]) {
        noteForwarded(ids, isCollapsed: true)
        if transfer.run(to: goal, for: ids, now: now) { noteRest(transfer) }
        if transfer.request == nil {
            if mayAskNext(transfer) { ask(transfer) }
        } else {
            demand(transfer)
        }
    }

    /// The next request is asked when half of the last one was read on, or a reader waits for it.
    private mutating func mayAskNext(_ transfer: TransferState) -> Bool {
        guard mayAsk() else { return false }
        guard transfer.lastAsked.count > 0 else { return true }
        let half = transfer.lastAsked.lowerBound.adding(transfer.lastAsked.count / 2)
        let head = head(of: transfer)
        return transfer.readers.contains { id in
            readers[id].map { $0.position >= half || ($0.isWaiting && $0.position >= head) } ?? false
        }
    }

    mutating func pause(_ transfer: TransferState) {
        transfer.pause(at: head(of: transfer), now: now)
        noteRest(transfer)
        if let representation = representations[transfer.representation] { write(representation) }
    }

    /// Ends a transfer; what only its buffer holds is still written, and read.
    mutating func finish(_ transfer: TransferState) {
        let hadRequest = transfer.request != nil
        endRequest(of: transfer)
        if let slot = transfer.returnSlot() { leave(.releaseSlot(slot)) }
        transfers[transfer.id] = nil
        // One that waited for what this one was bringing has nothing to wait for.
        if hadRequest, transfers.contains(where: { $0.representation == transfer.representation && $0.request == nil })
        {
            replan()
        }
        // Readers that follow it go on with its request size.
        let head = head(of: transfer)
        for reader in transfer.readers.compactMap({ readers[$0] })
        where transfer.start <= reader.position && reader.position <= head {
            reader.resumeRequests(at: transfer.requestIndex)
        }
        guard let buffer = transfer.buffer else { return }
        guard let representation = representations[transfer.representation] else { return buffers.drop(buffer) }
        buffers.release(buffer)
        write(representation)
    }

    /// Ends transfers that stored nothing: those that follow begin where a block can be filled.
    mutating func dropTransfers(of id: RepresentationID) {
        for transfer in transfers where transfer.representation == id {
            endRequest(of: transfer)
            if let slot = transfer.returnSlot() { leave(.releaseSlot(slot)) }
            transfers[transfer.id] = nil
        }
        buffers.drop(id)
        replan()
    }

    /// Tells a transfer's buffer whether more comes: in a sealed store what there is of a block waits for the rest of it.
    func isResting(_ transfer: TransferState) -> Bool { transfer.request == nil || transfer.pausedSince != nil }

    mutating func noteRest(_ transfer: TransferState) {
        if let buffer = transfer.buffer { buffers.setAtRest(buffer, isResting(transfer)) }
    }

    // MARK: Requests

    /// Whether the origin may be asked now: not while a failure is waited out, the origin asked to wait, or a fresh URL is
    /// awaited.
    mutating func mayAsk() -> Bool {
        if renewal.isAsking || backoff.pausedUntil(now) != nil || restarts.pausedUntil(now) != nil { return false }
        guard let holdOff else { return true }
        wait(for: holdOff)
        return false
    }

    /// The host asked to be left alone until then.
    private mutating func wait(for holdOff: HostTable.HoldOff) {
        backoff.heldOff(until: holdOff.until, holdOff.error, now: now)
        // Readers that do not wait so long are told with this input.
        replan()
    }

    /// Sends a transfer's next request, once stored bytes for an overlap are read and the host has a connection slot.
    mutating func ask(_ transfer: TransferState) {
        guard transfer.request == nil, !transfer.readsOverlap else { return }
        let (place, location) = origin(besides: transfer.tried, bound: transfer.boundPlace)
        // Also where one request follows on another: the host may have asked for it in between.
        if let holdOff = holdOff(at: location) { return wait(for: holdOff) }
        let wanted = nextRange(of: transfer)
        var guarded = RangeContinuation.Request(
            range: transfer.isSequential ? nil : wanted, ifRange: nil, isCheck: false)
        if let representation = representations[transfer.representation] {
            if !representation.isResource, breakOff(transfer) { return }
            if let generation = representation.generation, let unloaded = unloadedOverlap(generation, transfer) {
                return load(representation.id, generation, unloaded)
            }
            switch transfer.nextRequest(wanted, known(of: representation, transfer, wanted, at: location), now: now) {
            case .send(let request): guarded = request
            case .wait: return
            case .read(let generation, let range):
                return leave(.readOverlap(transfer.id, representation.id, generation, range))
            case .giveUp:
                finish(transfer)
                // What cannot be read now stays what it is.
                let isOutOfReach = representation.isCommitted && representation.storage.files == nil
                return isOutOfReach || representation.storage.isSilent || hasHungWrite(representation.id)
                    ? passBy(transfer.readers) : giveUp(representation, for: transfer.readers)
            }
        }
        if let slot = transfer.slot, slot.origin.octets != location.origin.octets { returnSlot(of: transfer) }
        guard let slot = transfer.slot else {
            guard transfer.awaitsSlotSince == nil else { return }
            let ticket: SlotTicket = makeID()
            transfer.awaitSlot(ticket, now: now)
            return leave(.acquireSlot(ticket, origin: location.origin))
        }
        let requester = requester(of: transfer)
        let caller = requester?.caller ?? caller
        var fields = ResponseSelector.allowed(caller, at: url)
        fields["Accept-Encoding"] = codings(
            fields, isHandedOn: requester?.awaitsAnyAnswer == true, beside: representations[transfer.representation])
        if let range = guarded.range { fields["Range"] = RangeSpecifier.field(for: range) }
        if let ifRange = guarded.ifRange { fields["If-Range"] = ifRange }
        let request = OriginRequestState(
            id: makeID(), url: url, place: place, location: location, isOneOfSeveral: hasMirrors, slot: slot,
            requester: requester?.id, caller: caller, asked: guarded.range, isConditional: guarded.ifRange != nil,
            isCheck: guarded.isCheck, now: now)
        transfer.begin(request, asking: guarded.range ?? wanted, now: now)
        noteRest(transfer)
        send(request, fields, range: fields["Range"] ?? "all")
    }

    /// What is no resource cannot be continued: without a reader that may be handed another answer its readers are told so.
    private mutating func breakOff(_ transfer: TransferState) -> Bool {
        let all = transfer.readers.compactMap { readers[$0] }
        if all.contains(where: \.awaitsAnyAnswer) { return false }
        finish(transfer)
        for reader in all where !reader.hasEnded {
            fail(reader, CacheError(OriginFailure(.interrupted, "the origin's answer broke off")))
        }
        return true
    }

    /// The codings that are asked for: those that a caller takes, where the body is handed on as it is and goes on with nothing that
    /// has none.
    func codings(_ caller: HTTPFields, isHandedOn: Bool, beside held: Representation?) -> String {
        let taken = isHandedOn && held?.isResource != true ? caller["Accept-Encoding"] : nil
        return taken ?? "identity"
    }

    /// The reader that a transfer's next request is sent for.
    private func requester(of transfer: TransferState) -> Reader? {
        let representation = representations[transfer.representation]
        if let representation, representation.isTransient {
            // What is no media all have with the same fields.
            let reading = readers.reading(representation.id)
            return reading.first(where: \.isWaiting) ?? reading.first
        }
        let isMedia = representation.map { !$0.awaitsSniffing } ?? false
        return selector.requester(for: transfer.readers, of: readers, newest: caller, isMedia: isMedia)
            .flatMap { readers[$0] }
    }

    mutating func send(_ request: OriginRequestState, _ fields: HTTPFields, range: String) {
        tell(.originRequest(key: key.text, range: range))
        leave(.count { $0.originRequests += 1 })
        noteAsked(request)
        let sent = OriginRequest(
            url: request.location, fields: fields, followsRedirects: environment.followsRedirects)
        leave(.send(request.id, sent))
    }

    /// Bytes the sniffer looks at.
    static let sniffedBytes: Int64 = 512

    private func nextRange(of transfer: TransferState) -> ByteRange {
        let representation = representations[transfer.representation]
        let head = head(of: transfer)
        if transfer.isSequential { return .from(head) }
        // Without a strong validator the strict policy continues nothing: what is wanted has to come with one request.
        let isStrict = environment.sameness.policy(for: url.host) == .strict
        var end = isStrict ? .max : head.adding(tuning.requestSize(transfer.requestIndex))
        if let generation = representation?.generation, case .absent(let until) = generation.availability(at: head) {
            end = min(end, until)
        }
        end = min(end, nextCovered(after: head, transfer))
        end = min(end, transfer.readers.compactMap { readers[$0]?.end }.max() ?? .max)
        // Players open with a probe of two bytes. That is too little to tell media from a page, and what is not told apart is
        // not stored: the probe would be asked again and again.
        if head == 0, representation?.needsSniffing ?? true { end = max(end, EntryStateMachine.sniffedBytes) }
        if let length = representation?.info.length { end = min(end, length) }
        return ByteRange(head, max(end, head.adding(1)))
    }

    /// Cancels a transfer's request, if one is under way.
    mutating func endRequest(of transfer: TransferState) {
        guard let request = transfer.endRequest() else { return }
        close(request)
        noteRest(transfer)
    }

    /// A request is over: its exchange is cancelled where it goes on, and its connection slot goes back.
    mutating func close(_ request: OriginRequestState) {
        if let exchange = request.finish() { leave(.cancel(exchange)) }
        if !request.isOutcomeNoted, let due = request.headDue(tuning.oneOfSeveralTimeout), due <= now {
            // The reader has waited too long as well.
            note(.unreachable, of: request, "no answer in time")
        }
        leave(.releaseSlot(request.slot))
    }

    /// Asks for the next chunk, if there is memory for it and a reader wants it.
    mutating func demand(_ transfer: TransferState) {
        guard let request = transfer.request, request.hasHead, !request.isDemanding else { return }
        let head = head(of: transfer)
        guard request.isCheck || head < transfer.goal || head > request.position, hasMemory(transfer) else { return }
        let (isNew, exchange) = request.demandChunk()
        guard isNew else { return }
        transfer.noteProgress(now: now)
        if let exchange { leave(.demand(exchange)) }
    }

    /// Whether a transfer may hold one chunk more. Buffers that wait for the disk count whether or not a transfer still feeds
    /// them, those of other entries as well: a disk that hangs must not fill the memory.
    private mutating func hasMemory(_ transfer: TransferState) -> Bool {
        guard let buffer = transfer.buffer.flatMap({ buffers[$0] }) else { return true }
        guard buffer.backlog < tuning.windowLimit else { return false }
        guard buffer.awaitsDisk else { return true }
        if buffers.unwritten >= tuning.windowLimit.multiplied(by: Int64(tuning.requestsPerResource)) { return false }
        guard environment.unwritten.isExceeded, buffer.backlog > 0 else { return true }
        awaitMemory()
        return false
    }

    // MARK: Connection slots and exchanges

    mutating func slotGranted(_ ticket: SlotTicket, _ slot: HostTable.Slot) {
        let isTaken = revalidation.granted(slot, ticket) || transfers.contains { $0.granted(slot, ticket) }
        guard isTaken else { return leave(.releaseSlot(slot)) }
        replan()
    }

    /// Slots that were granted and have no use now go to requests that wait for them.
    mutating func returnUnusedSlots() {
        if isAtRest { return }
        if let slot = revalidation.returnSlot() { leave(.releaseSlot(slot)) }
        for transfer in transfers { returnSlot(of: transfer) }
    }

    private mutating func returnSlot(of transfer: TransferState) {
        if let slot = transfer.returnSlot() { leave(.releaseSlot(slot)) }
    }

    /// The request with an id that is under way.
    func request(_ id: RequestID) -> OriginRequestState? {
        if let request = revalidation.inFlight?.request, request.id == id { return request }
        return transfers.first { $0.request?.id == id }?.request
    }

    /// The client has taken a request.
    mutating func started(_ id: RequestID, _ exchange: any OriginExchange) {
        guard let request = request(id) else { return leave(.cancel(exchange)) }
        if let exchange = request.started(exchange) { leave(.demand(exchange)) }
    }
}
