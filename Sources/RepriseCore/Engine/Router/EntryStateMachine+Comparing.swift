import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// What answers are compared with: whose word counts, and which bytes are held.
extension EntryStateMachine {
    /// What decides what an answer means.
    func judge(
        for request: OriginRequestState, _ representation: Representation?, trial: RangeContinuation.Trial?
    ) -> ResponseJudge {
        let trust = trust(in: request.slot.origin, trial: trial)
        let held = representation.map {
            ResponseJudge.Held(
                validator: $0.info.validator, length: $0.info.length, isDateStrong: isDateStrong($0.info.fields),
                isResource: $0.isResource)
        }
        return ResponseJudge(
            asked: request.asked, held: held, trustsEntityTags: trust.entityTags,
            trustsDates: trust.dates, now: wallClock)
    }

    /// Whether an origin's tags differ only where bytes do. What readers share goes by its own tags alone: one that changed is
    /// never taken for confirmed.
    func trustsEntityTags(of origin: String) -> Bool {
        selector.isSharedHTTP || environment.hosts.trustsEntityTags(of: origin, now: now)
    }

    /// Whose word counts for a transfer's next request, or an answer.
    func trust(in origin: String, trial: RangeContinuation.Trial?) -> (entityTags: Bool, dates: Bool) {
        let isLoose = origins.isLoose(origin) || trial == .otherHost
        return (
            entityTags: !isLoose && trial == nil && trustsEntityTags(of: origin),
            dates: !isLoose
        )
    }

    /// Whether an answer with those fields shows by itself which bytes are of its version.
    func identifies(_ fields: HTTPFields, _ request: OriginRequestState) -> Bool {
        guard comparesBytes else { return true }
        let validator = Validator(fields: fields)
        return judge(for: request, nil, trial: nil).identifies(validator)
            && (validator.entityTag != nil || isDateStrong(fields))
    }

    /// Whether the date of an answer with those fields shows that bytes are its own: HTTP's rules say when.
    func isDateStrong(_ fields: HTTPFields) -> Bool {
        environment.freshness != .http || PartialContentRule.hasStrongDate(fields)
    }

    func known(
        of representation: Representation, _ transfer: TransferState, _ wanted: ByteRange, at location: OriginURL
    ) -> RangeContinuation.Known {
        let trust = trust(in: location.origin, trial: transfer.trial)
        let (buffers, id, isSequential) = (buffers, representation.id, transfer.isSequential)
        /// The last held bytes before `end`.
        func overlap(before end: Int64, _ limit: Int64) -> RangeContinuation.Overlap? {
            buffers.bytes(of: id, before: end, limit: limit).map {
                RangeContinuation.Overlap(offset: end - Int64($0.count), bytes: $0)
            }
        }
        return RangeContinuation.Known(
            guarding: ContinuationGuard(
                policy: environment.sameness.policy(for: url.host), validator: representation.info.validator,
                trustsEntityTags: trust.entityTags, trustsDates: trust.dates,
                isDateStrong: isDateStrong(representation.info.fields)),
            isBlank: isBlank(representation) && (transfer.trial == nil || !isBegun(representation, besides: transfer)),
            isAll: { isAll($0, of: representation) },
            isMoreComing: isMoreComing(of: id, besides: transfer) || buffers.willStore(id) && !hasHungWrite(id),
            held: { limit in
                guard isSequential else { return overlap(before: wanted.lowerBound, limit) }
                guard let end = buffers.heldEnd(id, from: 0) else { return nil }
                return overlap(before: min(end, limit), limit).flatMap { $0.offset == 0 ? $0 : nil }
            },
            heldElsewhere: { limit in
                guard let range = buffers.of(id).map(\.range).filter({ !$0.isEmpty }).max(by: { $0.count < $1.count })
                else { return nil }
                return overlap(before: min(range.upperBound, range.lowerBound.adding(limit)), limit)
            },
            stored: { limit in
                guard let generation = representation.generation else { return nil }
                let range = generation.askClaimed {
                    RangeContinuation.overlap(in: $0, before: isSequential ? nil : wanted.lowerBound, limit: limit)
                }
                return range.map { (generation, $0) }
            })
    }

    /// Whether bytes of a representation are on their way that an answer could be compared with.
    private func isMoreComing(of id: RepresentationID, besides transfer: TransferState) -> Bool {
        transfers.contains { other in
            other.id != transfer.id && other.representation == id
                && other.request.map { !$0.hasHead || $0.isDemanding } ?? false
        }
    }

