import RepriseRanges
import RepriseStorage

/// Transfers: they start, run, are paused and end, as the planner decides. What they ask is in `+Requests`, what that is answered
/// in `+Responses`, the bytes in `+Bodies`.
extension EntryStateMachine {
    mutating func start(for view: TransferPlanner.Reader, _ representation: Representation?, isSecondTry: Bool) {
        guard let reader = readers[view.id], let missing = view.missing, mayAsk() else { return }
        // Only what is stored has to begin where a block can be filled.
        let blockSize = environment.store?.layout.blockSize ?? 1
        var start = missing - missing % blockSize
        let isSequential = representation.map { !asksRange(of: $0) } ?? false
        if let representation {
            if isSequential {
                start = 0
            } else if representation.storage.isOff || missing >= BlockLayout.longestStored {
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
}
