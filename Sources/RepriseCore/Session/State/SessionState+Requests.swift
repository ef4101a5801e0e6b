import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Sending: which range, guarded how, when the host has a place.
extension SessionState {
    /// Sends a transfer's next request, once the host has a place and stored bytes for an overlap are read.
    mutating func ask(_ id: Int) {
        guard var transfer = transfers[id], transfer.request == nil, !transfer.isPreparing, !transfer.isFinished else {
            return
        }
        let representation = transfer.representation.flatMap { representations[$0] }
        var asked = nextRange(of: transfer, representation)
        var guardFields = HTTPFields()
        var overlap: ArraySlice<UInt8> = []
        var isCheck = false
        if let representation, !transfer.isSequential {
            let trust = trust(transfer)
            guard
                let guardian = ContinuationGuard(
                    policy: environment.sameness.policy(for: url.host), validator: representation.info.validator,
                    trustsEntityTags: trust.entityTags, trustsDates: trust.dates)
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
            serial: serial, url: url, origin: url.origin, callerFields: callerFields,
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

    mutating func send(_ id: Int, _ serial: Int, _ fields: HTTPFields, range: String) {
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
        isRevalidationQueued = false
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
}
