import RepriseRanges
import RepriseStorage

/// Others (a user, the system, another process) delete files of an entry, or fill its place.
extension EntryStateMachine {
    /// The representation that the description on the disk names, where none is on its way, and the number of its files.
    var named: (id: RepresentationID, number: Int)? {
        guard !lifecycle.isCommitting, let named = representations.first(where: \.isNamed) else { return nil }
        return (named.id, named.info.generation)
    }

    /// The representation whose files others may not delete without our noticing; `nil` for one that is not filled any more, or
    /// with other files.
    func fillable(_ id: RepresentationID, _ generation: Generation) -> Representation? {
        guard !lifecycle.isRemoved, !deferred.isSuspended, let representation = representations[id],
            !representation.isSuperseded, representation.storage.target === generation
        else { return nil }
        return representation
    }

    /// The entry's description is not there any more. What it named need not be what is being filled: another version is to take its
    /// place, or its files cannot be read now.
    mutating func descriptionDeleted(of id: RepresentationID, _ number: Int) {
        guard let named, named == (id, number), !lifecycle.isRemoved, !deferred.isSuspended,
            let representation = representations[id]
        else { return }
        if let generation = representation.storage.target, !representation.isSuperseded {
            return filesDeleted(id, generation)
        }
        tell(.purged(key: key.text))
        representations.loseName(id)
    }

    /// The files of a representation are not there any more: what comes from now on goes into new ones.
    ///
    /// What readers have not read yet and was only on disk is fetched again. The representation stays the same one, so it keeps
    /// its identity, and with it the tags it was announced under.
    mutating func filesDeleted(_ id: RepresentationID, _ generation: Generation) {
        guard let representation = fillable(id, generation) else { return }
        tell(.purged(key: key.text))
        // The disk still names what they were to replace, which may be whole: files without a byte are not to take its place.
        if representation.isCommitted, !representation.isNamed { return leaveTable() }
        let now = now
        changeStorage(of: id) { $0.filesLost(now: now) }
        representation.loseFiles()
        index.drop(id)
        leave(.stage(id, representation.info, naming(of: representation)))
        wakeWaiting()
        replan()
    }

    /// The files a write was to go to have no name. Answers whether its bytes stay in memory for new ones; those of an entry that
    /// was replaced or removed on purpose are still written for its readers.
    mutating func foundUnlinked(_ ticket: WriteTicket) -> Bool {
        guard let id = buffers[ticket.buffer]?.representation, let generation = representations[id]?.storage.target,
            fillable(id, generation) != nil
        else { return false }
        // A write for earlier files says nothing of the present ones, which its bytes go to next.
        guard case .current = buffers.endWrite(ticket, .notDone) else {
            if let representation = representations[id] { write(representation) }
            return true
        }
        filesDeleted(id, generation)
        return true
    }

    /// What the disk names by now has readers that come; the representation's own go on.
    mutating func placeTaken(_ id: RepresentationID) {
        tellWatchers()
        diskAnswered(id, .making)
        if let representation = representations[id], representation.storage.isCreating {
            stopStoring(representation, "another version has the entry's place")
        }
        leaveTable()
        replan()
    }
}
