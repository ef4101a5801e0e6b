import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// The origin has another representation, or seems to: mirrors and a CDN's nodes have validators of their own, and the bytes
/// decide then.
extension EntryStateMachine {
    mutating func changed(
        _ transfer: TransferState, _ request: OriginRequestState, _ head: OriginResponseHead, _ held: Representation,
        _ difference: Mismatch, length: Int64?, servesRanges: Bool
    ) {
        if representations.isOutdated(request.id) {
            endRequest(of: transfer)
            return ask(transfer)
        }
        // A 416 told of another length: its body is a message, and says nothing of the resource's bytes.
        if head.status == 416 { return lengthChanged(transfer, held, difference) }
        let new = Validator(fields: head.fields)
        if head.status == 200 || head.status == 206,
            isWorthTrial(transfer, held, new, length: length, at: request.slot.origin)
        {
            return compareBytes(of: transfer, isElsewhere(held, request.slot.origin) ? .otherHost : .entityTags)
        }
        if isPage(head, insteadOf: held) { return refusePage(transfer, head, held) }
        tell(.generationChanged(key: key.text, difference))
        // All of it, to a range without a condition, is the answer of an origin that serves none.
        let ignoresRanges = head.status == 200 && request.asked != nil && !request.isConditional
        let servesRanges = (servesRanges || held.info.servesRanges) && !ignoresRanges
        let fresh = makeRepresentation(head, request, length: length, servesRanges: servesRanges, for: held.audience)
        // Readers that were told nothing yet go on with it: those its transfer runs for, whose request fields choose it.
        let waiting = transfer.readers.compactMap { readers[$0] }.filter { !$0.isAnnounced && !$0.hasEnded }
        supersede(held)
        let wanted = self.head(of: transfer)
        let part = head.fields["Content-Range"].flatMap(ContentRange.parse)
        restart(transfer, at: head.status == 206 ? request.asked?.lowerBound ?? 0 : wanted)
        transfer.fill(fresh.id)
        request.becomesContent()
        for reader in waiting where belongs(reader, to: fresh) { give(reader, fresh.id) }
        if head.status == 206, case .satisfied(let range, _)? = part {
            beginBody(transfer, at: range.lowerBound, end: range.upperBound)
        } else if wanted > tuning.firstRequest, servesRanges {
            finish(transfer)
        } else {
            rebase(transfer)
            beginBody(transfer, at: 0, end: length)
        }
    }

    /// Whether a page was answered where media is held. An answer that is held instead of the resource is no media, whatever
    /// its type.
    func isPage(_ head: OriginResponseHead, insteadOf held: Representation) -> Bool {
        held.isResource && isMedia(held.info.fields) && !isMedia(head.fields)
    }

    /// A page says nothing of what is held: it is refused, and asked for again later.
    mutating func refusePage(_ transfer: TransferState, _ head: OriginResponseHead, _ held: Representation) {
        let offset = self.head(of: transfer)
        finish(transfer)
        tell(.mismatch(key: key.text, .page(head.fields, insteadOf: held.info.fields)))
        failed(
            .originInvalid, "the origin answered with a page instead of media; what is stored was kept", at: offset)
    }

    mutating func lengthChanged(_ transfer: TransferState, _ held: Representation, _ difference: Mismatch) {
        tell(.generationChanged(key: key.text, difference))
        finish(transfer)
        outdate(held)
        giveUp(held)
    }

    /// A representation cannot be continued, and no answer has shown its successor: readers that were told nothing yet start over
    /// without one; the next answer makes one.
    mutating func giveUp(_ representation: Representation) {
        supersede(representation, isOutdated: false)
        for reader in readers.reading(representation.id) { reader.unbind() }
        representations.giveUp(representation.id)
        replan()
    }

    /// Nothing shows that what these readers want goes on with a representation. Where it is being brought to others, that
    /// stays as it is, as two that gave up each other's would never end: readers that were told nothing yet have the origin's
    /// bytes to themselves, the others end.
    mutating func giveUp(_ representation: Representation, for ids: [ReaderID]) {
        let left = transfers.filter { $0.representation == representation.id }
        guard !isPrivate, left.contains(where: { hasReaders($0, besides: ids) }) else { return giveUp(representation) }
        for reader in ids.compactMap({ readers[$0] })
        where reader.isUnbound
            || reader.representation == representation.id && !isServed(reader, representation, by: left)
        {
            leaveAlone(
                reader,
                CacheError(.changed, "nothing shows that the origin still has what was read; open it again"))
            replan()
        }
    }

