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
            trouble.map({ now >= $0.notBefore }) ?? true, refreshing == nil
        else { return }
        let blockSize = environment.store?.layout.blockSize ?? BlockLayout.standard.blockSize
        var start = missing - missing % blockSize
        if let representation {
            if !representation.info.servesRanges {
                start = 0
            } else if representation.isPassThrough, representation.generation == nil {
                start = missing
            } else {
                // What is held in memory is on its way to the disk, and is written before anything this transfer will
                // bring; that its files are only being made changes nothing.
                let first = representation.generation?.fillStart(for: missing) ?? start
                start = isHeld(ByteRange(first, missing), representation.id) ? missing : first
                if start > first { noteFollowed(representation.id) }
            }
        }
        let transferID = makeID()
        var transfer = Transfer(
            id: transferID, representation: representation?.id, start: start, requestIndex: reader.requestIndex,
            now: now)
        transfer.isSequential = representation.map { !$0.info.servesRanges } ?? false
        transfer.readers = [id]
        transfer.goal = min(view.end, ByteRange(offset: view.position, count: tuning.readAhead).upperBound)
        attachWriter(&transfer, representation)
        transfers[transferID] = transfer
        noteForwarded([id], isCollapsed: false)
        ask(transferID)
    }

    func attachWriter(_ transfer: inout Transfer, _ representation: Representation?) {
        if case .open(let generation)? = representation?.storing, transfer.writer == nil {
            transfer.writer = FillWriter(generation: generation)
        }
    }

    /// Has windows written to their ends, though their transfers go on: a block that another one fills from its middle
    /// needs its beginning on disk.
    private mutating func noteFollowed(_ number: Int) {
        for id in transfers.keys.sorted() where transfers[id]?.representation == number {
            transfers[id]?.isFollowed = true
            write(id)
        }
    }

    /// What transfers of a representation bring is not written any more.
    mutating func takeWriters(of number: Int) {
        for id in transfers.keys where transfers[id]?.representation == number { transfers[id]?.writer = nil }
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
        }
        if transfers[id]?.request == nil {
            if mayAskNext(id) { ask(id) }
        } else {
            demand(id)
        }
    }

    /// The next request is asked when half of the last one was read on, or somebody waits for it.
    private func mayAskNext(_ id: Int) -> Bool {
        guard let transfer = transfers[id], trouble.map({ now >= $0.notBefore }) ?? true, refreshing == nil else {
            return false
        }
        guard transfer.lastAsked.count > 0 else { return true }
        let half = transfer.lastAsked.lowerBound + transfer.lastAsked.count / 2
        return transfer.readers.contains { reader in
            readers[reader].map { $0.position >= half || ($0.isWaiting && $0.position >= transfer.window.head) }
                ?? false
        }
    }

    mutating func pause(_ id: Int) {
        guard var transfer = transfers[id] else { return }
        transfer.goal = transfer.window.head
        transfer.pausedSince = transfer.pausedSince ?? now
        transfers[id] = transfer
        write(id)
    }

    /// Asks for the next piece, if there is room for it and somebody wants it.
    mutating func demand(_ id: Int) {
        guard let transfer = transfers[id], let request = transfer.request, request.hasHead, !request.isDemanding,
            !request.isRevalidation,
            request.isCheck || transfer.window.head < transfer.goal || transfer.window.head > request.position,
            hasRoom(transfer)
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

    private func hasRoom(_ transfer: Transfer) -> Bool {
        let representation = transfer.representation.flatMap { representations[$0] }
        return (representation?.isPassThrough == true ? transfer.window.count : transfer.window.undrained)
            < tuning.windowLimit
    }

    /// Lets go of what no reader needs from memory any more.
    mutating func releaseWindows() {
        for id in transfers.keys.sorted() {
            guard let transfer = transfers[id], let number = transfer.representation,
                let representation = representations[number]
            else { continue }
            if representation.isPassThrough {
                // A reader paces what it stands in and what was fetched ahead of it.
                let pacing = readers.values.filter {
                    $0.representation == number && !$0.isPaused && $0.failure == nil && !isLeftBehind($0)
                        && $0.position < transfer.window.head && transfer.window.base - $0.position < tuning.readAhead
                }
                transfers[id]?.window.drained = transfer.window.head
                transfers[id]?.window.trim(before: pacing.map(\.position).min() ?? transfer.window.head)
                demand(id)
            }
            if transfer.isFinished, let window = transfers[id]?.window, window.undrained == 0, !transfer.isWriting,
                !representation.isPassThrough || window.count == 0
            {
                transfers[id] = nil
            }
        }
    }

    /// Ends a transfer; its window stays until it is written.
    mutating func finish(_ id: Int) {
        endRequest(id)
        transfers[id]?.isFinished = true
        write(id)
        guard let transfer = transfers[id] else { return }
        let storing = transfer.representation.flatMap { representations[$0]?.storing }
        switch storing {
        case .open, .staging: if transfer.window.undrained == 0, !transfer.isWriting { transfers[id] = nil }
        case .off: break
        case .undecided, nil: transfers[id] = nil
        }
    }

    /// Cancels a transfer's request, if one is under way.
    mutating func endRequest(_ id: Int) {
        guard let request = transfers[id]?.request else { return }
        if let exchange = request.exchange { effects.append(.cancel(exchange)) }
        transfers[id]?.request = nil
        effects.append(.leaveHost(request.origin))
    }
}
