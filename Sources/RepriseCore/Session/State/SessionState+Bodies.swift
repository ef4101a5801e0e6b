import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// Bytes from the origin: compared where they have to repeat what is held, then kept in a buffer.
extension SessionState {
    mutating func receivedBody(_ id: Int, _ chunk: ArraySlice<UInt8>) {
        guard var transfer = transfers[id], var request = transfer.request, !request.isRevalidation else { return }
        request.isDemanding = false
        measure(&request, Int64(chunk.count))
        transfer.lastProgress = now
        let received = Int64(chunk.count)
        request.bodyBytes += received
        sums.fromOrigin += received
        effects.append(.count { $0.fromOrigin += received })
        var rest = chunk
        if let end = request.end, received > end - request.position {
            // More than was announced: what is past the end belongs to nothing.
            rest = rest.prefix(Int(max(0, end - request.position)))
        }
        let comparison = transfer.continuation.compare(rest, at: request.position)
        let position = request.position
        request.position += Int64(rest.count)
        let isOverlong = rest.count < chunk.count
        transfer.request = request
        transfers[id] = transfer
        switch comparison {
        case .different(let difference): return heldDiffers(id, difference)
        case .withheld(isFull: true):
            endRequest(id)
            return ask(id)
        case .same(let trial, let released):
            passed(trial, at: request.origin)
            if let number = transfer.representation, representations[number]?.info.length == nil,
                let length = request.announcedLength
            {
                learnLength(length, of: number)
            }
            if !released.isEmpty { fill(id, released[...]) }
        case .withheld(isFull: false): rest = []
        case .open: break
        }
        if request.isCheck { return receivedCheck(id) }
        let new = rest.dropFirst(Int(min(Int64(rest.count), max(0, head(of: transfer) - position))))
        // Bytes come in order, so what is behind the joint comes after all that is compared.
        if !new.isEmpty { fill(id, new) }
        if isOverlong, request.end == request.position { return receivedEnd(id, isDelimited: true) }
        demand(id)
    }

    /// New bytes of a transfer's representation: readers first, as what is done for the disk takes the same processors.
    private mutating func fill(_ id: Int, _ bytes: ArraySlice<UInt8>) {
        guard let transfer = transfers[id], let number = transfer.representation else { return }
        let buffer = transfer.buffer ?? makeBuffer(for: number, at: transfer.start)
        transfers[id]?.buffer = buffer
        let begun = head(of: transfer)
        buffers.append(bytes, to: buffer)
        let new = ByteRange(offset: begun, count: Int64(bytes.count))
        if trouble?.offset.map(new.contains) ?? true { trouble = nil }
        wakeReaders(of: number, in: new)
        sniff(number)
        write(number)
    }

    private mutating func makeBuffer(for number: Int, at offset: Int64) -> BufferID {
        let storage = representations[number]?.storage
        return buffers.make(for: number, at: offset, SessionState.destination(of: storage))
    }

    /// The answer to a request for bytes that are stored already: where they are the same, what was withheld for it is filled.
    private mutating func receivedCheck(_ id: Int) {
        guard let transfer = transfers[id], let request = transfer.request else { return }
        let isPassed = !transfer.continuation.isComparing
        guard isPassed || request.end.map({ request.position >= $0 }) ?? false else { return demand(id) }
        endRequest(id)
        if isPassed { filled(id) } else { ask(id) }
    }

    /// A request's bytes are all in the transfer's buffer.
    private mutating func filled(_ id: Int) {
        guard let transfer = transfers[id] else { return }
        let head = head(of: transfer)
        if let number = transfer.representation {
            if representations[number]?.info.length == head { sniff(number, isAtEnd: true) }
            write(number)
        }
        let length = transfer.representation.flatMap { representations[$0]?.info.length } ?? .max
        if transfer.isSequential || head >= length { finish(id) }
        wakeWaiting()
    }

