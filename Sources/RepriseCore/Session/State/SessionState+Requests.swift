import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Sending: which range, guarded how, when the host has a connection slot.
extension SessionState {
    /// Sends a transfer's next request, once the host has a connection slot and stored bytes for an overlap are read.
    mutating func ask(_ id: Int) {
        guard var transfer = transfers[id], transfer.request == nil, !transfer.continuation.isReading else { return }
        let wanted = nextRange(of: transfer)
        var request = RangeContinuation.Request(
            range: transfer.isSequential ? nil : wanted, ifRange: nil, isCheck: false)
        if let representation = transfer.representation.flatMap({ representations[$0] }) {
            if let generation = representation.generation, let unloaded = unloadedOverlap(generation, transfer) {
                return load(representation.id, generation, unloaded)
            }
            let step = transfer.continuation.next(
                wanted, isSequential: transfer.isSequential, known(of: representation, transfer, wanted))
            transfers[id] = transfer
            switch step {
            case .send(let guarded): request = guarded
            case .wait: return
            case .read(let generation, let range):
                effects.append(.readOverlap(transfer: id, generation, range))
                return
            case .giveUp:
                finish(id)
                giveUp(representation.id)
                return
            }
        }
        guard !transfer.isQueued else { return }
        transfer.isQueued = true
        transfers[id] = transfer
        guard environment.hosts.enter(url.origin, onFree: onPlaceFree) else { return }
        transfer.isQueued = false
        let requester = requester(for: transfer.readers)
        let callerFields = fields(of: requester)
        var fields = allowed(callerFields, of: requester, at: url)
        fields["Accept-Encoding"] = "identity"
        if let range = request.range { fields["Range"] = RangeSpecifier.field(for: range) }
        if let ifRange = request.ifRange { fields["If-Range"] = ifRange }
        let serial = makeID()
        transfer.request = Transfer.Request(
            serial: serial, url: url, origin: url.origin, requester: requester, callerFields: callerFields,
            asked: request.range, isConditional: request.ifRange != nil, sentAt: now, isCheck: request.isCheck)
        if !request.isCheck {
            let asked = request.range ?? wanted
            // What is asked for again from where it was asked for before counts once.
            if asked.lowerBound != transfer.lastAsked.lowerBound || transfer.lastAsked.isEmpty {
                transfer.requestIndex += 1
            }
            transfer.lastAsked = asked
        }
        transfer.lastProgress = now
        transfers[id] = transfer
        noteRest(id)
        send(id, serial, fields, range: fields["Range"] ?? "all")
    }

    mutating func send(_ id: Int, _ serial: Int, _ fields: HTTPFields, range: String) {
        effects.append(.event(.originRequest(key: key.text, range: range)))
        effects.append(.count { $0.originRequests += 1 })
        effects.append(.send(transfer: id, serial: serial, OriginRequest(url: url, fields: fields)))
    }

    /// Bytes the sniffer looks at.
    static let sniffedBytes: Int64 = 512

    private func nextRange(of transfer: Transfer) -> ByteRange {
        let representation = transfer.representation.flatMap { representations[$0] }
        let head = head(of: transfer)
        if transfer.isSequential { return .from(head) }
        // Without a strong validator the strict policy continues nothing: what is wanted has to come with one request.
        let isStrict = environment.sameness.policy(for: url.host) == .strict
        var end = isStrict ? .max : ByteRange(offset: head, count: tuning.requestSize(transfer.requestIndex)).upperBound
        if let generation = representation?.generation, case .absent(let until) = generation.availability(at: head) {
            end = min(end, until)
        }
        end = min(end, nextCovered(after: head, transfer))
        end = min(end, transfer.readers.compactMap { readers[$0]?.end }.max() ?? .max)
        // Players open with a probe of two bytes. That is too little to tell media from a page, and what is not told
        // apart is not stored: the probe would be asked again and again.
        if head == 0, representation?.needsSniffing ?? true { end = max(end, SessionState.sniffedBytes) }
        if let length = representation?.info.length { end = min(end, length) }
        return ByteRange(head, max(end, head.adding(1)))
    }

    // MARK: What an answer is compared with

    func makeContinuation() -> RangeContinuation {
        RangeContinuation(limit: tuning.overlap, withheldLimit: tuning.withheld)
    }

