import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Bytes to the store: whether a representation is stored, its files, its writes, and what becomes of it when they fail.
extension SessionState {
    /// The only way in which a representation's storage changes: its buffers learn where their bytes go, and those who wait
    /// for what is stored are told.
    @discardableResult
    mutating func changeStorage<Result>(of number: Int, _ change: (inout StorageState) -> Result) -> Result? {
        guard var storage = representations[number]?.storage else { return nil }
        let before = (storage.destination, storage.isSettled, storage.generation.map(ObjectIdentifier.init))
        let result = change(&storage)
        representations[number]?.storage = storage
        let after = (storage.destination, storage.isSettled, storage.generation.map(ObjectIdentifier.init))
        if before.0 != after.0 {
            buffers.setDestination(of: number) { SessionState.destination(of: storage) }
        }
        if before != after { storedChanged() }
        return result
    }

    /// Where bytes go. What a writer knows of its block is its own, so each buffer has one.
    static func destination(of storage: StorageState?) -> FillBuffer.Destination {
        switch storage?.destination {
        case .undecided, nil: .undecided
        case .files: storage?.target.map { .disk(FillWriter(generation: $0)) } ?? .none
        case .nowhere: .none
        }
    }

    /// Its first bytes are media: whether they are stored.
    mutating func decideStorage(of number: Int) {
        guard let info = representations[number]?.info else { return }
        guard storesAnything else { return _ = changeStorage(of: number) { $0.decline(.declined) } }
        guard !lifecycle.isUnreadable, environment.admission.admits(info) else {
            return _ = changeStorage(of: number) { $0.decline(.notStorable) }
        }
        guard !environment.unwritten.isExceeded else {
            return stopStoring(number, "the disk is slower than the network; playing on without storing")
        }
        createFiles(of: number)
    }

    /// Has the files of a representation made.
    mutating func createFiles(of number: Int) {
        guard let info = representations[number]?.info else { return }
        let isFirst = isFirstToCommit(number)
        changeStorage(of: number) { $0.create() }
        effects.append(.stage(representation: number, info, commit: isFirst))
    }

    /// Whether the files of a representation may be named as soon as they are made: there are no others that are, or will be
    /// then. One description at a time: of two that are written at the same moment either could be the last.
    private func isFirstToCommit(_ number: Int) -> Bool {
        !representations.contains { $0.id != number && ($0.isCommitted || $0.storage.isCreating) }
    }

    // MARK: Writing

    /// Has what is only in memory of a representation written, one write a buffer at a time.
    mutating func write(_ number: Int) {
        guard let generation = representations[number]?.storage.writable, buffers.has(number) else { return }
        guard environment.quota.hasRoom else {
            if buffers.of(number).contains(where: { $0.undrained > 0 && !$0.isWriting }) { waitForSpace(number) }
            return
        }
        let orders = buffers.beginWrites(
            of: number, layout: generation.layout, isSealed: generation.isSealed, now: now)
        for order in orders {
            effects.append(.write(order, lane: Int(truncatingIfNeeded: generation.identity)))
        }
    }

    /// A write reached the disk, or could not.
    mutating func wrote(_ ticket: WriteTicket, error: String?) {
        let ended = buffers.endWrite(ticket, error == nil ? .stored : .failed)
        storedChanged()
        if error == nil {
            // Whatever became of its buffer, the disk has these bytes.
            let count = ticket.range.count
            environment.quota.stored(count)
            effects.append(.count { $0.stored += count })
            effects.append(.event(.stored(key: key.text, bytes: count)))
            syncDue = syncDue ?? now + tuning.syncInterval
        }
        switch (ended, error) {
        case (.current(let number), let error?): stopStoring(number, error)
        case (.current(let number), nil):
            let now = now
            changeStorage(of: number) { $0.stored(now) }
            commitIfDue(number)
            // Its own next bytes, and what waited for these.
            write(number)
        case (.outdated(let number), _): write(number)
        case (.unknown, _): break
        }
        // A write that was given up may have brought what readers have waited for since.
        if case .current = ended {} else { wakeWaiting() }
        syncIfDue()
        plan()
    }

    /// The store was not there for a write: its bytes are still in their buffer.
    mutating func notWritten(_ ticket: WriteTicket) {
        let ended = buffers.endWrite(ticket, .notDone)
        if !isSuspended, let number = ended.representation { write(number) }
    }

    /// The disk does not take bytes: playback goes on from memory, nothing more is stored of this representation now.
    mutating func stopStoring(_ number: Int, _ reason: String) {
        guard let representation = representations[number] else { return }
        if representation.storage.isFirstFailure { effects.append(.event(.degraded(key: key.text, reason: reason))) }
        if !representation.isCommitted, representation.generation != nil {
            effects.append(.abandon(representation.info))
        }
        let (now, tuning) = (now, tuning)
        changeStorage(of: number) {
            $0.fail(
                keepsFiles: representation.isCommitted, now: now, firstPause: tuning.firstStoreRetry,
                longestPause: tuning.longestStoreRetry)
        }
        effects.append(.makeRoom)
    }

