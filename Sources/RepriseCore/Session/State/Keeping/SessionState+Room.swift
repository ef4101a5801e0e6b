import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Room in the store: waiting for it, going on without, coming back, and giving some back.
extension SessionState {
    // MARK: No room

    /// Bytes that may not be written now wait a little in their window: room is being made.
    mutating func waitForRoom(_ number: Int) {
        effects.append(.makeRoom)
        guard representations[number]?.waitsForRoom == nil else { return }
        let now = now
        representations[number]?.waitsForRoom = now
        lookAgain(at: now + tuning.roomPatience)
    }

    /// Room was looked after; there may be some.
    mutating func roomLookedAfter() {
        guard environment.quota.hasRoom else { return }
        for number in representations.keys.sorted() where representations[number]?.waitsForRoom != nil {
            representations[number]?.waitsForRoom = nil
            writeAll(of: number)
        }
        lookForRoom()
        plan()
    }

    /// Goes on without the store where room did not come, and tries again where it may have.
    mutating func lookForRoom() {
        for number in representations.keys.sorted() {
            guard let representation = representations[number] else { continue }
            if let since = representation.waitsForRoom, now - since >= tuning.roomPatience {
                representations[number]?.waitsForRoom = nil
                stopStoring(number, environment.quota.refusal)
            }
            guard let retry = representation.retry, now >= retry.at, representation.isPassThrough,
                transfers.values.contains(where: { $0.representation == number })
            else { continue }
            storeAgain(number)
        }
    }

    /// Has storing tried again after a while, twice as long each time.
    mutating func retryStoring(_ number: Int) {
        let last = representations[number]?.retry?.pause ?? 0
        let pause = min(max(last * 2, tuning.firstStoreRetry), tuning.longestStoreRetry)
        let now = now
        representations[number]?.retry = (now + pause, pause)
        effects.append(.makeRoom)
    }

    /// Bytes were written. Only what lasts ends a run of refusals, so that it is told of once.
    mutating func storingWorks(_ number: Int) {
        guard let retry = representations[number]?.retry, now - retry.at > retry.pause else { return }
        representations[number]?.retry = nil
    }

    /// The disk may take bytes again: what comes is stored, in the files there are or in new ones. Transfers begin anew, as
    /// those that only pass bytes through begin anywhere in a block; at most a window each is fetched again.
    private mutating func storeAgain(_ number: Int) {
        // An origin without ranges could not bring again what readers wait for.
        guard let representation = representations[number], case .off(let generation) = representation.storing,
            representation.info.servesRanges
        else { return }
        guard environment.quota.hasRoom else { return retryStoring(number) }
        guard !isRetired, !isSuspended, !isPrivate, !representation.isPrivate, !representation.isSuperseded,
            environment.store != nil, keepsAnything
        else { return }
        dropTransfers(of: number)
        guard let generation, representation.isCommitted else { return stage(number) }
        representations[number]?.storing = .open(generation)
    }

    // MARK: What is not to be stored

    /// Whether what is fetched now is to be stored: not where all who read it said that it is not.
    var keepsAnything: Bool { readers.isEmpty || readers.values.contains(where: \.isKept) }

    /// A reader came: what is fetched is stored from here on, or is not any more.
    mutating func keepOrNot() {
        let keeps = keepsAnything
        for number in representations.keys.sorted() {
            guard let representation = representations[number], representation.isUnkept == keeps else { continue }
            if keeps {
                representations[number]?.isUnkept = false
                storeAgain(number)
            } else if case .open(let generation) = representation.storing, representation.isCommitted {
                representations[number]?.isUnkept = true
                representations[number]?.storing = .off(generation)
                takeWriters(of: number)
            }
        }
    }

    // MARK: Giving room back

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
        for number in representations.keys.sorted() where rest > 0 {
            guard let representation = representations[number], let generation = representation.generation,
                !representation.info.isPinned, generation.makePunchable()
            else { continue }
            let spared = transfers.values.filter { $0.representation == number }.map { transfer in
                ByteRange(generation.layout.blockStart(of: transfer.window.base), transfer.window.head)
            }
            let rule = TrimRule(
                claimed: generation.claimed,
                readers: readers.values.filter { $0.representation == number }.map(\.position), spared: spared,
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
        guard readers.isEmpty, transfers.isEmpty, !representations.values.contains(where: \.info.isPinned) else {
            return false
        }
        for representation in representations.values
        where !representation.isCommitted && representation.generation != nil {
            effects.append(.abandon(representation.info))
        }
        representations = [:]
        current = nil
        phase = .closed
        retire()
        return true
    }

    // MARK: Counting uses

    /// A session of its use begins: counts it. The number is kept as a logarithm, so a step up has to be drawn (Morris,
    /// "Counting large numbers of events in small registers", 1978): the second use always makes one.
    mutating func countUse(_ number: Int, _ logUseCount: UInt8) {
        let isUse = readers.values.contains { $0.priority == .playing }
        let chance = 1 / Double(UInt64(1) << UInt64(min(logUseCount, 62)))
        let steps = isUse && logUseCount < 62 && environment.queues.randomFraction() < chance
        representations[number]?.logUseCount = steps ? logUseCount + 1 : logUseCount
    }
}
