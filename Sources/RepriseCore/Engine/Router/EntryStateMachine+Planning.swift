import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Builds the planner's input and carries its decisions out.
extension EntryStateMachine {
    /// Looks at readers, transfers and what is stored, and carries out what follows. Once an input, after it was routed.
    mutating func plan() {
        guard lifecycle.isOpen else { return }
        guard !deferred.isSuspended else { return releaseMemory() }
        failExpiredWaiters()
        moveReadersOfSuperseded()
        failReadersLeftBehind()
        startRevalidation()
        let groups = Set(readers.filter(\.isFetchable).map(\.representation)).union(transfers.map(\.representation))
        for group in groups.sorted(by: { ($0?.number ?? -1) < ($1?.number ?? -1) }) { plan(group) }
        releaseMemory()
        endReadersOfSuperseded()
    }

    /// How long transfers of a representation may do nothing.
    func deadlines(of representation: Representation?) -> TransferDeadlines {
        TransferDeadlines(
            tuning, servesRanges: representation?.info.servesRanges ?? true,
            isKept: representation?.storage.isOff != true)
    }

    /// The planner as it decides for a representation now.
    private func planner(for representation: Representation?) -> TransferPlanner {
        // A transfer begins up to a block before what its reader misses; out of its reach it would be started for ever.
        var tuning = tuning
        let origin = origin().location.origin
        tuning.leastReach = max(tuning.leastReach, environment.store?.layout.blockSize ?? 0)
        return TransferPlanner(
            tuning: tuning, servesRanges: representation?.info.servesRanges ?? true,
            isKept: representation?.storage.isOff != true,
            measure: environment.hosts.measure(of: origin), now: now)
    }

    private mutating func plan(_ id: RepresentationID?) {
        let representation = representations[id]
        var views: [TransferPlanner.Transfer] = []
        for transfer in transfers where transfer.representation == id && !runJoining(transfer) {
            views.append(view(of: transfer, representation))
        }
        var wanting: [TransferPlanner.Reader] = []
        for reader in readers where reader.isFetchable && reader.representation == id {
            guard !reader.isPaused, !reader.isBeyondAnyResource, id != nil || !isJoining(reader) else { continue }
            // What is handed on comes once, and its reader holds up no other.
            let isShared = representation?.storage.isOff == true && representation?.isHandedOn != true
            if isShared, isLeftBehind(reader) { continue }
            var view = view(of: reader, representation)
            // What is too far out to be stored would not wait for one that stands still.
            if let missing = view.missing, missing >= BlockLayout.longestStored, representation?.isHandedOn != true,
                isLeftBehind(reader)
            {
                continue
            }
            if view.missing == reader.position { reader.lacksFirstByte() }
            if reader.waitsForNeed, !isNeeding(reader, view) { continue }
            if reader.cacheControl.onlyIfCached {
                // What was stored and turned out to be damaged is not fetched for it.
                if view.missing == reader.position { fail(reader, .onlyIfCached) }
                view.missing = nil
            }
            wanting.append(view)
        }
        guard !wanting.isEmpty || !views.isEmpty else { return }
        // Of what the origin has another version of, what is on its way comes, and no more is asked for.
        let asksNoMore = representation?.isSuperseded == true
        for decision in planner(for: representation).plan(readers: wanting, transfers: views) {
            noteUnwanted(decision)
            switch decision {
            case .start(let reader, let isSecondTry):
                guard !asksNoMore, let view = wanting.first(where: { $0.id == reader }) else { break }
                start(for: view, representation, isSecondTry: isSecondTry)
            case .run(let id, let goal, let ids):
                guard let transfer = transfers[id] else { break }
                if asksNoMore, transfer.request == nil { finish(transfer) } else { run(transfer, to: goal, for: ids) }
            case .pause(let id): if let transfer = transfers[id] { pause(transfer) }
            case .stop(let id): if let transfer = transfers[id] { finish(transfer) }
            }
        }
    }

    /// Whether a reader stands before a byte that is missing: what it was refused ahead of it may be asked for again.
    private func isNeeding(_ reader: Reader, _ view: TransferPlanner.Reader) -> Bool {
        guard reader.isAwaiting, view.missing == reader.position else { return false }
        reader.stopWaitingForNeed()
        return true
    }

    /// Whether a transfer that joins a representation was begun for this reader, and can reach it: the reader is given that
    /// representation when the bytes agree.
    private func isJoining(_ reader: Reader) -> Bool {
        reader.isUnbound && !reader.isPaused
            && transfers.contains {
                $0.isJoining && $0.readers.contains(reader.id) && reader.position >= head(of: $0)
            }
    }

    /// Has a transfer go on whose readers have still to be given its representation; `false` where it has none of those, and is
    /// planned like others. The planner would stop it, as those readers are not its representation's yet, and begin another
    /// with the next answer.
    private mutating func runJoining(_ transfer: TransferState) -> Bool {
        guard transfer.isJoining else { return false }
        let waiting = transfer.readers.filter { readers[$0].map(isJoining) ?? false }
        if !waiting.isEmpty { run(transfer, to: transfer.goal, for: waiting) }
        return !waiting.isEmpty
    }

