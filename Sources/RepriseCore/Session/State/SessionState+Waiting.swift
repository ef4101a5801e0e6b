import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Time: who has waited too long, when to look again, when to close.
extension SessionState {
    /// Readers that have waited past the deadline get the last error.
    mutating func failHopeless() {
        failQueued()
        failSlowRefresh()
        guard let trouble else { return }
        for id in readers.ids {
            guard let reader = readers[id], reader.isWaiting, reader.failure == nil else { continue }
            let patience = reader.hasBytes || reader.isBound ? tuning.retryDeadline : tuning.openDeadline
            let waited = now - max(trouble.since, reader.waitsSince)
            let hopeless =
                trouble.notBefore - max(trouble.since, reader.waitsSince) > patience && trouble.error.retryAfter != nil
            guard waited > patience || hopeless, isStarving(reader) else { continue }
            if reader.awaitsFreshness, serveStale(id) { continue }
            if reader.representation == nil, serveSuperseded(id) { continue }
            fail(id, trouble.error)
        }
    }

    /// The network is back: what failed on the way to the origin is tried at once, with short pauses again. What the
    /// origin itself asked to wait for stays waited for, and no reader waits longer in all than it would have.
    mutating func networkPathReturned() {
        guard let error = trouble?.error, error.retryAfter == nil else { return }
        switch error.code {
        case .originUnreachable, .originTimedOut: break
        default: return
        }
        let now = now
        trouble?.attempts = 0
        trouble?.notBefore = now
        plan()
    }

    /// Readers whose transfer never got a place at the host get an error too: nobody waits for ever.
    private mutating func failQueued() {
        for transfer in transfers where transfer.isQueued {
            for id in transfer.readers {
                guard let reader = readers[id], reader.isWaiting, now - reader.waitsSince > tuning.retryDeadline,
                    isStarving(reader)
                else { continue }
                let words = "all \(tuning.requestsPerHost) connections to \(url.host) are in use; try again"
                fail(id, CacheError(.originTimedOut, words))
            }
        }
    }

    /// Lets a reader have what is stored of a replaced representation where the origin cannot give the new one.
    private mutating func serveSuperseded(_ id: Int) -> Bool {
        guard let current, representations[current] != nil, environment.freshness == .immutable else { return false }
        let now = now
        readers[id]?.waitsSince = now
        give(id, current)
        return true
    }

    func isStarving(_ reader: Reader) -> Bool {
        guard let number = reader.representation, let representation = representations[number] else { return true }
        switch representation.generation?.availability(at: reader.position) {
        // What is stored only has to be read and proved; the origin's trouble is not its own.
        case .verified, .claimed, .unloaded: return false
        case .absent, nil: break
        }
        return buffers.heldEnd(number, from: reader.position) == nil
    }

    mutating func failReadersOfReplacedBytes() {
        for id in readers.ids {
            guard let reader = readers[id], reader.failure == nil, let number = reader.representation,
                let representation = representations[number], representation.isSuperseded
            else { continue }
            if !reader.isBound, let current = newest {
                guard belongs(id, to: current) else { continue }
                give(id, current)
                continue
            }
            guard reader.isWaiting, isStarving(reader) else { continue }
            fail(id, CacheError(.changed, "the resource changed at the origin while it was read; open it again"))
        }
        for number in representations.ids {
            guard let representation = representations[number], representation.isSuperseded else { continue }
            let inUse =
                readers.contains { $0.representation == number }
                || transfers.contains { $0.representation == number } || buffers.has(number)
            if !inUse, number != current { representations[number] = nil }
        }
    }

    /// Without ranges and without a store a transfer cannot go back: who comes later fetches for itself, who fell
    /// behind gets an error.
    mutating func failReadersLeftBehind() {
        for transfer in transfers
        where transfer.isSequential {
            guard let number = transfer.representation, representations[number]?.storage.isOff == true else { continue }
            let base = transfer.buffer.flatMap { buffers[$0]?.range.lowerBound } ?? 0
            for id in readers.ids {
                guard let reader = readers[id], reader.representation == number, reader.isWaiting,
                    reader.failure == nil,
                    reader.position < base, isStarving(reader)
                else { continue }
                let isNew = !reader.isBound && !isPrivate
                fail(
                    id,
                    isNew
                        ? .mustBePrivate
                        : CacheError(
                            .store, "the reader fell behind; the origin serves no ranges and nothing can be stored"))
            }
        }
    }