    /// Tells the host's measures a connection's rate, over spells in which bytes were asked for.
    func measure(_ request: inout Transfer.Request, _ count: Int64) {
        request.received += count
        let elapsed = now - request.measuredFrom
        guard elapsed >= tuning.measureInterval else { return }
        environment.hosts.note(
            rate: Double(request.received) * Double(TransferTuning.second) / Double(elapsed), of: request.origin)
        request.received = 0
        request.measuredFrom = now
    }

    /// What is held is not what the origin has: it is superseded, and the transfer that showed it ends.
    private mutating func heldDiffers(_ id: Int, _ difference: Mismatch) {
        guard let number = transfers[id]?.representation else { return }
        effects.append(.event(.mismatch(key: key.text, difference)))
        effects.append(.event(.generationChanged(key: key.text, difference)))
        finish(id)
        giveUp(number)
    }

    private mutating func wakeReaders(of number: Int, in range: ByteRange) {
        for reader in readers.ids {
            guard let waiting = readers[reader], waiting.wake != nil, waiting.representation == number,
                range.contains(waiting.position)
            else { continue }
            wake(reader)
        }
    }

    /// The first bytes say whether this is media at all.
    ///
    /// They are the origin's own, also where a transform is to come: what a page is told by is what the origin sent, and
    /// transformed it would pass for media. Encrypted media begin as a page does by accident about once in 2^32 resources;
    /// such a one plays, only it is not stored.
    /// - Parameter isAtEnd: Whether no more will come, though the length may not be known for certain.
    mutating func sniff(_ number: Int, isAtEnd: Bool = false) {
        guard let representation = representations[number], representation.storage.isUndecided else { return }
        let head = buffers.prefix(of: number, limit: SessionState.sniffedBytes)
        if representation.needsSniffing, !head.isEmpty {
            let isWhole = isAtEnd || representation.info.length.map { Int64(head.count) >= $0 } ?? false
            let signature = ContainerSignature.of(head)
            // A page may begin with blanks: only a known signature is believed before all is seen that is looked at.
            guard signature != .unknown || isWhole || head.count >= SessionState.sniffedBytes else { return }
            representations[number]?.needsSniffing = false
            if signature == .markup {
                representations[number]?.isTransient = true
                changeStorage(of: number) { $0.decline(.notStorable) }
                effects.append(.event(.mismatch(key: key.text, .page(calledMedia: representation.info.fields))))
                return
            }
        }
        decideStorage(of: number)
    }

    mutating func receivedEnd(_ id: Int, isDelimited: Bool) {
        guard let transfer = transfers[id], let request = transfer.request else { return }
        if request.isRevalidation {
            // A body where none was expected: the head has said it all already.
            endRequest(id)
            transfers[id] = nil
            return
        }
        let head = head(of: transfer)
        let known = transfer.representation.flatMap { representations[$0]?.info.length }
        // Nothing but its length tells whether this is what is held: with a validator the request has an end.
        if request.end == nil, isDelimited, !request.isCheck, let known, known != head {
            return heldDiffers(id, .length(known, head))
        }
        // One that ends at the same byte every time ends there.
        if request.end == nil, let known, head < known, let trouble, trouble.offset == head, trouble.attempts >= 2 {
            return heldDiffers(id, .length(known, head))
        }
        if let end = request.end ?? known, request.position < end {
            requestFailed(id, OriginFailure(.interrupted, "the origin sent \(request.position) of \(end) bytes"))
            return
        }
        let isIncomplete = transfer.continuation.isComparing
        endRequest(id)
        if request.isCheck || isIncomplete { return ask(id) }
        if let number = transfer.representation, request.end == nil {
            if isDelimited {
                learnLength(head, of: number)
            } else {
                // Told only by closing: good for those who read now, never taken for complete.
                representations[number]?.softEnd = head
            }
            sniff(number, isAtEnd: true)
        }
        filled(id)
    }
}