    /// Whether a transfer has readers, besides these; one that went on to another representation is not its reader any more.
    func hasReaders(_ transfer: TransferState, besides ids: [ReaderID] = []) -> Bool {
        transfer.readers.contains { id in
            !ids.contains(id)
                && readers[id].map { $0.representation == transfer.representation && !$0.hasEnded } ?? false
        }
    }

    /// Whether a reader lacks nothing now, or one of these transfers brings what it lacks; who is paused brings nothing.
    private mutating func isServed(
        _ reader: Reader, _ representation: Representation, by transfers: [TransferState]
    ) -> Bool {
        lacksNothing(reader, representation)
            || transfers.contains { $0.pausedSince == nil && $0.readers.contains(reader.id) }
    }

    /// A reader that was told nothing yet has the origin's bytes to itself; one that was told ends.
    mutating func leaveAlone(_ reader: Reader, _ error: CacheError) {
        if reader.isAnnounced || isPrivate { fail(reader, error) } else { redirect(reader, .alone) }
    }

    /// The origin has another representation: this one can be read, not filled any more.
    /// - Parameter isOutdated: Whether it was seen to have another one, not only that this one cannot be filled.
    mutating func supersede(_ representation: Representation, isOutdated: Bool = true) {
        // Another answer of one request does not show that the resource changes.
        if !representation.isSuperseded, representation.isResource {
            restarts.restarted(now: now, pauses: pauses)
            // Who waits for one that lasts does not wait for ever.
            if restarts.pausedUntil(now) != nil {
                // Only the byte that a reader waits for is progress: each version begins with bytes.
                let offset = readers.first(where: \.isAwaiting)?.position
                failed(.changed, "the origin has another version with each answer", at: offset)
            }
        }
        if isOutdated { outdate(representation) }
        representation.supersede()
        // What was not decided to be stored by now is not: its bytes wait for no disk.
        if representation.storage.isUndecided { changeStorage(of: representation.id) { $0.decline(.left) } }
        // The transfer whose answer showed the change is handed to the new representation by its caller.
        for other in transfers where other.representation == representation.id && other.request?.hasHead != true {
            finish(other)
        }
    }

    // MARK: Bytes decide

    /// Whether a representation that seems to be another one is to be tried by an overlap of bytes instead.
    func isWorthTrial(
        _ transfer: TransferState, _ held: Representation, _ new: Validator, length: Int64?, at origin: String
    ) -> Bool {
        guard environment.sameness.policy(for: url.host) == .automatic, transfer.trial == nil,
            length == nil || held.info.length == nil || length == held.info.length,
            held.storage.files?.askClaimed({ $0.isEmpty }) == false || buffers.hasBytes(of: held.id)
        else { return false }
        if isElsewhere(held, origin) { return true }
        // Only the tag differs: nodes of one CDN often disagree about tags. HTTP's own rules take tags as they are.
        guard !selector.isSharedHTTP || held.info.validator.entityTag?.isWeak == true else { return false }
        guard let old = held.info.validator.entityTag, let tag = new.entityTag, old != tag else { return false }
        return held.info.validator.hasDate(of: new)
    }

    /// Whether what answers, at `origin`, may be another host than the one whose validators are held. HTTP's own rules know no
    /// other place (RFC 9111 §3.4).
    func isElsewhere(_ held: Representation, _ origin: String) -> Bool {
        guard environment.freshness == .immutable, !origins.isLoose(origin) else { return false }
        if environment.hostGroups.group(of: url) != nil { return true }
        return OriginURL(held.info.url).map { $0.authority.octets != url.authority.octets } ?? false
    }

    /// Asks again without a condition: the bytes shall decide.
    mutating func compareBytes(of transfer: TransferState, _ trial: RangeContinuation.Trial) {
        endRequest(of: transfer)
        transfer.begin(trial)
        ask(transfer)
    }

    /// The bytes are the same though the validators of a host differ.
    mutating func passed(_ trial: RangeContinuation.Trial?, at origin: String) {
        switch trial {
        case .otherHost: origins.add(origin)
        case .entityTags:
            leave(.note(.differingEntityTags, origin: origin))
            tell(.demotedEntityTags(host: origin))
        case .noValidator, nil: break
        }
    }
}
