import RepriseHTTP
import RepriseRanges
import RepriseStorage

extension SessionState {
    // MARK: Bytes from the origin

    mutating func receivedBody(_ id: Int, _ piece: ArraySlice<UInt8>) {
        guard var transfer = transfers[id], var request = transfer.request, !request.isRevalidation else { return }
        request.isDemanding = false
        measure(&request, Int64(piece.count))
        transfer.lastProgress = now
        let received = Int64(piece.count)
        sums.fromOrigin += received
        effects.append(.count { $0.fromOrigin += received })
        var rest = piece
        if let end = request.end, request.position + Int64(rest.count) > end {
            // More than was announced: what is past the end belongs to nothing.
            rest = rest.prefix(Int(max(0, end - request.position)))
        }
        if request.isCheck {
            receivedCheck(id, transfer, request, rest)
            return
        }
        if request.position < transfer.window.head {
            let part = rest.prefix(Int(min(Int64(rest.count), transfer.window.head - request.position)))
            if let difference = difference(part, request) {
                transfer.request = request
                transfers[id] = transfer
                heldDiffers(id, difference)
                return
            }
            request.position += Int64(part.count)
            rest = rest.dropFirst(part.count)
            if transfer.isTrial, request.position >= transfer.window.head {
                transfers[id] = transfer
                passedTrial(id)
                transfer.isTrial = false
            }
        }
        if !rest.isEmpty {
            let new = ByteRange(offset: request.position, count: Int64(rest.count))
            request.position += Int64(rest.count)
            transfer.window.append(rest)
            if trouble?.offset.map(new.contains) ?? true { trouble = nil }
        }
        transfer.request = request
        transfers[id] = transfer
        if !rest.isEmpty {
            // First who waits: what is done for the disk takes the same processors.
            wakeReaders(of: id)
            sniff(id)
            write(id)
        }
        if let end = request.end, request.position >= end, piece.count > rest.count, request.overlap.isEmpty {
            receivedEnd(id, isDelimited: true)
            return
        }
        demand(id)
    }

    /// The answer to a request for bytes that are stored already: they must be the same.
    private mutating func receivedCheck(
        _ id: Int, _ transfer: Transfer, _ request: Transfer.Request, _ piece: ArraySlice<UInt8>
    ) {
        var transfer = transfer
        var request = request
        let difference = difference(piece, request)
        request.position += Int64(piece.count)
        transfer.request = request
        transfers[id] = transfer
        if let difference { return heldDiffers(id, difference) }
        if let end = request.end, request.position >= end {
            passedCheck(id)
        } else {
            demand(id)
        }
    }

    /// The origin still has the stored bytes: the transfer goes on to what is missing.
    private mutating func passedCheck(_ id: Int) {
        transfers[id]?.isChecked = true
        passedTrial(id)
        endRequest(id)
        ask(id)
    }

    /// Tells the host's book a connection's rate, over spells in which bytes were asked for.
    func measure(_ request: inout Transfer.Request, _ count: Int64) {
        request.received += count
        let elapsed = now - request.measuredFrom
        guard elapsed >= tuning.measureInterval else { return }
        environment.hosts.note(
            rate: Double(request.received) * Double(TransferTuning.second) / Double(elapsed), of: url.origin)
        request.received = 0
        request.measuredFrom = now
    }

    /// How the bytes of `part` differ from those that are held before the fill; `nil` where they are the same.
    private func difference(_ part: ArraySlice<UInt8>, _ request: Transfer.Request) -> Mismatch? {
        guard !request.overlap.isEmpty, let asked = request.asked else { return nil }
        let start = Int(request.position - asked.lowerBound)
        let (held, came) = (
            request.overlap.dropFirst(start).prefix(part.count), part.prefix(request.overlap.count - start)
        )
        return held.elementsEqual(came) ? nil : .bytes(held, came, at: request.position)
    }

    /// What is held is not what the origin has: it is superseded, and the transfer that showed it ends.
    private mutating func heldDiffers(_ id: Int, _ difference: Mismatch) {
        guard let number = transfers[id]?.representation else { return }
        effects.append(.event(.mismatch(key: key.text, difference)))
        effects.append(.event(.generationChanged(key: key.text, difference)))
        endRequest(id)
        supersede(number)
        finish(id)
        // Readers that were told nothing yet start over without a representation; the next answer makes one.
        for reader in readers.keys.sorted()
        where readers[reader]?.representation == number && readers[reader]?.isBound == false {
            readers[reader]?.representation = nil
        }
        if current == number { current = nil }
    }

    private mutating func wakeReaders(of id: Int) {
        guard let transfer = transfers[id] else { return }
        for reader in readers.keys.sorted() {
            guard let waiting = readers[reader], waiting.wake != nil, waiting.representation == transfer.representation,
                transfer.window.range.contains(waiting.position)
            else { continue }
            wake(reader)
        }
    }

