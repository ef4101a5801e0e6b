import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Builds the planner's input and applies its decisions.
extension SessionState {
    /// Looks at readers, transfers and what is there, and carries out what the planner decides.
    mutating func plan() {
        guard lifecycle.isOpen else { return }
        guard !isSuspended else { return releaseMemory() }
        failHopeless()
        failReadersOfReplacedBytes()
        failReadersLeftBehind()
        startRevalidation()
        // A representation that turns out not to be continued leaves readers that have to be planned for once more.
        for _ in 0..<SessionState.mostRounds {
            hasGivenUp = false
            let groups = Set(readers.filter { !$0.awaitsFreshness && !$0.awaitsSlots }.map(\.representation))
                .union(transfers.map(\.representation))
            for group in groups.sorted(by: { ($0 ?? -1) < ($1 ?? -1) }) { plan(group) }
            if !hasGivenUp { break }
        }
        releaseMemory()
        scheduleTick()
    }

    private static let mostRounds = 4

    private mutating func plan(_ number: Int?) {
        let representation = number.flatMap { representations[$0] }
        let active = transfers.filter { $0.representation == number && $0.request?.isRevalidation != true }
        var wanting: [TransferPlanner.Reader] = []
        for id in readers.ids {
            guard let reader = readers[id], reader.representation == number, !reader.awaitsFreshness,
                !reader.awaitsSlots,
                reader.failure == nil, !reader.isPaused, !reader.isBeyondAnyResource
            else { continue }
            if representation?.storage.isOff == true, isLeftBehind(reader) { continue }
            var view = view(of: reader, representation)
            if view.missing == reader.position, !reader.hasBytes { readers[id]?.provenance.lacksFirstByte() }
            if reader.demands.onlyIfCached {
                // What was stored and turned out to be damaged is not fetched for it.
                if view.missing == reader.position { fail(id, .onlyIfCached) }
                view.missing = nil
            }
            wanting.append(view)
        }
        if representation?.isSuperseded == true { wanting.removeAll() }
        // A transfer begins up to a block before what its reader misses; out of its reach it would be started for ever.
        var tuning = tuning
        tuning.leastReach = max(tuning.leastReach, environment.store?.layout.blockSize ?? 0)
        let planner = TransferPlanner(
            tuning: tuning, servesRanges: representation?.info.servesRanges ?? true,
            isKept: representation?.storage.isOff != true, isContended: environment.hosts.isContended(url.origin),
            measure: environment.hosts.measure(of: url.origin), now: now)
        let views = active.map { view(of: $0, representation) }
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
        // One that went on to another representation is not its reader any more.
        let hasReaders = transfer.readers.contains { id in
            readers[id].map { $0.representation == transfer.representation && $0.failure == nil } ?? false
        }
        if case .run(_, _, let ids) = decision, !ids.isEmpty {
            transfer.unwanted = nil
        } else if case .pause = decision, hasReaders {
            transfer.unwanted = nil
        } else if transfer.unwanted == nil {
            transfer.unwanted = .init(since: now, head: head(of: transfer))
        }
        transfers[id] = transfer
    }

    /// In a transfer that cannot be stored, a reader that stands still does not hold up the others.
    func isLeftBehind(_ reader: Reader) -> Bool {
        reader.wake == nil && now - reader.lastStep > tuning.detachAfter
    }

    private mutating func view(of reader: Reader, _ representation: Representation?) -> TransferPlanner.Reader {
        var view = TransferPlanner.Reader(
            id: reader.id, position: reader.position, end: reader.end, missing: nil, gapEnd: .max,
            isWaiting: reader.isWaiting, priority: reader.priority)
        guard let representation else {
            // Also a reader of nothing may ask what the resource is.
            view.missing = reader.position
            view.end = max(reader.end, ByteRange(offset: reader.position, count: 1).upperBound)
            return view
        }
        view.end = min(reader.end, representation.info.length ?? representation.softEnd ?? .max)
        if reader.holdsRegion { return view }
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
            guard let held = buffers.heldEnd(representation.id, from: position) else {
                view.missing = position
                return view
            }
            position = held
        }
        return view
    }

    mutating func load(_ representation: Int, _ generation: Generation, _ range: ByteRange) {
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
        if let error, representations[representation]?.generation != nil {
            // The disk cannot be read now: nothing is deleted, bytes come from the origin and are not kept.
            effects.append(.event(.degraded(key: key.text, reason: error)))
            changeStorage(of: representation) { $0.leave(isReadable: false) }
            reading = ByteRangeSet()
        }
        bindThoseWhoAwaitSlots()
        wakeWaiting()
        plan()
    }

    mutating func wakeWaiting() {
        for id in readers.ids where readers[id]?.isWaiting == true { wake(id) }
    }

    private func view(
        of transfer: Transfer, _ representation: Representation?
    ) -> TransferPlanner.Transfer {
        TransferPlanner.Transfer(
            id: transfer.id, head: head(of: transfer), gapEnd: gapEnd(of: transfer, representation),
            requestEnd: transfer.request?.end ?? transfer.request?.asked?.upperBound ?? transfer.lastAsked.upperBound,
            isRequesting: transfer.request != nil, pausedSince: transfer.pausedSince,
            lastProgress: transfer.lastProgress, hasHead: transfer.request?.hasHead ?? false,
            unwanted: transfer.unwanted,
            isIdle: transfer.request.map { $0.hasHead && !$0.isDemanding } ?? false)
    }

    /// Where the next byte after `head` is that is in memory, or that another transfer of the representation brings next.
    func nextCovered(after head: Int64, _ transfer: Transfer) -> Int64 {
        var end = Int64.max
        // A transfer that begins where a block can be filled brings that block whole, or it would end before what it was
        // begun for.
        let blockSize = environment.store?.layout.blockSize ?? 1
        let head = max(head, transfer.start.adding(blockSize - 1) - 1)
        if let number = transfer.representation {
            for buffer in buffers.of(number) where !buffer.range.isEmpty && buffer.range.lowerBound > head {
                end = min(end, buffer.range.lowerBound)
            }
        }
        for other in transfers
        where other.id != transfer.id && other.representation == transfer.representation
            && other.request?.isRevalidation != true
        {
            let next = self.head(of: other)
            if next > head { end = min(end, next) }
        }
        return end
    }

    private func gapEnd(of transfer: Transfer, _ representation: Representation?) -> Int64 {
        if transfer.isSequential { return .max }
        let head = head(of: transfer)
        var end = representation?.info.length ?? .max
        if let generation = representation?.generation {
            switch generation.availability(at: head) {
            case .absent(let until): end = min(end, until)
            case .unloaded: break
            case .claimed, .verified: end = head
            }
        }
        end = min(end, nextCovered(after: head, transfer))
        return max(end, head)
    }
}
