import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Bytes to the store: whether a representation is stored, its files, its writes, and what becomes of it when they fail.
extension EntryStateMachine {
    /// The only way in which a representation's storage changes: its buffers learn where their bytes go, and those who wait for
    /// what is stored are told.
    @discardableResult
    mutating func changeStorage<Result>(
        of id: RepresentationID, _ change: (inout StorageState) -> Result
    ) -> Result? {
        guard let representation = representations[id] else { return nil }
        let (result, what) = representation.changeStorage(change)
        if what == .destination { redirectBuffers(of: representation) }
        if what != .none { tellWatchers() }
        return result
    }

    /// Where bytes go. What a writer knows of its block is its own, so each buffer has one.
    static func destination(of storage: StorageState) -> FillBuffer.Destination {
        switch storage.destination {
        case .undecided: .undecided
        case .files: storage.target.map { .disk(FillWriter(generation: $0)) } ?? .none
        case .nowhere: .none
        }
    }

    private mutating func redirectBuffers(of representation: Representation) {
        buffers.setDestination(of: representation.id) { EntryStateMachine.destination(of: representation.storage) }
    }

    mutating func tellWatchers() { for tell in watchers.take() { leave(.wake(tell)) } }

    /// Its first bytes are media: whether they are stored.
    mutating func decideStorage(of representation: Representation) {
        let id = representation.id
        guard storesAnything else { return _ = changeStorage(of: id) { $0.decline(.declined) } }
        guard !lifecycle.isUnreadable else { return _ = changeStorage(of: id) { $0.decline(.notStorable) } }
        if environment.admission.isEverything { return storeNow(representation) }
        guard !representation.storage.awaitsAdmission else { return }
        changeStorage(of: id) { $0.awaitAdmission() }
        leave(.admit(id, representation.info))
    }

    /// Whether it may be stored was answered.
    mutating func admitted(_ id: RepresentationID, _ isAdmitted: Bool) {
        guard let representation = representations[id] else { return }
        let (isAwaited, isDeclined) = (
            representation.storage.awaitsAdmission, representation.storage.refusal == .declined
        )
        guard isAwaited || isDeclined else { return }
        // What is not stored is let go of by the next plan.
        replan()
        guard isAdmitted, !lifecycle.isUnreadable, !lifecycle.hasEndedReaders else {
            return _ = changeStorage(of: id) { $0.decline(.notStorable) }
        }
        guard storesAnything else { return _ = changeStorage(of: id) { $0.decline(.declined) } }
        if isAwaited { storeNow(representation) } else { storeAgain(representation) }
    }

    private mutating func storeNow(_ representation: Representation) {
        guard !environment.unwritten.isExceeded else {
            return stopStoring(representation, "the disk is slower than the network; playing on without storing")
        }
        createFiles(of: representation)
    }

    /// Has the files of a representation made.
    mutating func createFiles(of representation: Representation) {
        let naming = naming(of: representation)
        let now = now
        changeStorage(of: representation.id) { $0.create(now: now) }
        leave(.stage(representation.id, representation.info, naming))
    }

    func naming(of representation: Representation) -> EntryAction.NamingOfMade {
        guard representations.isFirstToCommit(representation.id) else { return .later }
        return representation.hasLostFiles ? .again : .atOnce
    }

    // MARK: Writing

    /// Has what is only in memory of a representation written, one write a buffer at a time.
    mutating func write(_ representation: Representation) {
        let id = representation.id
        guard let generation = representation.storage.writable, buffers.has(id) else { return }
        guard environment.quota.hasSpace else {
            if buffers.of(id).contains(where: { $0.undrained > 0 && !$0.isWriting }) { waitForSpace(representation) }
            return
        }
        let orders = buffers.beginWrites(of: id, layout: generation.layout, isSealed: generation.isSealed, now: now)
        for order in orders { leave(.write(order, lane: Int(truncatingIfNeeded: generation.identity))) }
    }

    /// A write reached the disk, or could not.
    mutating func wrote(_ ticket: WriteTicket, damaged: Int64, error: String?) {
        noteDamage(damaged)
        let ended = buffers.endWrite(ticket, error == nil ? .stored : .failed)
        tellWatchers()
        if error == nil {
            // Whatever became of its buffer, the disk has these bytes.
            let count = ticket.range.count
            leave(.count { $0.stored += count })
            tell(.stored(key: key.text, bytes: count))
            syncing.wrote(now: now, interval: tuning.syncInterval)
        }
        let representation = representations[ended.representation]
        switch (ended, error, representation) {
        case (.current, let error?, let representation?): stopStoring(representation, error)
        case (.current, nil, let representation?):
            let now = now
            changeStorage(of: representation.id) { $0.stored(now) }
            // Its own next bytes, and what waited for these.
            write(representation)
        case (.outdated, _, let representation?): write(representation)
        default: break
        }
        // A write that was given up may have brought what readers have waited for since.
        if case .current = ended {} else { wakeWaiting() }
        replan()
    }