    /// The first bytes say whether this is media at all.
    ///
    /// They are the origin's own, also where a transform is to come: what a page is told by is what the origin sent, and
    /// transformed it would pass for media. Enciphered media begin as a page does by accident about once in 2^32 resources;
    /// such a one plays all the same, only it is not stored.
    /// - Parameter isAtEnd: Whether no more will come, though the length may not be known for certain.
    private mutating func sniff(_ id: Int, isAtEnd: Bool = false) {
        guard let transfer = transfers[id], let number = transfer.representation,
            let representation = representations[number], case .undecided = representation.storing
        else { return }
        if representation.needsSniffing, transfer.window.base == 0 {
            let head = transfer.window.bytes(in: ByteRange(0, SessionState.sniffedBytes))
            let isWhole = isAtEnd || representation.info.length.map { transfer.window.head >= $0 } ?? false
            let signature = ContainerSignature.of(head)
            // A page may begin with blanks: only a known signature is believed before all is seen that is looked at.
            guard signature != .unknown || isWhole || head.count >= SessionState.sniffedBytes else { return }
            representations[number]?.needsSniffing = false
            if signature == .markup {
                representations[number]?.storing = .off(nil)
                storedChanged()
                effects.append(.event(.mismatch(key: key.text, .page(calledMedia: representation.info.fields))))
                return
            }
        }
        guard keepsAnything, !isUnreadable, environment.admission.admits(representation.info) else {
            representations[number]?.storing = .off(nil)
            let keeps = keepsAnything
            representations[number]?.isUnkept = !keeps
            return storedChanged()
        }
        stage(number)
    }

    /// Has the files of a representation made.
    mutating func stage(_ number: Int) {
        guard let info = representations[number]?.info else { return }
        let replaces = representations.values.contains { $0.id != number && $0.isCommitted }
        representations[number]?.storing = .staging
        effects.append(.stage(representation: number, info, commit: !replaces))
    }

    mutating func receivedEnd(_ id: Int, isDelimited: Bool) {
        guard let transfer = transfers[id], let request = transfer.request else { return }
        if request.isRevalidation {
            // A body where none was expected: the head has said it all already.
            endRequest(id)
            transfers[id] = nil
            return
        }
        let known = transfer.representation.flatMap { representations[$0]?.info.length }
        // Nothing but its length tells whether this is what is held: with a validator the request has an end.
        if request.end == nil, isDelimited, let known, known != transfer.window.head {
            return heldDiffers(id, .length(known, transfer.window.head))
        }
        if let end = request.end ?? known, request.position < end {
            requestFailed(id, OriginFailure(.interrupted, "the origin sent \(request.position) of \(end) bytes"))
            return
        }
        endRequest(id)
        if let number = transfer.representation, let representation = representations[number] {
            if request.end == nil {
                if isDelimited {
                    learnLength(transfer.window.head, of: number)
                } else {
                    // Told only by closing: good for those who read now, never taken for complete.
                    representations[number]?.softEnd = transfer.window.head
                }
                sniff(id, isAtEnd: true)
            }
            if representation.isStored || representation.isPassThrough { write(id) }
        }
        let length = transfer.representation.flatMap { representations[$0]?.info.length } ?? .max
        if transfer.isSequential || transfer.window.head >= length { finish(id) }
        wakeWaiting()
    }

    // MARK: Bytes to the store

    /// Has undrained bytes written, one piece of work a transfer at a time.
    mutating func write(_ id: Int) {
        guard let transfer = transfers[id], !transfer.isWriting, transfer.window.undrained > 0,
            let number = transfer.representation, let representation = representations[number],
            case .open(let generation) = representation.storing, let writer = transfer.writer,
            !followsUnwritten(transfer, generation.layout)
        else { return }
        var end = Int64.max
        if generation.isSealed {
            end = sealableEnd(transfer.window, generation.layout, isAll: transfer.isAtRest)
            guard end > transfer.window.drained else { return }
        }
        guard environment.quota.hasRoom else { return waitForRoom(number) }
        let pieces = transfer.window.undrainedPieces(limit: SessionState.writtenAtOnce, before: end)
        let count = pieces.reduce(0) { $0 + Int64($1.count) }
        transfers[id]?.isWriting = true
        effects.append(
            .write(
                transfer: id, writer, lane: Int(truncatingIfNeeded: generation.identity), pieces,
                at: transfer.window.drained, count: count))
    }

    /// As `write`, for every transfer of a representation.
    mutating func writeAll(of number: Int) {
        for id in transfers.keys.sorted() where transfers[id]?.representation == number { write(id) }
    }

    /// Whether the block it starts in has its beginning in another window still: bytes without it cannot be stored.
    private func followsUnwritten(_ transfer: Transfer, _ layout: BlockLayout) -> Bool {
        guard transfer.window.drained == transfer.start else { return false }
        let beginning = ByteRange(layout.blockStart(of: transfer.start), transfer.start)
        return transfers.values.contains { other in
            other.id != transfer.id && other.representation == transfer.representation
                && ByteRange(other.window.drained, other.window.head).intersection(beginning) != nil
        }
    }

