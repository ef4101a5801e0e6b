import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Space in the store: waiting for it, going on without, coming back, and evicting.
extension SessionState {
    // MARK: No space

    /// Bytes that may not be written now wait a little in memory: something is being evicted.
    mutating func waitForSpace(_ number: Int) {
        effects.append(.makeRoom)
        let now = now
        changeStorage(of: number) { $0.waitForSpace(since: now) }
        lookAgain(at: now + tuning.roomPatience)
    }

    /// The store was swept; there may be space.
    mutating func spaceLookedAfter() {
        guard environment.quota.hasRoom else { return }
        for number in representations.ids
        where representations[number]?.storage.waitsForSpaceSince != nil {
            changeStorage(of: number) { $0.spaceFound() }
            write(number)
        }
        retryStoring()
        plan()
    }

    /// Goes on without the store where space did not come, and tries again where it may have.
    mutating func retryStoring() {
        for number in representations.ids {
            guard let storage = representations[number]?.storage else { continue }
            if let since = storage.waitsForSpaceSince, now - since >= tuning.roomPatience {
                stopStoring(number, environment.quota.refusal)
            }
            guard storage.isRetryDue(now), transfers.contains(where: { $0.representation == number }) else {
                continue
            }
            storeAgain(number)
        }
    }

    /// The disk may take bytes again: what comes is stored, in the files there are or in new ones. Transfers begin anew, as
    /// those that only pass bytes through begin anywhere in a block; at most a window each is fetched again.
    private mutating func storeAgain(_ number: Int) {
        // An origin without ranges could not bring again what readers wait for.
        guard let representation = representations[number], representation.storage.isOff,
            representation.info.servesRanges
        else { return }
        let (now, tuning) = (now, tuning)
        guard environment.quota.hasRoom, !environment.unwritten.isExceeded, !buffers.isWriting(number) else {
            changeStorage(of: number) {
                $0.retryLater(now: now, firstPause: tuning.firstStoreRetry, longestPause: tuning.longestStoreRetry)
            }
            effects.append(.makeRoom)
            return
        }
        guard !lifecycle.isRemoved, !isSuspended, !isPrivate, !representation.isPrivate, !representation.isSuperseded,
            environment.store != nil, storesAnything
        else { return }
        dropTransfers(of: number)
        if representation.isCommitted, changeStorage(of: number, { $0.reopen() }) == true { return }
        createFiles(of: number)
    }

    // MARK: What is not to be stored

    /// Whether what is fetched now is to be stored: not where all who read it said that it is not.
    var storesAnything: Bool { readers.isEmpty || readers.contains(where: \.isKept) }

    /// A reader came: what is fetched is stored from here on, or is not any more.
    mutating func storeOrNot() {
        let stores = storesAnything
        for number in representations.ids {
            guard let representation = representations[number] else { continue }
            if stores, representation.storage.refusal == .declined {
                storeAgain(number)
            } else if !stores, representation.storage.target != nil, representation.isCommitted {
                changeStorage(of: number) { $0.decline(.declined) }
            }
        }
    }

    // MARK: Evicting

    /// Something that will not fit beside much else is to be trimmed while it is read; the others may go to the kernel.
    func expectTrimming(_ representation: Representation) {
        guard let generation = representation.generation,
            representation.info.length ?? .max > environment.quota.capacity / 2
        else { return }
        _ = generation.makePunchable()
    }

    /// What can be given back although somebody reads, at least `wanted` bytes where there are as many. A pinned entry
    /// keeps all.
    func surplus(_ wanted: Int64) -> [(generation: Generation, ranges: [ByteRange])] {
        var rest = wanted
        var result: [(Generation, [ByteRange])] = []
        for number in representations.ids where rest > 0 {
            guard let representation = representations[number], let generation = representation.generation,
                !representation.info.isPinned, !generation.isLeasedAsFile, generation.makePunchable()
            else { continue }
            var spared = buffers.of(number).map(\.range)
            spared += transfers.filter { $0.representation == number && $0.buffer == nil }.map {
                ByteRange($0.start, $0.start)
            }
            spared = spared.map { ByteRange(generation.layout.blockStart(of: $0.lowerBound), $0.upperBound) }
            let rule = TrimRule(
                claimed: generation.claimed,
                readers: readers.filter { $0.representation == number }.map(\.position), spared: spared,
                blockSize: generation.layout.blockSize)
            let ranges = rule.ranges(giving: rest)
            guard !ranges.isEmpty else { continue }
            rest -= ranges.reduce(0) { $0 + $1.count }
            result.append((generation, ranges))
        }
        return result
    }

    /// Stored bytes went.
    mutating func trimmed() {
        storedChanged()
        plan()
    }

    /// Lets everything go where nobody reads or fetches, so that the entry can be removed; `false` where somebody does.
    mutating func letGo() -> Bool {
        guard isIdle, !representations.contains(where: \.info.isPinned) else {
            return false
        }
        dropRepresentations()
        _ = lifecycle.removed()
        leaveForGood()
        return true
    }

    // MARK: Counting uses

    /// A session of its use begins: counts it. The number is kept as a logarithm, so a step up has to be drawn (Morris,
    /// "Counting large numbers of events in small registers", 1978): the second use always makes one.
    mutating func countUse(_ number: Int, _ logUseCount: UInt8) {
        let isUse = readers.contains { $0.priority == .playing }
        let chance = 1 / Double(UInt64(1) << UInt64(min(logUseCount, 62)))
        let steps = isUse && logUseCount < 62 && environment.queues.randomFraction() < chance
        representations[number]?.logUseCount = steps ? logUseCount + 1 : logUseCount
    }
}
