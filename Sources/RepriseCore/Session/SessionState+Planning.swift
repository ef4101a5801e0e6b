import RepriseHTTP
import RepriseRanges
import RepriseStorage

extension SessionState {
    /// Looks at readers, transfers and what is there, and carries out what the planner decides.
    mutating func plan() {
        guard phase == .ready else { return }
        failHopeless()
        failReadersOfReplacedBytes()
        failReadersLeftBehind()
        startRevalidation()
        let groups = Set(readers.values.filter { !$0.awaitsFreshness }.map(\.representation))
            .union(transfers.values.filter { !$0.isFinished }.map(\.representation))
        for group in groups.sorted(by: { ($0 ?? -1) < ($1 ?? -1) }) { plan(group) }
        releaseWindows()
        scheduleTick()
    }

    private mutating func plan(_ number: Int?) {
        let representation = number.flatMap { representations[$0] }
        let active = transfers.keys.sorted().compactMap { transfers[$0] }
            .filter { $0.representation == number && !$0.isFinished && $0.request?.isRevalidation != true }
        var wanting: [TransferPlanner.Reader] = []
        for id in readers.keys.sorted() {
            guard let reader = readers[id], reader.representation == number, !reader.awaitsFreshness,
                reader.failure == nil, !reader.isPaused
            else { continue }
            if representation?.isPassThrough == true, isLeftBehind(reader) { continue }
            wanting.append(view(of: reader, representation))
        }
        if representation?.isSuperseded == true { wanting.removeAll() }
        // A transfer begins up to a block before what its reader misses; out of its reach it would be started for ever.
        var tuning = tuning
        tuning.leastReach = max(tuning.leastReach, environment.store?.layout.blockSize ?? 0)
        let planner = TransferPlanner(
            tuning: tuning, servesRanges: representation?.info.servesRanges ?? true,
            isKept: representation?.isPassThrough != true, isContended: environment.hosts.isContended(url.origin),
            measure: environment.hosts.measure(of: url.origin), now: now)
        let views = active.map { view(of: $0, representation, among: active) }
        for decision in planner.plan(readers: wanting, transfers: views) {
            noteUnwanted(decision)
            switch decision {
            case .start(let reader): start(for: reader, representation, wanting)
            case .run(let id, let goal, let ids): run(id, goal: goal, for: ids)
            case .pause(let id): pause(id)
            case .stop(let id): finish(id)
            }
        }
    }

    /// Remembers when a transfer lost its last reader.
    private mutating func noteUnwanted(_ decision: TransferPlanner.Decision) {
        guard let id = decision.transfer, var transfer = transfers[id] else { return }
        let hasReaders = transfer.readers.contains { readers[$0] != nil }
        if case .run(_, _, let ids) = decision, !ids.isEmpty {
            transfer.unwanted = nil
        } else if case .pause = decision, hasReaders {
            transfer.unwanted = nil
        } else if transfer.unwanted == nil {
            transfer.unwanted = .init(since: now, head: transfer.window.head)
        }
        transfers[id] = transfer
    }

    /// In a transfer that cannot be stored, a reader that stands still does not hold up the others.
    private func isLeftBehind(_ reader: Reader) -> Bool {
        reader.wake == nil && now - reader.lastStep > tuning.detachAfter
    }

    private mutating func view(of reader: Reader, _ representation: Representation?) -> TransferPlanner.Reader {
        var view = TransferPlanner.Reader(
            id: reader.id, position: reader.position, end: reader.end, missing: nil, gapEnd: .max,
            isWaiting: reader.isWaiting, priority: reader.priority)
        guard let representation else {
            view.missing = reader.position
            return view
        }
        view.end = min(reader.end, representation.info.length ?? representation.softEnd ?? .max)
        let horizon = min(view.end, ByteRange(offset: reader.position, count: tuning.readAhead).upperBound)
        var position = reader.position
        while position < horizon {
            if let generation = representation.generation {
                switch generation.availability(at: position) {
                case .verified(let end):
                    position = end
                    continue
                case .claimed(let end):
                    prove(representation.id, generation, ByteRange(position, min(end, position + tuning.windowLimit)))
                    position = end
                    continue
                case .unloaded(let range):
                    load(representation.id, generation, range)
                    return view
                case .absent(let end):
                    view.gapEnd = end
                }
            }
            guard let held = heldInMemory(representation.id, position) else {
                view.missing = position
                return view
            }
            position = held
        }
        return view
    }

