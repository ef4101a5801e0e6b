import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// The entry is opened, given away with the store, removed and closed.
extension EntryStateMachine {
    // MARK: Opening

    /// The store answered whether it has an entry.
    mutating func opened(_ entry: StoredEntry?, error: StoreError?) {
        if error != nil || lifecycle.isLate { lifecycle.couldNotRead(now: now) }
        if lifecycle.isLate, !representations.isEmpty { return lifecycle.answeredTooLate() }
        let opened = lifecycle.opened(error == nil ? .readable : .unreadable)
        if opened == .tooLate { return }
        if let error { tell(.degraded(key: key.text, reason: error.description)) }
        if let entry {
            let representation = Representation(id: makeID(), stored: entry)
            representations.open(representation)
            expectTrimming(representation)
            countUse(representation, entry.summary.logUseCount)
            use.opened(entry.summary.statistics)
            if use.hasUnstored { storeOrNot() }
            if opened == .invalidated { representation.invalidate() }
        }
        for reader in readers {
            bind(reader)
            // Readers without a representation are not woken: they have nothing to read.
            if reader.representation != nil { wake(reader) }
        }
        replan()
    }

    /// The store has not answered in time: bytes come from the origin, and nothing is stored unless it answers before they do.
    mutating func openedLate() {
        lifecycle.openedLate()
        for reader in readers { bind(reader) }
        replan()
    }

    /// What is stored was made unusable by a request that changed something (RFC 9111 §4.4): it is confirmed before it is used
    /// again. Readers that have it go on.
    mutating func invalidate() {
        lifecycle.invalidated()
        revalidation.invalidated(now: now)
        for representation in representations where !representation.isPrivate {
            invalidate(representation)
        }
        // A confirmation under way was asked for before the invalidation: its answer confirms nothing.
        if let (request, _) = revalidation.inFlight { confirmAgain(request) }
    }

    // MARK: The store is given away and taken back

    //     suspend: requests end, buffers drain, readers wait ... resume: slots and checksums anew, readers go on
    //                                                        ... resumeWithoutStore: from the origin, nothing stored

    mutating func suspend() {
        guard deferred.suspend() else { return }
        finishTransfers()
    }

    private mutating func finishTransfers() {
        endRevalidation()
        returnUnusedSlots()
        for transfer in transfers { finish(transfer) }
    }

    /// The store was not there for that work.
    mutating func deferWork(_ action: EntryAction) {
        if lifecycle.hasEndedReaders { return dropWork(action) }
        if deferred.isSuspended || !environment.access.isOpen { return deferred.add(action) }
        // It came back between the attempt and this, or is gone.
        if environment.store != nil { leave(action) } else { dropWork(action) }
    }

    /// The store does not come back for that work.
    private mutating func dropWork(_ action: EntryAction) {
        switch action {
        case .stage(let id, _, _): staged(id, nil, isCommitted: false, nil)
        case .commit: lifecycle.commitEnded()
        default: break
        }
    }

    /// Whether bytes are in memory that the disk will have.
    var hasUnwritten: Bool { buffers.awaitsDisk || representations.contains { $0.storage.isPending } }

    /// The same of one representation; nothing of it waits for what another one is still to bring.
    func hasUnwritten(_ representation: Representation) -> Bool {
        representation.storage.isPending || buffers.awaitsDisk(representation.id)
    }

    /// Whether bytes are to reach the disk yet, or a description that names them.
    var isStoring: Bool { hasUnwritten || lifecycle.isCommitting }

    /// Whether it was told what is stored, or does not wait for that any more.
    var hasOpened: Bool { lifecycle.isOpen }

    /// Files that are open.
    struct OpenFiles {
        let id: RepresentationID
        let info: EntryInfo
        let generation: Generation
        /// Whether they are the entry's, named or to be named.
        let isCommitted: Bool
        /// Whether they are that only while a description names them: a part takes no place that others may have filled meanwhile.
        let mustBeNamed: Bool
    }

    var openFiles: [OpenFiles] {
        representations.compactMap { representation in
            representation.storage.files.map {
                OpenFiles(
                    id: representation.id, info: representation.info, generation: $0,
                    isCommitted: representation.isCommitted,
                    mustBeNamed: representation.isNamed || !representation.isComplete)
            }
        }
    }

    /// The files of a representation are another's, or cannot be read now.
    mutating func leaveDisk(_ id: RepresentationID, isReadable: Bool, _ reason: String) {
        changeStorage(of: id) { $0.leave(isReadable: isReadable) }
        if !isReadable { lifecycle.couldNotRead(now: now) }
        index.drop(id)
        tell(.degraded(key: key.text, reason: reason))
    }

