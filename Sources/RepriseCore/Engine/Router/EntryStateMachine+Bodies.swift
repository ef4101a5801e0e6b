import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// Bytes from the origin: compared where they have to repeat what is held, then put into a buffer, from which readers and the
/// disk take them.
extension EntryStateMachine {
    mutating func receivedBody(_ transfer: TransferState, _ request: OriginRequestState, _ chunk: ArraySlice<UInt8>) {
        let count = Int64(chunk.count)
        if let rate = request.measure(count, interval: tuning.measureInterval, now: now) {
            leave(.note(.rate(rate), origin: request.slot.origin))
        }
        transfer.noteProgress(now: now)
        use.received(count)
        leave(.count { $0.fromOrigin += count })
        let (position, used) = request.received(count)
        var rest = chunk.prefix(Int(used))
        var areFirst = false
        switch transfer.compare(rest, at: position) {
        case .different(let difference): return heldDiffers(transfer, difference)
        case .withheld(isFull: true):
            endRequest(of: transfer)
            return ask(transfer)
        case .withheld(isFull: false): rest = []
        case .same(let trial, let released):
            passed(trial, at: request.slot.origin)
            if let representation = representations[transfer.representation] {
                learnLength(of: representation, request)
            }
            if !released.isEmpty { areFirst = fill(transfer, released[...]) }
        case .open: break
        }
        if request.isCheck {
            receivedCheck(transfer, request)
        } else {
            // Bytes come in order, so what is behind the joint comes after all that is compared.
            let new = rest.dropFirst(Int(min(Int64(rest.count), max(0, head(of: transfer) - position))))
            if !new.isEmpty, fill(transfer, new) { areFirst = true }
            if used < count, request.end == request.position {
                receivedEnd(transfer, request, isDelimited: true)
            } else {
                demand(transfer)
            }
        }
        // Once more of this is asked for: they may wait for that.
        if areFirst { compareOthers(than: transfer) }
    }

    /// New bytes of a transfer's representation: readers first, as what is done for the disk takes the same processors.
    /// - Returns: Whether they are the first that are held, where others may bring some.
    private mutating func fill(_ transfer: TransferState, _ bytes: ArraySlice<UInt8>) -> Bool {
        guard let representation = representations[transfer.representation] else { return false }
        let areFirst = transfers.count > 1 && isBlank(representation)
        let buffer: BufferID
        if let existing = transfer.buffer {
            buffer = existing
        } else {
            let destination = EntryStateMachine.destination(of: representation.storage)
            buffer = buffers.make(for: representation.id, at: transfer.start, destination)
            transfer.fill(into: buffer)
        }
        if let request = transfer.request, request.isUnconfirmed {
            // The first there are: others are compared with them.
            request.accept(.bytes)
            learnLength(of: representation, request)
        }
        let new = ByteRange(offset: head(of: transfer), count: Int64(bytes.count))
        buffers.append(bytes, to: buffer)
        transfer.noteBytes(new)
        // What is handed on is beside the resource, whose bytes may still be waited for.
        if !representation.isHandedOn {
            backoff.progressed(by: new.contains)
            renewal.progressed(by: new.contains)
        }
        wakeReaders(of: representation.id, in: new)
        sniff(representation)
        write(representation)
        return areFirst
    }

    /// The answer to a request for bytes that are stored already: where they are the same, what was withheld for it is filled.
    private mutating func receivedCheck(_ transfer: TransferState, _ request: OriginRequestState) {
        let isPassed = !transfer.isComparing
        guard isPassed || request.end.map({ request.position >= $0 }) ?? false else { return demand(transfer) }
        endRequest(of: transfer)
        if isPassed { filled(transfer) } else { ask(transfer) }
    }

    /// A request's bytes are all in the transfer's buffer.
    private mutating func filled(_ transfer: TransferState) {
        let head = head(of: transfer)
        let representation = representations[transfer.representation]
        if let representation {
            if representation.info.length == head { sniff(representation, isAtEnd: true) }
            write(representation)
        }
        if transfer.isSequential || head >= representation?.info.length ?? .max { finish(transfer) }
        wakeWaiting()
    }

    /// What is held is not what the origin has: it is superseded, and the transfer that showed it ends.
    private mutating func heldDiffers(_ transfer: TransferState, _ difference: Mismatch) {
        guard let representation = representations[transfer.representation] else { return }
        tell(.mismatch(key: key.text, difference))
        tell(.generationChanged(key: key.text, difference))
        finish(transfer)
        giveUp(representation)
    }