    /// The end of the window that holds `offset`, if one does.
    private func heldInMemory(_ representation: Int, _ offset: Int64) -> Int64? {
        transfers.values.lazy
            .filter { $0.representation == representation && $0.window.range.contains(offset) }
            .map(\.window.head).max()
    }

    /// Whether every byte of `range` is in some window.
    private func isHeld(_ range: ByteRange, _ representation: Int) -> Bool {
        var position = range.lowerBound
        while position < range.upperBound {
            guard let end = heldInMemory(representation, position) else { return false }
            position = end
        }
        return true
    }

    private mutating func load(_ representation: Int, _ generation: Generation, _ range: ByteRange) {
        guard !reading.contains(range) else { return }
        reading.insert(range)
        effects.append(.load(representation: representation, generation, range))
    }

    /// Has claimed bytes proved ahead of their reader.
    private mutating func prove(_ representation: Int, _ generation: Generation, _ range: ByteRange) {
        let layout = generation.layout
        let blocks = ByteRange(layout.blockStart(of: range.lowerBound), layout.blockEnd(of: range.upperBound))
        for gap in reading.gaps(in: blocks) {
            reading.insert(gap)
            // In pieces, so that the first byte does not wait for the proof of the last.
            let step = layout.blockEnd(of: tuning.proofStep)
            var start = gap.lowerBound
            while start < gap.upperBound {
                let piece = ByteRange(start, min(gap.upperBound, start + step))
                effects.append(.verify(representation: representation, generation, piece))
                start = piece.upperBound
            }
        }
    }

    /// Slots or proofs of `range` have been read.
    mutating func read(_ representation: Int, _ range: ByteRange, damaged: Int64, error: String?) {
        reading.remove(range)
        if damaged > 0 {
            effects.append(.event(.damaged(key: key.text, blocks: damaged)))
            effects.append(.count { $0.damagedBlocks += damaged })
        }
        if let error, let generation = representations[representation]?.generation {
            // The disk cannot be read now: nothing is deleted, bytes come from the origin and are not kept.
            effects.append(.event(.degraded(key: key.text, reason: error)))
            _ = generation
            replaceWithPassThrough(representation)
        }
        wakeWaiting()
        plan()
    }

    mutating func wakeWaiting() {
        for id in readers.keys.sorted() where readers[id]?.isWaiting == true { wake(id) }
    }

    /// The stored bytes of a representation cannot be read: goes on from the origin without them.
    private mutating func replaceWithPassThrough(_ id: Int) {
        guard representations[id]?.generation != nil else { return }
        representations[id]?.storing = .off(nil)
        for transfer in transfers.keys where transfers[transfer]?.representation == id {
            transfers[transfer]?.writer = nil
        }
        reading = ByteRangeSet()
    }

    private func view(
        of transfer: Transfer, _ representation: Representation?, among active: [Transfer]
    ) -> TransferPlanner.Transfer {
        TransferPlanner.Transfer(
            id: transfer.id, head: transfer.window.head, gapEnd: gapEnd(of: transfer, representation, among: active),
            requestEnd: transfer.request?.end ?? transfer.request?.asked?.upperBound ?? transfer.lastAsked.upperBound,
            isRequesting: transfer.request != nil, pausedSince: transfer.pausedSince,
            lastProgress: transfer.lastProgress, hasHead: transfer.request?.hasHead ?? false, unwanted: transfer.unwanted)
    }

    private func gapEnd(of transfer: Transfer, _ representation: Representation?, among active: [Transfer]) -> Int64 {
        if transfer.isSequential { return .max }
        let head = transfer.window.head
        var end = representation?.info.length ?? .max
        if let generation = representation?.generation {
            switch generation.availability(at: head) {
            case .absent(let until): end = min(end, until)
            case .unloaded: break
            case .claimed, .verified: end = head
            }
        }
        for other in active where other.id != transfer.id && other.start >= head && other.start > transfer.start {
            end = min(end, other.start)
        }
        return max(end, head)
    }