    private static let writtenAtOnce: Int64 = 256 * 1024

    /// How far a window is written in a sealed store. A block is sealed when it is full, and what there is of it when
    /// nothing more comes: until then the window answers for it.
    private func sealableEnd(_ window: LiveWindow, _ layout: BlockLayout, isAll: Bool) -> Int64 {
        let limit = ByteRange(offset: window.drained, count: SessionState.writtenAtOnce).upperBound
        let full = layout.blockStart(of: min(window.head, limit))
        if full > window.drained { return full }
        return isAll ? window.head : window.drained
    }

    /// Bytes of a transfer reached the disk, or could not.
    mutating func wrote(_ id: Int, count: Int64, error: String?) {
        guard let transfer = transfers[id] else { return }
        transfers[id]?.isWriting = false
        storedChanged()
        if let error {
            if let number = transfer.representation { stopStoring(number, error) }
        } else {
            if let number = transfer.representation { storingWorks(number) }
            environment.quota.stored(count)
            transfers[id]?.window.drained += count
            let drained = transfers[id]?.window.drained ?? 0
            transfers[id]?.window.trim(before: drained)
            effects.append(.count { $0.stored += count })
            effects.append(.event(.stored(key: key.text, bytes: count)))
            if let number = transfer.representation {
                commitIfDue(number)
                // Its own next piece, and what waited for this one.
                writeAll(of: number)
            }
            syncDue = syncDue ?? now + tuning.syncInterval
            syncIfDue()
        }
        plan()
    }

    /// The disk does not take bytes: playback goes on from memory, nothing more is kept of this representation now.
    mutating func stopStoring(_ number: Int, _ reason: String) {
        guard let representation = representations[number] else { return }
        representations[number]?.storing = .off(
            representation.isCommitted ? representation.generation : representation.lost)
        takeWriters(of: number)
        if representation.retry == nil { effects.append(.event(.degraded(key: key.text, reason: reason))) }
        retryStoring(number)
        if !representation.isCommitted, representation.generation != nil {
            effects.append(.abandon(representation.info))
        }
    }

    /// The files of a representation were made, or could not be.
    mutating func staged(_ number: Int, _ entry: StoredEntry?, isCommitted: Bool, error: StoreError?) {
        storedChanged()
        guard let representation = representations[number] else {
            if let entry, !isCommitted { effects.append(.abandon(entry.info)) }
            return
        }
        guard let entry else {
            stopStoring(number, error?.description ?? "the entry could not be made")
            plan()
            return
        }
        // The length may have been learnt meanwhile.
        var info = entry.info
        info.length = representation.info.length
        info.servesRanges = representation.info.servesRanges
        // And what it says may have been made unusable.
        info.checked = representation.info.checked
        representations[number]?.info = info
        representations[number]?.storing = .open(entry.generation)
        representations[number]?.lost = nil
        environment.quota.stored(Quota.entryCost)
        if let representation = representations[number] { expectTrimming(representation) }
        if isCommitted {
            representations[number]?.isCommitted = true
            current = number
            if info != entry.info { effects.append(.commit(representation: number, info)) }
        }
        for id in transfers.keys.sorted() where transfers[id]?.representation == number {
            transfers[id]?.writer = FillWriter(generation: entry.generation)
            write(id)
        }
        plan()
    }

    /// A new representation takes the old one's place once its first block is stored and its type agrees; a pinned or
    /// complete one is replaced only by a complete one.
    private mutating func commitIfDue(_ number: Int) {
        guard !isRetired, let representation = representations[number], !representation.isCommitted,
            let generation = representation.generation,
            let old = representations.values.first(where: { $0.id != number && $0.isCommitted })
        else { return }
        let agrees =
            MediaType(old.info.fields["Content-Type"])?.type
            == MediaType(representation.info.fields["Content-Type"])?.type
        let needsAll = old.info.isPinned || old.isComplete || !agrees
        let block = min(generation.layout.blockSize, representation.info.length ?? .max)
        let hasBlock = generation.claimed.ranges.contains { $0.count >= block }
        guard needsAll ? representation.isComplete : hasBlock else { return }
        representations[number]?.isCommitted = true
        representations[number]?.info.isPinned = old.info.isPinned
        representations[old.id]?.isCommitted = false
        representations[old.id]?.isSuperseded = true
        current = number
        if let info = representations[number]?.info { effects.append(.commit(representation: number, info)) }
    }

    /// `info.json` could not be written.
    mutating func commitFailed(_ number: Int, _ error: StoreError) {
        if isRetired { return }
        if error.code == .gone { return purged(number) }
        effects.append(.event(.degraded(key: key.text, reason: error.description)))
    }
}