    /// The representation bytes are filled for: the newest that is not superseded.
    var newest: Int? { representations.filter { !$0.isSuperseded }.map(\.id).max() }

    mutating func scheduleTick() {
        if !transfers.isEmpty || !buffers.isEmpty || isAwaited {
            lookAgain(at: now + tuning.tick)
        } else if readers.isEmpty {
            lookAgain(at: lifecycle.idleSince + tuning.idleClose)
        }
        if let syncDue { lookAgain(at: syncDue) }
        if let refreshing, isAwaited { lookAgain(at: refreshing.since + tuning.retryDeadline) }
    }

    /// Whether a reader waits that has not failed.
    private var isAwaited: Bool { readers.contains { $0.isWaiting && $0.failure == nil } }

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
        if isSuspended { return }
        for id in transfers.ids {
            guard let transfer = transfers[id], let request = transfer.request else { continue }
            if !request.hasHead, now - request.sentAt > tuning.headTimeout {
                let limit = tuning.headTimeout / TransferTuning.second
                requestFailed(id, OriginFailure(.timedOut, "the origin did not answer within \(limit) s"))
            } else if request.isDemanding, now - transfer.lastProgress > tuning.stallTimeout {
                let limit = tuning.stallTimeout / TransferTuning.second
                requestFailed(id, OriginFailure(.timedOut, "the origin sent nothing for \(limit) s"))
            }
        }
        failHungWrites()
        retryStoring()
        syncIfDue()
        // What waits for space while the cache is closed goes on waiting no longer than else.
        if lifecycle.isEnding { scheduleTick() } else { plan() }
        if isIdle, now - lifecycle.idleSince >= tuning.idleClose { close() }
    }

    /// Lets the files go and leaves the table of open resources; the next reader opens the files again and verifies them again.
    mutating func close() {
        guard isIdle, !lifecycle.isOpening, !lifecycle.isGone else { return }
        syncAll()
        dropRepresentations()
        leaveForGood()
    }

    mutating func dropRepresentations() {
        for representation in representations
        where !representation.isCommitted && representation.generation != nil {
            effects.append(.abandon(representation.info))
        }
        representations.removeAll()
        current = nil
        reading = ByteRangeSet()
    }

    /// Lets go of what a hung disk has not taken, where nobody waits for it any longer.
    mutating func abandonUnwritten() {
        for number in representations.ids { buffers.drop(number) }
        close()
    }

    /// Whether it has no reader, no transfer and nothing to write.
    var isIdle: Bool { (readers.isEmpty || lifecycle.hasEndedReaders) && transfers.isEmpty && buffers.isEmpty }

    /// No new reader comes to this session; those it has go on. The entry's files are its successor's: two that fill the same
    /// files, or evict each other's, would each take what the other does for damage.
    mutating func leaveTable() {
        guard let departure = lifecycle.unlist() else { return }
        for number in representations.ids { changeStorage(of: number) { $0.leave(isReadable: true) } }
        effects.append(.endTenure)
        effects.append(.depart(departure))
        close()
    }

    mutating func leaveForGood() {
        if let departure = lifecycle.left() { effects.append(.depart(departure)) }
    }

    /// The cache is being closed: readers end with an error, nothing is asked for any more, what is in memory is written.
    mutating func shutDown() {
        for id in readers.ids { fail(id, CacheError(.closed, "the cache was closed")) }
        for id in transfers.ids { finish(id) }
        for number in representations.ids where representations[number]?.storage.isUndecided == true {
            buffers.drop(number)
        }
        syncAll()
        lifecycle.shutDown()
        scheduleTick()
    }

    /// Whether anybody reads or fetches or not: a song that came in a second must not wait for its session's end.
    mutating func syncIfDue() { if let syncDue, now >= syncDue { syncAll() } }

    mutating func syncAll() {
        syncDue = nil
        for id in representations.ids {
            guard let representation = representations[id], let generation = representation.storage.target else {
                continue
            }
            effects.append(.sync(representation: id, generation, summary(of: representation, generation)))
        }
    }

    private func summary(of representation: Representation, _ generation: Generation) -> EntrySummary {
        var summary = EntrySummary()
        summary.lastUse = lastUsed
        summary.logUseCount = representation.logUseCount
        summary.isPinned = representation.info.isPinned
        summary.length = representation.info.length
        summary.stored = generation.claimed.count
        summary.allocated = generation.allocatedBytes
        summary.statistics = sums
        return summary
    }
}