    /// Slots that have to be read before it is known which stored bytes an answer can be compared with; `nil` where none have.
    func unloadedOverlap(_ generation: Generation, _ transfer: TransferState) -> ByteRange? {
        if transfer.isSequential {
            guard case .unloaded(let range) = generation.availability(at: 0) else { return nil }
            return range
        }
        return generation.askClaimed { $0.isEmpty } ? generation.firstUnloaded : nil
    }

    /// Whether no byte of a representation is stored or may still be, in memory, or in a reader's hands. What was not looked at
    /// may be stored.
    func isBlank(_ representation: Representation) -> Bool { isAll(ByteRange(0, 0), of: representation) }

    /// Whether no byte of a representation outside `range` is stored, or may be, in memory, or in a reader's hands.
    private func isAll(_ range: ByteRange, of representation: Representation) -> Bool {
        // Asked with each chunk where several transfers run: what is in memory answers without a lock.
        guard buffers.holdsNothing(of: representation.id, outside: range) else { return false }
        return representation.storage.heldFiles.map { files in
            files.firstUnloaded == nil && files.askClaimed { $0.ranges.allSatisfy { range.contains($0) } }
        } ?? !representation.isCommitted
            && readers.reading(representation.id).allSatisfy { $0.handed.map { range.contains($0) } ?? true }
    }

    /// Whether an answer to another transfer brings a representation's bytes.
    func isBegun(_ representation: Representation, besides transfer: TransferState) -> Bool {
        transfers.contains {
            $0.id != transfer.id && $0.representation == representation.id && $0.request?.hasHead == true
        }
    }

    /// Stored bytes for an overlap have been read, or could not be.
    mutating func overlapRead(_ id: TransferID, _ representation: RepresentationID, _ bytes: [UInt8]?) {
        diskAnswered(representation)
        guard let transfer = transfers[id], transfer.overlapRead(bytes) else { return }
        ask(transfer)
        replan()
    }

    // MARK: Whether an answer belongs to what is held

    /// What shows that an answer belongs to the representation that a transfer fills.
    func evidence(of transfer: TransferState, isConfirmed: Bool) -> OriginRequestState.Evidence {
        if !comparesBytes || isConfirmed { return .validator }
        return transfer.isContinuationConfirmed ? .bytes : .nothing
    }

    /// Whether bytes have to be the same where validators do not say so.
    var comparesBytes: Bool { environment.sameness.policy(for: url.host) != .lengthOnly }

    /// Whether the answer under way is compared with what is held from its first byte on, or need not be.
    func isComparable(_ transfer: TransferState) -> Bool {
        transfer.isSequential && transfer.isComparing || !comparesBytes
    }

    func isComparableFromStart(_ representation: Representation) -> Bool {
        buffers.heldEnd(representation.id, from: 0) != nil
            || representation.generation?.askClaimed({ $0.contains(0) }) ?? false
    }

    /// Whether another transfer's answer has validators that this one does not share, though nothing of either has come yet: two
    /// hosts may have answered.
    func isAlien(
        _ head: OriginResponseHead, to representation: Representation, _ judge: ResponseJudge,
        besides transfer: TransferState
    ) -> Bool {
        let held = representation.info.validator
        guard judge.trustsEntityTags, held.entityTag != nil || held.lastModified != nil else { return false }
        return isBegun(representation, besides: transfer) && !judge.isConfirmed(by: head, strongly: false)
    }

    /// Whether an answer makes another representation, where no byte of the known one is held, nor coming, that it could be
    /// compared with: its bytes would go by validators that are not theirs, which others would join, or end where another's do.
    func isAnother(
        _ head: OriginResponseHead, _ length: Int64?, than held: Representation, _ judge: ResponseJudge,
        _ request: OriginRequestState, _ transfer: TransferState
    ) -> Bool {
        guard isBlank(held), !isBegun(held, besides: transfer) else { return false }
        if held.end != nil, length == nil { return true }
        if held.end == nil, length == 0 { return true }
        let (old, new) = (held.info.validator, Validator(fields: head.fields))
        guard old.entityTag != nil || old.lastModified != nil else { return false }
        // A host whose tags change without reason still says the same one of the same bytes.
        let isSameTag = old.entityTag.map { new.entityTag?.matchesWeakly($0) ?? false } ?? false
        return !(isSameTag && !origins.isLoose(request.slot.origin)) && !judge.isConfirmed(by: head, strongly: false)
    }
}
