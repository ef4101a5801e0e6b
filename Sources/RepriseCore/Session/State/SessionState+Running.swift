import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Carrying the planner's decisions out.
extension SessionState {
    mutating func start(
        for id: Int, _ representation: Representation?, _ wanting: [TransferPlanner.Reader]
    ) {
        guard let reader = readers[id], let view = wanting.first(where: { $0.id == id }), let missing = view.missing,
            mayAsk()
        else { return }
        // Only what is stored has to begin where a block can be filled.
        let blockSize = environment.store?.layout.blockSize ?? 1
        var start = missing - missing % blockSize
        if let representation {
            if !representation.info.servesRanges {
                start = 0
            } else if representation.storage.isOff {
                start = missing
            } else {
                // What is held in memory is on its way to the disk, and is written before anything this transfer will
                // bring; that its files are only being made changes nothing.
                let first = representation.generation?.fillStart(for: missing) ?? start
                start = buffers.holds(ByteRange(first, missing), of: representation.id) ? missing : first
                if start > first {
                    buffers.follow(representation.id)
                    write(representation.id)
                }
            }
        }
        let transferID = makeID()
        var transfer = Transfer(
            id: transferID, representation: representation?.id, start: start, requestIndex: reader.requestIndex,
            continuation: makeContinuation(), now: now)
        transfer.isSequential = representation.map { !$0.info.servesRanges } ?? false
        transfer.readers = [id]
        transfer.goal = min(view.end, ByteRange(offset: view.position, count: tuning.readAhead).upperBound)
        transfers[transferID] = transfer
        noteForwarded([id], isCollapsed: false)
        ask(transferID)
    }

    /// Offset of the next byte a transfer will fill.
    func head(of transfer: Transfer) -> Int64 {
        transfer.buffer.flatMap { buffers[$0]?.head } ?? transfer.start
    }

    mutating func run(_ id: Int, goal: Int64, for ids: [Int]) {
        let now = now
        transfers[id]?.goal = goal
        transfers[id]?.readers = ids
        noteForwarded(ids, isCollapsed: true)
        if transfers[id]?.pausedSince != nil {
            transfers[id]?.pausedSince = nil
            // A pause is no measure of the host.
            transfers[id]?.request?.measuredFrom = now
            transfers[id]?.request?.received = 0
            transfers[id]?.lastProgress = now
            noteRest(id)
        }
        if transfers[id]?.request == nil {
            if mayAskNext(id) { ask(id) }
        } else {
            demand(id)
        }
    }

    /// The next request is asked when half of the last one was read on, or a reader waits for it.
    private mutating func mayAskNext(_ id: Int) -> Bool {
        guard let transfer = transfers[id], mayAsk() else { return false }
        guard transfer.lastAsked.count > 0 else { return true }
        let half = transfer.lastAsked.lowerBound + transfer.lastAsked.count / 2
        let head = head(of: transfer)
        return transfer.readers.contains { reader in
            readers[reader].map { $0.position >= half || ($0.isWaiting && $0.position >= head) } ?? false
        }
    }

    mutating func pause(_ id: Int) {
        guard var transfer = transfers[id] else { return }
        transfer.goal = head(of: transfer)
        transfer.pausedSince = transfer.pausedSince ?? now
        transfers[id] = transfer
        noteRest(id)
        if let number = transfer.representation { write(number) }
    }

    /// Tells a transfer's buffer whether more comes: in a sealed store what there is of a block waits for the rest of it.
    mutating func noteRest(_ id: Int) {
        guard let transfer = transfers[id], let buffer = transfer.buffer else { return }
        buffers.setAtRest(buffer, transfer.request == nil || transfer.pausedSince != nil)
    }

    /// Asks for the next chunk, if there is memory for it and a reader wants it.
    mutating func demand(_ id: Int) {
        guard let transfer = transfers[id], let request = transfer.request, request.hasHead, !request.isDemanding,
            !request.isRevalidation,
            request.isCheck || head(of: transfer) < transfer.goal || head(of: transfer) > request.position,
            hasMemory(transfer)
        else { return }
        let now = now
        transfers[id]?.request?.isDemanding = true
        transfers[id]?.lastProgress = now
        if let exchange = request.exchange {
            effects.append(.demand(exchange))
        } else {
            transfers[id]?.request?.owesDemand = true
        }
    }

    /// Whether a transfer may hold one chunk more. Buffers that wait for the disk count whether or not a transfer still feeds
    /// them, those of other entries as well: a disk that hangs must not fill the memory.
    private func hasMemory(_ transfer: Transfer) -> Bool {
        guard let buffer = transfer.buffer.flatMap({ buffers[$0] }) else { return true }
        guard buffer.backlog < tuning.windowLimit else { return false }
        guard buffer.awaitsDisk else { return true }
        if buffers.unwritten >= tuning.windowLimit * Int64(tuning.requestsPerResource) { return false }
        return !environment.unwritten.isExceeded || buffer.backlog == 0
    }

    /// Lets go of what no reader needs from memory any more.
    mutating func releaseMemory() {
        for number in representations.ids {
            guard let representation = representations[number], buffers.has(number) else { continue }
            if representation.storage.isUndecided, !isInUse(number) {
                // Too little came to tell media from a page, and nobody waits for more.
                buffers.drop(number)
                continue
            }
            guard representation.storage.isOff else { continue }
            // A reader paces what it stands in and what was fetched ahead of it; one that stands still does so where it is alone.
            let reading = readers.filter { $0.representation == number && !$0.isPaused && $0.failure == nil }
            let active = reading.filter { !isLeftBehind($0) }
            let pacing = active.isEmpty ? reading : active
            buffers.trimUnstored(
                of: number, readers: pacing.map(\.position), reach: tuning.readAhead, tail: tuning.overlap)
            for id in transfers.ids where transfers[id]?.representation == number { demand(id) }
        }
    }

    /// Ends a transfer; what only its buffer holds is still written, and read.
    mutating func finish(_ id: Int) {
        endRequest(id)
        guard let transfer = transfers.remove(id) else { return }
        // Readers that follow it go on with its request size.
        let served = ByteRange(transfer.start, head(of: transfer))
        for id in transfer.readers {
            guard let reader = readers[id], served.lowerBound <= reader.position, reader.position <= served.upperBound
            else { continue }
            readers[id]?.requestIndex = max(reader.requestIndex, transfer.requestIndex)
        }
        guard let buffer = transfer.buffer else { return }
        guard let number = transfer.representation, representations[number] != nil else { return buffers.drop(buffer) }
        buffers.release(buffer)
        write(number)
    }

    /// Cancels a transfer's request, if one is under way.
    mutating func endRequest(_ id: Int) {
        guard let request = transfers[id]?.request else { return }
        if let exchange = request.exchange { effects.append(.cancel(exchange)) }
        transfers[id]?.request = nil
        transfers[id]?.continuation.requestEnded(received: request.bodyBytes)
        noteRest(id)
        effects.append(.leaveHost(request.origin))
    }
}