    // MARK: Carrying out

    private mutating func start(
        for id: Int, _ representation: Representation?, _ wanting: [TransferPlanner.Reader]
    ) {
        guard let reader = readers[id], let view = wanting.first(where: { $0.id == id }), let missing = view.missing,
            trouble.map({ now >= $0.notBefore }) ?? true
        else { return }
        let blockSize = environment.store?.layout.blockSize ?? BlockLayout.standard.blockSize
        var start = missing - missing % blockSize
        if let representation {
            if !representation.info.servesRanges {
                start = 0
            } else if let generation = representation.generation {
                // What is held in memory is on its way to the disk, before anything this transfer will bring.
                let first = generation.fillStart(for: missing)
                start = isHeld(ByteRange(first, missing), representation.id) ? missing : first
            } else if representation.isPassThrough {
                start = missing
            }
        }
        let transferID = makeID()
        var transfer = Transfer(
            id: transferID, representation: representation?.id, start: start, requestIndex: reader.requestIndex, now: now)
        transfer.isSequential = representation.map { !$0.info.servesRanges } ?? false
        transfer.readers = [id]
        transfer.goal = min(view.end, ByteRange(offset: view.position, count: tuning.readAhead).upperBound)
        attachWriter(&transfer, representation)
        transfers[transferID] = transfer
        ask(transferID)
    }

    func attachWriter(_ transfer: inout Transfer, _ representation: Representation?) {
        if case .open(let generation)? = representation?.storing, transfer.writer == nil {
            transfer.writer = FillWriter(generation: generation)
        }
    }

    private mutating func run(_ id: Int, goal: Int64, for ids: [Int]) {
        let now = now
        transfers[id]?.goal = goal
        transfers[id]?.readers = ids
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
        guard let transfer = transfers[id], trouble.map({ now >= $0.notBefore }) ?? true else { return false }
        guard transfer.lastAsked.count > 0 else { return true }
        let half = transfer.lastAsked.lowerBound + transfer.lastAsked.count / 2
        return transfer.readers.contains { reader in
            readers[reader].map { $0.position >= half || ($0.isWaiting && $0.position >= transfer.window.head) } ?? false
        }
    }

    private mutating func pause(_ id: Int) {
        guard var transfer = transfers[id] else { return }
        transfer.goal = transfer.window.head
        transfer.pausedSince = transfer.pausedSince ?? now
        transfers[id] = transfer
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
        return (representation?.isPassThrough == true ? transfer.window.count : transfer.window.undrained) < tuning.windowLimit
    }