    /// The store was not there for a write: its bytes are still in their buffer.
    mutating func notWritten(_ ticket: WriteTicket) {
        let ended = buffers.endWrite(ticket, .notDone)
        if !deferred.isSuspended, let representation = representations[ended.representation] { write(representation) }
    }

    /// The disk does not take bytes: playback goes on from memory, nothing more is stored of this representation now.
    mutating func stopStoring(_ representation: Representation, _ reason: String) {
        if representation.storage.isFirstFailure { tell(.degraded(key: key.text, reason: reason)) }
        abandonFiles(of: representation)
        let (now, tuning) = (now, tuning)
        changeStorage(of: representation.id) {
            $0.fail(
                keepsFiles: representation.isCommitted, now: now, firstPause: tuning.firstStoreRetry,
                longestPause: tuning.longestStoreRetry)
        }
        leave(.requestEviction)
    }

    /// Has the files of a representation removed that no description names.
    /// - Parameter isLast: Whether one that could not be written will not be tried again.
    mutating func abandonFiles(of representation: Representation, isLast: Bool = false) {
        let isLost = !representation.isCommitted || isLast && representation.isChosenInVain
        if isLost, representation.generation != nil { leave(.abandon(representation.info)) }
    }

    // MARK: Files

    /// The files of a representation were made, or could not be.
    mutating func staged(_ id: RepresentationID, _ entry: StoredEntry?, isCommitted: Bool, _ error: StoreError?) {
        tellWatchers()
        diskAnswered(id, .making)
        guard let representation = representations[id], representation.storage.isCreating else {
            if let entry, !isCommitted { leave(.abandon(entry.info)) }
            return
        }
        replan()
        guard let entry else {
            return stopStoring(representation, error?.description ?? "the entry could not be made")
        }
        leave(.addUsage(Quota.entryCost))
        let isOutdated: Bool
        if isCommitted {
            isOutdated = representations.named(representation, as: entry.info)
        } else {
            representation.filesMade(as: entry.info)
            isOutdated = false
        }
        changeStorage(of: id) { $0.created(entry.generation) }
        expectTrimming(representation)
        if isOutdated { writeDescription(of: representation) }
        write(representation)
    }

    /// Has the description of a representation written.
    /// - Parameter generation: Files that have to be on the disk before.
    mutating func writeDescription(of representation: Representation, syncing generation: Generation? = nil) {
        // Of files that cannot be read now nothing that came since is known to be true.
        guard representation.storage.files != nil else { return }
        representation.describe(failed: false)
        lifecycle.commitBegan()
        leave(.commit(representation.id, representation.info, syncing: generation))
    }

    /// The same where there is one.
    mutating func rewriteDescription(of representation: Representation) {
        if representation.isCommitted { writeDescription(of: representation) }
    }

    /// Names the files of a representation where it is time to: once an input, as what keeps one from being named may end by
    /// anything. What the description names is on the disk before the old files go: a power cut leaves one of the two.
    mutating func nameWhatIsDue() {
        if lifecycle.isRemoved { return }
        for new in representations {
            guard let generation = new.filesToName else { continue }
            if representations.commitIfDue(new.id) {
                writeDescription(of: new, syncing: generation)
            } else if let old = representations.first(where: { $0.isCommitted }), let files = old.generation,
                let unloaded = files.firstUnloaded
            {
                // Whether the one that is to be replaced is complete is known once its slots have been read.
                load(old.id, files, unloaded)
            }
        }
    }

    /// `info.json` was written, or could not be.
    mutating func committed(_ id: RepresentationID, _ error: StoreError?) {
        lifecycle.commitEnded()
        tellWatchers()
        guard let error else {
            representations[id]?.named()
            return
        }
        guard !lifecycle.isRemoved else { return }
        // Until then the files it names are those that stay: it is tried again with the next sync.
        representations[id]?.describe(failed: true)
        if error.code == .gone, let generation = representations[id]?.generation { return filesDeleted(id, generation) }
        tell(.degraded(key: key.text, reason: error.description))
    }

    // MARK: Syncing

    /// Whether a transfer or reader is there or not: a song that came in a second must not wait for its entry's end.
    mutating func syncIfDue() { if syncing.isDue(now) { syncAll() } }

    /// - Parameter describesDue: Whether descriptions are written that could not be before.
    mutating func syncAll(describesDue: Bool = true) {
        syncing.done()
        for representation in representations {
            if let generation = representation.storage.target {
                let summary = representation.summary(lastUse: use.last, statistics: use.statistics, of: generation)
                leave(.sync(representation.id, generation, summary))
            }
            // A complete one takes a complete one's place: what a failed sync lost has to be there again.
            guard describesDue, representation.isDescriptionDue, let generation = representation.generation,
                !generation.hasFailedToSync || representation.isComplete
            else { continue }
            writeDescription(of: representation, syncing: generation)
        }
    }
}