    /// Remembers when a transfer lost its last reader.
    private func noteUnwanted(_ decision: TransferPlanner.Decision) {
        guard let transfer = decision.transfer.flatMap({ transfers[$0] }) else { return }
        let isWanted =
            switch decision {
            case .run(_, _, let ids): !ids.isEmpty
            case .pause: hasReaders(transfer)
            case .start, .stop: false
            }
        transfer.noteWanted(isWanted, head: head(of: transfer), now: now)
    }

    // MARK: What the planner is told

    /// Whether a reader has all there is to be had ahead of it.
    mutating func lacksNothing(_ reader: Reader, _ representation: Representation) -> Bool {
        view(of: reader, representation).missing == nil
    }

    private mutating func view(of reader: Reader, _ representation: Representation?) -> TransferPlanner.Reader {
        var view = TransferPlanner.Reader(
            id: reader.id, position: reader.position, end: reader.end, missing: nil, gapEnd: .max,
            isWaiting: reader.isWaiting, priority: reader.priority)
        guard let representation else {
            view.missing = reader.position
            // Of an empty range, too, the answer's head is wanted.
            view.end = max(reader.end, ByteRange(offset: reader.position, count: 1).upperBound)
            return view
        }
        view.end = min(reader.end, representation.end ?? .max)
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
                    let ahead = ByteRange(position, min(end, position.adding(tuning.windowLimit)))
                    verify(representation.id, generation, ahead)
                    position = end
                    continue
                case .unloaded(let range):
                    load(representation.id, generation, range)
                    return view
                case .absent(let end): view.gapEnd = end
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

    func view(of transfer: TransferState, _ representation: Representation?) -> TransferPlanner.Transfer {
        let request = transfer.request
        return TransferPlanner.Transfer(
            id: transfer.id, head: head(of: transfer), gapEnd: gapEnd(of: transfer, representation),
            requestEnd: request?.end ?? request?.asked?.upperBound ?? transfer.lastAsked.upperBound,
            isRequesting: request != nil, hasHead: request?.hasHead ?? false,
            isSecondTry: transfer.isSecondTry || backoff.fails(at: head(of: transfer)), begun: transfer.begun,
            waits: waits(of: transfer)
        )
    }

    /// In which ways a transfer does nothing.
    func waits(of transfer: TransferState) -> TransferDeadlines.Waits {
        let request = transfer.request
        return TransferDeadlines.Waits(
            lastProgress: transfer.lastProgress, pausedSince: transfer.pausedSince, unwanted: transfer.unwanted,
            isIdle: request.map { $0.hasHead && !$0.isDemanding } ?? false,
            isContended: request.map { environment.hosts.isContended($0.slot.origin) } ?? false)
    }

    /// Where the next byte after `head` is that is in memory, that another transfer of the representation brings next, or that is
    /// too far out to be stored: a buffer's bytes go all to the disk, or none.
    func nextCovered(after head: Int64, _ transfer: TransferState) -> Int64 {
        var end = transfer.start < BlockLayout.longestStored ? BlockLayout.longestStored : .max
        // A transfer that begins where a block can be filled brings that block whole, or it would end before what it was
        // begun for.
        let blockSize = environment.store?.layout.blockSize ?? 1
        let head = max(head, transfer.start.adding(blockSize - 1))
        if let id = transfer.representation { end = min(end, buffers.nextHeld(of: id, after: head) ?? .max) }
        for other in transfers where other.id != transfer.id && other.representation == transfer.representation {
            let next = self.head(of: other)
            if next > head { end = min(end, next) }
        }
        return end
    }

    func gapEnd(of transfer: TransferState, _ representation: Representation?) -> Int64 {
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

    // MARK: Slots and checksums

    /// Has the slots of stored blocks read.
    mutating func load(_ id: RepresentationID, _ generation: Generation, _ range: ByteRange) {
        guard !index.contains(range, of: id) else { return }
        _ = index.begin(range, of: id, now: now)
        leave(.load(id, generation, range))
    }

    /// Has stored bytes verified ahead of their reader.
    private mutating func verify(_ id: RepresentationID, _ generation: Generation, _ range: ByteRange) {
        let layout = generation.layout
        let blocks = layout.blocks(covering: range)
        // In steps, so that the first byte does not wait for the checksum of the last.
        let step = layout.blockEnd(of: tuning.verifyStep)
        for gap in index.begin(blocks, of: id, now: now) {
            var start = gap.lowerBound
            while start < gap.upperBound {
                let part = ByteRange(start, min(gap.upperBound, start.adding(step)))
                leave(.verify(id, generation, part))
                start = part.upperBound
            }
        }
    }

    /// So many stored blocks were found damaged.
    mutating func noteDamage(_ blocks: Int64) {
        guard blocks > 0 else { return }
        tell(.damaged(key: key.text, blocks: blocks))
        leave(.count { $0.damagedBlocks += blocks })
    }

    /// Slots or checksums of `range` have been read.
    mutating func indexRead(_ id: RepresentationID, _ range: ByteRange, damaged: Int64, error: String?) {
        index.end(range, of: id, now: now)
        diskAnswered(id)
        noteDamage(damaged)
        // The disk cannot be read now: nothing is deleted, bytes come from the origin and are not stored.
        if let error, representations[id]?.generation != nil { leaveDisk(id, isReadable: false, error) }
        bindThoseWhoAwaitIndex()
        wakeWaiting()
        tellWatchers()
        replan()
    }
}