    /// Lets go of what no reader needs from memory any more.
    private mutating func releaseWindows() {
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

    // MARK: Giving up

    /// Readers that have waited past the deadline get the last error.
    private mutating func failHopeless() {
        guard let trouble else { return }
        for id in readers.keys.sorted() {
            guard let reader = readers[id], reader.isWaiting, reader.failure == nil else { continue }
            let patience = reader.hasBytes || reader.isBound ? tuning.retryDeadline : tuning.openDeadline
            let waited = now - max(trouble.since, reader.waitsSince)
            let hopeless = trouble.notBefore - max(trouble.since, reader.waitsSince) > patience && trouble.error.retryAfter != nil
            guard waited > patience || hopeless, isStarving(reader) else { continue }
            if reader.awaitsFreshness, serveStale(id) { continue }
            fail(id, trouble.error)
        }
    }

    private func isStarving(_ reader: Reader) -> Bool {
        guard let number = reader.representation, let representation = representations[number] else { return true }
        switch representation.generation?.availability(at: reader.position) {
        // What is stored only has to be read and proved; the origin's trouble is not its own.
        case .verified, .claimed, .unloaded: return false
        case .absent, nil: break
        }
        return heldInMemory(number, reader.position) == nil
    }

    private mutating func failReadersOfReplacedBytes() {
        for id in readers.keys.sorted() {
            guard let reader = readers[id], reader.failure == nil, let number = reader.representation,
                let representation = representations[number], representation.isSuperseded
            else { continue }
            if !reader.isBound, let current = newest {
                readers[id]?.representation = current
                wake(id)
                continue
            }
            guard reader.isWaiting, isStarving(reader) else { continue }
            fail(id, CacheError(.changed, "the resource changed at the origin while it was read; open it again"))
        }
        for number in representations.keys.sorted() {
            guard let representation = representations[number], representation.isSuperseded else { continue }
            let inUse = readers.values.contains { $0.representation == number }
                || transfers.values.contains { $0.representation == number }
            if !inUse, number != current { representations[number] = nil }
        }
    }

    /// Without ranges and without a store a transfer cannot go back: who comes later fetches for itself, who fell
    /// behind gets an error.
    private mutating func failReadersLeftBehind() {
        for transfer in transfers.values.sorted(by: { $0.id < $1.id }) where transfer.isSequential && !transfer.isFinished {
            guard let number = transfer.representation, representations[number]?.isPassThrough == true else { continue }
            for id in readers.keys.sorted() {
                guard let reader = readers[id], reader.representation == number, reader.isWaiting, reader.failure == nil,
                    reader.position < transfer.window.base, isStarving(reader)
                else { continue }
                let isNew = !reader.isBound && !isPrivate
                fail(id, isNew ? .mustBePrivate : CacheError(
                    .store, "the reader fell behind; the origin serves no ranges and nothing can be stored"))
            }
        }
    }

    /// The representation bytes are filled for: the newest that is not superseded.
    var newest: Int? { representations.values.filter { !$0.isSuperseded }.map(\.id).max() }

    // MARK: Time

    private mutating func scheduleTick() {
        let waiting = readers.values.contains { $0.isWaiting && $0.failure == nil }
        if !transfers.isEmpty || (trouble != nil && waiting) {
            lookAgain(at: now + tuning.tick)
        } else if readers.isEmpty {
            lookAgain(at: idleSince + tuning.idleClose)
        }
    }

    /// Has `tick` called at `time`, or sooner where something else is due before. Only one timer counts at a time.
    mutating func lookAgain(at time: Int64) {
        if let nextTick, nextTick <= time { return }
        nextTick = time
        effects.append(.tick(at: time))
    }

    /// The time that was asked for has come.
    mutating func tick(_ time: Int64) {
        guard nextTick == time else { return }
        nextTick = nil
        for id in transfers.keys.sorted() {
            guard let transfer = transfers[id], let request = transfer.request else { continue }
            if !request.hasHead, now - request.sentAt > tuning.headTimeout {
                let limit = tuning.headTimeout / TransferTuning.second
                requestFailed(id, OriginFailure(.timedOut, "the origin did not answer within \(limit) s"))
            } else if request.isDemanding, now - transfer.lastProgress > tuning.stallTimeout {
                let limit = tuning.stallTimeout / TransferTuning.second
                requestFailed(id, OriginFailure(.timedOut, "the origin sent nothing for \(limit) s"))
            }
        }
        plan()
        if readers.isEmpty, transfers.isEmpty, now - idleSince >= tuning.idleClose { close() }
    }

    /// Lets the files go; the next reader opens them again and proves them again.
    mutating func close() {
        guard readers.isEmpty, transfers.isEmpty, phase == .ready else { return }
        syncAll()
        for representation in representations.values where !representation.isCommitted && representation.generation != nil {
            effects.append(.abandon(representation.info))
        }
        representations = [:]
        current = nil
        reading = ByteRangeSet()
        phase = .closed
        effects.append(.forget)
        isForgotten = true
    }

    mutating func syncAll() {
        lastSync = now
        for id in representations.keys.sorted() {
            guard let representation = representations[id], case .open(let generation) = representation.storing else { continue }
            effects.append(.sync(generation, summary(of: representation, generation)))
        }
    }

    private func summary(of representation: Representation, _ generation: Generation) -> EntrySummary {
        var summary = EntrySummary()
        summary.lastUse = lastUsed
        summary.logUseCount = 1
        summary.isPinned = representation.info.isPinned
        summary.length = representation.info.length
        summary.stored = generation.claimed.count
        summary.allocated = generation.allocatedBytes
        return summary
    }
}