    private func known(
        of representation: Representation, _ transfer: Transfer, _ wanted: ByteRange
    ) -> RangeContinuation.Known {
        let trust = trust(transfer, at: url.origin)
        let buffers = buffers
        let number = representation.id
        let isSequential = transfer.isSequential
        return RangeContinuation.Known(
            guarding: ContinuationGuard(
                policy: environment.sameness.policy(for: url.host), validator: representation.info.validator,
                trustsEntityTags: trust.entityTags, trustsDates: trust.dates),
            isBlank: isBlank(representation),
            held: { limit in
                if isSequential {
                    guard let end = buffers.heldEnd(number, from: 0) else { return nil }
                    let bytes = buffers.bytes(of: number, before: min(end, limit), limit: limit)
                    return bytes.map { RangeContinuation.Overlap(offset: min(end, limit) - Int64($0.count), bytes: $0) }
                        .flatMap { $0.offset == 0 ? $0 : nil }
                }
                return buffers.bytes(of: number, before: wanted.lowerBound, limit: limit).map {
                    RangeContinuation.Overlap(offset: wanted.lowerBound - Int64($0.count), bytes: $0)
                }
            },
            heldElsewhere: { limit in
                guard let range = buffers.of(number).map(\.range).first(where: { !$0.isEmpty }) else { return nil }
                let end = min(range.upperBound, ByteRange(offset: range.lowerBound, count: limit).upperBound)
                return buffers.bytes(of: number, before: end, limit: limit).map {
                    RangeContinuation.Overlap(offset: end - Int64($0.count), bytes: $0)
                }
            },
            stored: { limit in
                guard let generation = representation.generation else { return nil }
                let range = generation.askClaimed {
                    SessionState.overlap(in: $0, before: isSequential ? nil : wanted.lowerBound, limit: limit)
                }
                return range.map { (generation, $0) }
            })
    }

    /// Slots that have to be read before it is known which stored bytes an answer can be compared with; `nil` where none have.
    private func unloadedOverlap(_ generation: Generation, _ transfer: Transfer) -> ByteRange? {
        if transfer.isSequential {
            guard case .unloaded(let range) = generation.availability(at: 0) else { return nil }
            return range
        }
        return generation.askClaimed { $0.isEmpty } ? generation.firstUnloaded : nil
    }

    /// Whether no byte of a representation is stored, in memory or in a reader's hands. What was not looked at may be stored.
    func isBlank(_ representation: Representation) -> Bool {
        representation.generation.map { $0.firstUnloaded == nil && $0.askClaimed { $0.isEmpty } } ?? true
            && !buffers.of(representation.id).contains { !$0.range.isEmpty }
            && !readers.contains { $0.representation == representation.id && $0.hasBytes && $0.failure == nil }
    }

    /// Which stored bytes an answer is compared with: those just before `offset`, where none adjoin the first ones. An answer
    /// that begins at 0 (`nil`) can only be compared from there on.
    private static func overlap(in claimed: borrowing ByteRangeSet, before offset: Int64?, limit: Int64) -> ByteRange? {
        guard let offset else {
            return claimed.range(containing: 0).map { ByteRange(0, min($0.upperBound, limit)) }
        }
        let adjoining = (offset > 0 ? claimed.range(containing: offset - 1) : nil).map {
            ByteRange(max($0.lowerBound, offset - limit), offset)
        }
        if let adjoining, RangeContinuation.suffices(adjoining.count, limit: limit) { return adjoining }
        // The more bytes, the more they show.
        let best = claimed.ranges.first { $0.count >= limit } ?? claimed.ranges.max { $0.count < $1.count }
        guard let best, best.count > adjoining?.count ?? 0 else { return adjoining }
        return ByteRange(offset: best.lowerBound, count: min(best.count, limit))
    }

    /// Stored bytes for an overlap have been read, or could not be.
    mutating func overlapRead(_ id: Int, _ bytes: [UInt8]?) {
        guard transfers[id]?.continuation.isReading == true else { return }
        transfers[id]?.continuation.overlapRead(bytes)
        ask(id)
        plan()
    }

    // MARK: Events of a request

    /// A connection slot of the host became free.
    mutating func placeIsFree() {
        for id in transfers.ids where transfers[id]?.isQueued == true { transfers[id]?.isQueued = false }
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
