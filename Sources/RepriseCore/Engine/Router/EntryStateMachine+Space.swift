import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Space in the store: waiting for it, going on without, coming back, and evicting.
extension EntryStateMachine {
    // MARK: No space

    /// Bytes that may not be written now wait a little in memory: something is being evicted.
    mutating func waitForSpace(_ representation: Representation) {
        leave(.requestEviction)
        let now = now
        changeStorage(of: representation.id) { $0.waitForSpace(since: now) }
    }

    /// The store was swept; there may be space.
    mutating func spaceLookedFor() {
        guard environment.quota.hasSpace else { return }
        for representation in representations where representation.storage.waitsForSpaceSince != nil {
            changeStorage(of: representation.id) { $0.spaceFound() }
            write(representation)
        }
        retryStoring()
        replan()
    }

    /// Goes on without the store where space did not come, and tries again where it may have.
    mutating func retryStoring() {
        for representation in representations {
            if let since = representation.storage.waitsForSpaceSince, now - since >= tuning.spaceTimeout {
                stopStoring(representation, environment.quota.refusal)
            }
            if representation.storage.isRetryDue(now), isFetched(representation.id) { storeAgain(representation) }
        }
    }

    /// Whether bytes of a representation come that could be stored.
    func isFetched(_ id: RepresentationID) -> Bool { transfers.contains { $0.representation == id } }

    /// The disk may take bytes again: what comes is stored, in the files there are or in new ones. Transfers begin anew, as those
    /// that only pass bytes through begin anywhere in a block; at most a window each is fetched again.
    mutating func storeAgain(_ representation: Representation) {
        // An origin without ranges could not bring again what readers wait for.
        guard representation.storage.isOff, representation.info.servesRanges else { return }
        let (now, tuning, id) = (now, tuning, representation.id)
        guard environment.quota.hasSpace, !environment.unwritten.isExceeded, !buffers.isWriting(id) else {
            changeStorage(of: id) {
                $0.retryLater(now: now, firstPause: tuning.firstStoreRetry, longestPause: tuning.longestStoreRetry)
            }
            return leave(.requestEviction)
        }
        guard !lifecycle.isRemoved, !deferred.isSuspended, !isPrivate, !representation.isPrivate,
            !representation.isSuperseded, environment.store != nil, storesAnything
        else { return }
        dropTransfers(of: id)
        if representation.isCommitted, changeStorage(of: id, { $0.reopen() }) == true { return }
        createFiles(of: representation)
    }

    // MARK: What is not to be stored

    /// Whether what is fetched now is to be stored: not where all readers said that it is not.
    var storesAnything: Bool { readers.isEmpty || readers.contains(where: \.mayStore) }

    /// A reader came: what is fetched is stored from here on, or is not any more.
    mutating func storeOrNot() {
        let stores = storesAnything
        for representation in representations {
            if stores, representation.storage.refusal == .declined {
                if representation.isCommitted || environment.admission.isEverything {
                    storeAgain(representation)
                } else {
                    leave(.admit(representation.id, representation.info))
                }
            } else if !stores, representation.storage.target != nil, representation.isCommitted {
                changeStorage(of: representation.id) { $0.decline(.declined) }
            }
        }
    }

    // MARK: Evicting

    /// Something that will not fit beside much else is to be trimmed while it is read; other files may go to the kernel.
    mutating func expectTrimming(_ representation: Representation) {
        guard let generation = representation.generation,
            representation.info.length ?? .max > environment.quota.capacity / 2
        else { return }
        leave(.allowTrimming(generation))
    }

    private func isTrimmable(_ representation: Representation) -> Bool {
        !representation.info.isPinned && representation.generation?.isLeasedAsFile == false
    }

    /// The files that may be trimmed once none of their bytes is given to the kernel.
    var trimmable: [Generation] { representations.filter(isTrimmable).compactMap(\.generation) }

    /// What can be given back although it is read, of files that may be punched, at least `wanted` bytes where there are as
    /// many. A pinned entry keeps all.
    func reclaimable(_ wanted: Int64) -> [(generation: Generation, ranges: [ByteRange])] {
        var rest = wanted
        var result: [(Generation, [ByteRange])] = []
        for representation in representations where rest > 0 {
            guard let generation = representation.generation, isTrimmable(representation), generation.isPunchable else {
                continue
            }
            let id = representation.id
            var spared = buffers.of(id).map(\.range)
            spared += transfers.filter { $0.representation == id && $0.buffer == nil }.map {
                ByteRange($0.start, $0.start)
            }
            // What is fetched to be kept would be fetched again.
            spared += readers.reading(id).compactMap { $0.kept(before: representation.end) }
            spared = spared.map { ByteRange(generation.layout.blockStart(of: $0.lowerBound), $0.upperBound) }
            let rule = TrimRule(
                claimed: generation.claimed, readers: readers.filter { $0.representation == id }.map(\.position),
                spared: spared, layout: generation.layout, spareBehind: tuning.spareBehind,
                spareAhead: tuning.spareAhead)
            let ranges = rule.ranges(giving: rest)
            guard !ranges.isEmpty else { continue }
            rest -= ranges.reduce(0) { $0.adding($1.count) }
            result.append((generation, ranges))
        }
        return result
    }

    /// Stored bytes went.
    mutating func trimmed() {
        tellWatchers()
        replan()
    }

    /// Lets everything go where no reader or transfer needs it, so that the entry can be removed; `false` where one does.
    mutating func release() -> Bool {
        guard isIdle, !representations.contains(where: \.info.isPinned) else { return false }
        dropRepresentations()
        _ = lifecycle.removed()
        leaveForGood()
        return true
    }

    /// Lets go of what no reader needs from memory any more.
    mutating func releaseMemory() {
        guard !buffers.isEmpty else { return }
        for representation in representations where buffers.has(representation.id) {
            let id = representation.id
            if representation.storage.isUndecided, !representation.storage.awaitsAdmission, !isInUse(id) {
                // Too little came to tell media from a page, and no reader waits for more.
                buffers.drop(id)
                continue
            }
            guard buffers.passesThrough(id) else { continue }
            // A reader paces what it stands in and what was fetched ahead of it; one that stands still does so where it is alone.
            let reading = readers.reading(id).filter { !$0.isPaused }
            let active = reading.filter { !isLeftBehind($0) }
            let pacing = active.isEmpty ? reading : active
            buffers.trimUnstored(
                of: id, readers: pacing.map(\.position), reach: tuning.readAhead, tail: tuning.overlap)
            for transfer in transfers where transfer.representation == id { demand(transfer) }
        }
    }

    // MARK: Counting uses

    /// A use of the entry begins: counts it. The number is kept as a logarithm, so a step up has to be drawn (Morris, "Counting
    /// large numbers of events in small registers", 1978): the second use always makes one.
    mutating func countUse(_ representation: Representation, _ logUseCount: UInt8) {
        let isUse = readers.contains { $0.priority == .playing }
        let chance = 1 / Double(UInt64(1) << UInt64(min(logUseCount, 62)))
        let steps = isUse && logUseCount < 62 && environment.queues.randomFraction() < chance
        representation.countUse(steps ? logUseCount + 1 : logUseCount)
    }
}