    /// The first bytes say whether this is media at all.
    ///
    /// They are the origin's own, also where a transform is to come: what a page is told by is what the origin sent, and
    /// transformed it would pass for media. Encrypted media begin as a page does by accident about once in 2^32 resources;
    /// such a one plays, only it is not stored.
    /// - Parameter isAtEnd: Whether no more will come, though the length may not be known for certain.
    mutating func sniff(_ representation: Representation, isAtEnd: Bool = false) {
        guard representation.storage.isUndecided else { return }
        let head = buffers.prefix(of: representation.id, limit: EntryStateMachine.sniffedBytes)
        if representation.needsSniffing, !head.isEmpty {
            let isWhole = isAtEnd || representation.info.length.map { Int64(head.count) >= $0 } ?? false
            let signature = ContainerSignature.of(head)
            // A page may begin with blanks: only a known signature is believed before all is seen that is looked at. Where bytes
            // elsewhere wait to be stored, what there is has to do: the rest may never come, and they would fill the memory.
            let isWaitedFor = buffers.nextHeld(of: representation.id, after: Int64(head.count)) != nil
            guard signature != .unknown || isWhole || isWaitedFor || head.count >= EntryStateMachine.sniffedBytes else {
                return
            }
            // A stored playlist would never grow; a shared cache goes by what it says of its life.
            let isPage = signature == .markup && MediaType(representation.info.fields["Content-Type"])?.isXML != true
            let isTransient = isPage || signature == .manifest && !selector.isSharedHTTP
            representation.sniffed(isTransient: isTransient)
            if isTransient {
                changeStorage(of: representation.id) { $0.decline(.notStorable) }
                guard isPage else { return }
                return tell(.mismatch(key: key.text, .page(calledMedia: representation.info.fields)))
            }
        }
        decideStorage(of: representation)
    }

    mutating func receivedEnd(
        _ transfer: TransferState, _ request: OriginRequestState, isDelimited: Bool, trailers: HTTPFields = HTTPFields()
    ) {
        let head = head(of: transfer)
        let representation = representations[transfer.representation]
        let known = representation?.info.length
        let closedAt = isDelimited || request.end != nil ? nil : request.position
        // Nothing but its length tells whether this is what is held: with a validator the request has an end.
        if request.end == nil, isDelimited, !request.isCheck, let known, known != head {
            return heldDiffers(transfer, .length(known, head))
        }
        // One that ends at the same byte every time ends there.
        let isEnd = closedAt.map(backoff.endsRepeatedly(at:)) ?? false
        if isEnd, let known, head < known { return heldDiffers(transfer, .length(known, head)) }
        if let end = request.end ?? known, request.position < end {
            let words = "the origin sent \(request.position) of \(end) bytes"
            return requestFailed(transfer, OriginFailure(.interrupted, words), closedAt: closedAt)
        }
        let isIncomplete = transfer.isComparing
        // All of it came, and less than is held.
        if isIncomplete, request.asked == nil {
            let words = "the origin sent all of it in \(request.position) bytes, and more is held"
            if closedAt != nil, !isEnd {
                return requestFailed(transfer, OriginFailure(.interrupted, words), closedAt: closedAt)
            }
            return heldDiffers(transfer, Mismatch(expected: .nothing, got: .length(request.position), words))
        }
        endRequest(of: transfer)
        if request.isCheck || isIncomplete { return ask(transfer) }
        if let representation, request.end == nil {
            if isDelimited {
                learn(length: head, of: representation)
                representation.learn(trailers: trailers)
            } else {
                // Told only by closing: good for readers that read now, never taken for complete.
                representation.infer(end: head)
            }
            sniff(representation, isAtEnd: true)
        }
        filled(transfer)
    }

    /// A request's bytes are known to be a representation's: the length that its answer told is, too.
    private mutating func learnLength(of representation: Representation, _ request: OriginRequestState) {
        guard representation.info.length == nil, let length = request.announcedLength else { return }
        learn(length: length, of: representation)
    }

    /// The end of a representation is known: that is written down, and readers that wait past it are told.
    mutating func learn(length: Int64, of representation: Representation) {
        representation.learn(length: length)
        rewriteDescription(of: representation)
        // All of a short resource may be there already, and was too little to be told from a page.
        if Int64(buffers.prefix(of: representation.id, limit: EntryStateMachine.sniffedBytes).count) >= length {
            sniff(representation, isAtEnd: true)
            write(representation)
        }
        wakeWaiting()
    }
}
