import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// Requests: whether the origin may be asked, for what and for whom, and the connection slots they take.
extension EntryStateMachine {
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
        transfer.willAsk(at: location.origin)
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
            requester: requester?.id, caller: caller, asked: guarded.range,
            wantedFrom: firstMissing(representations[transfer.representation], from: wanted.lowerBound),
            isConditional: guarded.ifRange != nil, isCheck: guarded.isCheck, now: now)
        transfer.begin(request, asking: guarded.range ?? wanted, now: now)
        noteRest(transfer)
        send(request, fields, range: fields["Range"] ?? "all")
    }

    /// The first byte from an offset on that is neither stored nor in memory: an answer that begins at 0 brings others before it.
    private func firstMissing(_ representation: Representation?, from offset: Int64) -> Int64 {
        guard let representation else { return offset }
        var position = offset
        while true {
            let stored = representation.generation?.claimedEnd(from: position) ?? position
            let held = buffers.heldEnd(representation.id, from: stored) ?? stored
            if held == position { return position }
            position = held
        }
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