    /// Writes that take too long: playback goes on without the store rather than wait for a disk that hangs.
    mutating func failHungWrites() {
        for number in representations.ids where representations[number]?.storage.target != nil {
            guard let longest = buffers.longestWrite(of: number, now: now), longest >= tuning.writeTimeout else {
                continue
            }
            let seconds = tuning.writeTimeout / TransferTuning.second
            stopStoring(number, "the disk has not finished a write within \(seconds) s; playing on without storing")
        }
    }

    // MARK: Files

    /// The files of a representation were made, or could not be.
    mutating func staged(_ number: Int, _ entry: StoredEntry?, isCommitted: Bool, error: StoreError?) {
        storedChanged()
        guard let representation = representations[number], representation.storage.isCreating else {
            if let entry, !isCommitted { effects.append(.abandon(entry.info)) }
            return
        }
        guard let entry else {
            stopStoring(number, error?.description ?? "the entry could not be made")
            // Those that were to take its place have nothing to wait for.
            for other in representations.ids { commitIfDue(other) }
            plan()
            return
        }
        // The length may have been learnt meanwhile.
        var info = entry.info
        info.length = representation.info.length
        info.servesRanges = representation.info.servesRanges
        // And what it says may have been made unusable.
        info.checked = representation.info.checked
        // Or it was pinned, once its files had a name and before this was told.
        if isCommitted, let pinnedLast { info.isPinned = pinnedLast }
        representations[number]?.info = info
        environment.quota.stored(Quota.entryCost)
        changeStorage(of: number) { $0.created(entry.generation) }
        if let representation = representations[number] { expectTrimming(representation) }
        if isCommitted {
            representations[number]?.isCommitted = true
            current = number
            if info != entry.info { commitInfo(of: number) }
        } else {
            commitIfDue(number)
        }
        write(number)
        plan()
    }

    /// Has the description of a representation written.
    mutating func commitInfo(of number: Int, syncing generation: Generation? = nil) {
        guard let info = representations[number]?.info else { return }
        effects.append(.commit(representation: number, info, syncing: generation))
    }

    /// A new representation takes the old one's place once its first block is stored and its type agrees; a pinned or
    /// complete one is replaced only by a complete one. Where there is none it has nothing to wait for.
    private mutating func commitIfDue(_ number: Int) {
        guard !lifecycle.isRemoved, let representation = representations[number], !representation.isCommitted,
            let generation = representation.generation, representation.storage.isSettled
        else { return }
        let old = representations.first { $0.id != number && $0.isCommitted }
        if let old {
            guard mayReplace(old, representation, generation) else { return }
            representations[number]?.info.isPinned = old.info.isPinned
            representations[old.id]?.isCommitted = false
            representations[old.id]?.isSuperseded = true
        } else if !isFirstToCommit(number) {
            return
        }
        representations[number]?.isCommitted = true
        current = number
        // What the description names is on the disk before the old files go: a power cut leaves one of the two.
        commitInfo(of: number, syncing: generation)
    }

    private func mayReplace(_ old: Representation, _ new: Representation, _ generation: Generation) -> Bool {
        let agrees =
            MediaType(old.info.fields["Content-Type"])?.type == MediaType(new.info.fields["Content-Type"])?.type
        if old.info.isPinned || old.isComplete || !agrees { return new.isComplete }
        let block = min(generation.layout.blockSize, new.info.length ?? .max)
        return generation.claimed.ranges.contains { $0.count >= block }
    }

    /// `info.json` could not be written.
    mutating func commitFailed(_ number: Int, _ error: StoreError) {
        if lifecycle.isRemoved { return }
        if error.code == .gone, let generation = representations[number]?.generation {
            return purged(number, generation)
        }
        effects.append(.event(.degraded(key: key.text, reason: error.description)))
    }

    // MARK: Files that others deleted

    /// The description of a representation whose files others may not delete without our noticing; `nil` for one that is
    /// not filled any more, or with other files.
    func fillable(_ number: Int, _ generation: Generation) -> EntryInfo? {
        guard !lifecycle.isRemoved, !isSuspended, let representation = representations[number],
            !representation.isSuperseded,
            representation.storage.target === generation
        else { return nil }
        return representation.info
    }

    /// The files of a representation are not there any more: what comes from now on goes into new ones.
    ///
    /// What readers have not read yet and was only on disk is fetched again. The representation stays the same one, so
    /// it keeps its identity, and with it the tags it was announced under.
    mutating func purged(_ number: Int, _ generation: Generation) {
        guard let info = fillable(number, generation) else { return }
        effects.append(.event(.purged(key: key.text)))
        changeStorage(of: number) { $0.filesLost() }
        representations[number]?.isCommitted = false
        reading = ByteRangeSet()
        effects.append(.stage(representation: number, info, commit: isFirstToCommit(number)))
        wakeWaiting()
        plan()
    }

    /// The files a write was to go to have no name. Answers whether its bytes stay in memory for new ones; those of an
    /// entry that was replaced or removed on purpose are still written for its readers.
    mutating func purged(_ ticket: WriteTicket) -> Bool {
        guard let number = buffers[ticket.buffer]?.representation,
            let generation = representations[number]?.storage.target, fillable(number, generation) != nil
        else { return false }
        _ = buffers.endWrite(ticket, .notDone)
        purged(number, generation)
        return true
    }
}