    mutating func resume() {
        guard let work = deferred.resume() else { return }
        for representation in representations {
            // What a writer knows of its block is from before.
            if representation.storage.target != nil {
                buffers.setDestination(of: representation.id) {
                    EntryStateMachine.destination(of: representation.storage)
                }
            }
            write(representation)
        }
        for action in work {
            switch action {
            // Asked for again where it is still wanted.
            case .load(let id, _, _), .verify(let id, _, _), .withdraw(let id, _), .readOverlap(_, let id, _, _):
                diskAnswered(id)
            default: leave(action)
            }
        }
        goOn()
    }

    mutating func resumeWithoutStore() {
        for case .commit in deferred.resume() ?? [] { lifecycle.commitEnded() }
        for representation in representations {
            leaveDisk(representation.id, isReadable: false, "another process has the store")
            // What was asked of it will not be done.
            changeStorage(of: representation.id) { _ = $0.answered(.other) || $0.answered(.making) }
        }
        if lifecycle.isOpening || lifecycle.isLate { opened(nil, error: nil) }
        goOn()
    }

    /// Time stood still for those who wait.
    private mutating func goOn() {
        backoff.reset()
        lifecycle.restartWait(now: now)
        index.dropAll()
        let now = now
        for representation in representations {
            changeStorage(of: representation.id) { $0.restartWait(now: now) }
        }
        for reader in readers { reader.restartWait(now: now) }
        bindThoseWhoAwaitIndex()
        wakeWaiting()
        replan()
    }

    // MARK: Leaving

    /// The entry was removed by its owner: readers go on with what is open, new readers get another entry.
    mutating func removed() {
        let departure = lifecycle.removed()
        for representation in representations where representation.storage.isUndecided {
            changeStorage(of: representation.id) { $0.decline(.left) }
        }
        if let departure { leave(.depart(departure)) }
        // Without readers now it has none later.
        close()
    }

    /// New readers get another entry, those it has go on. The files are its successor's: two entries that fill the same files, or
    /// evict each other's, would each take what the other does for damage.
    mutating func leaveTable() {
        guard let departure = lifecycle.unlist() else { return }
        for representation in representations { changeStorage(of: representation.id) { $0.leave(isReadable: true) } }
        leave(.endWriteLease)
        leave(.depart(departure))
        close()
    }

    /// Whether it has no reader, no transfer and nothing to write, and no files are being opened, made or named: those of an entry
    /// that has gone would come into its successor's place, and the successor would read what they are named instead of.
    var isIdle: Bool {
        (readers.isEmpty || lifecycle.hasEndedReaders) && isAtRest && !lifecycle.isLate
            && !lifecycle.isCommitting && !representations.contains { $0.awaitsFiles }
    }

    /// Lets the files go and leaves the table of open entries; the next reader opens the files again and verifies them again.
    mutating func close() {
        guard isIdle, !lifecycle.isOpening, !lifecycle.isGone else { return }
        // What could not be described before is what the successor is to find: no description may follow that one's first look.
        syncAll(describesDue: lifecycle.mayDescribeLast)
        if lifecycle.isCommitting { return lifecycle.describedLast() }
        dropRepresentations()
        leaveForGood()
    }

    mutating func closeIfIdle() {
        if readers.isEmpty { finishTransfers() }
        close()
    }

    mutating func dropRepresentations() {
        for representation in representations { abandonFiles(of: representation, isLast: true) }
        representations.removeAll()
        index.dropAll()
        tellWatchers()
    }

    mutating func leaveForGood() { if let departure = lifecycle.left() { leave(.depart(departure)) } }

    /// Lets go of what a hung disk has not taken, that no reader waits for any longer.
    mutating func abandonUnwritten() {
        for representation in representations { buffers.drop(representation.id) }
        lifecycle.forgetCommits()
        close()
    }

    /// The cache is being closed: readers end with an error, nothing is asked for any more, what is in memory is written.
    mutating func shutDown() {
        for reader in readers { fail(reader, CacheError(.closed, "the cache was closed")) }
        finishTransfers()
        for representation in representations where representation.storage.isUndecided {
            buffers.drop(representation.id)
            changeStorage(of: representation.id) { $0.decline(.left) }
        }
        syncAll()
        lifecycle.shutDown()
        for action in deferred.drop() { dropWork(action) }
        tellWatchers()
    }
}
