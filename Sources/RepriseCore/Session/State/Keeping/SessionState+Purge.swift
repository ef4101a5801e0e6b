import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// The system deleted files of the entry while it was open.
extension SessionState {
    /// What is said of a representation whose files others may not delete without our noticing; `nil` for one that is
    /// not filled any more, or with other files.
    func fillable(_ number: Int, _ generation: Generation) -> EntryInfo? {
        guard !isRetired, !isSuspended, let representation = representations[number], !representation.isSuperseded,
            case .open(let current) = representation.storing, current === generation
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
        representations[number]?.storing = .staging
        representations[number]?.lost = generation
        representations[number]?.isCommitted = false
        for id in transfers.keys where transfers[id]?.representation == number { transfers[id]?.writer = nil }
        reading = ByteRangeSet()
        let replaces = representations.values.contains { $0.id != number && $0.isCommitted }
        effects.append(.stage(representation: number, info, commit: !replaces))
        wakeWaiting()
        plan()
    }

    /// As above, where the description could not be written because the entry is gone.
    mutating func purged(_ number: Int) {
        if let generation = representations[number]?.generation { purged(number, generation) }
    }

    /// The files a transfer's bytes were to go to have no name. Answers whether the bytes stay in their window for new
    /// ones; those of an entry that was replaced or removed on purpose are still written for its readers.
    mutating func purged(transfer id: Int) -> Bool {
        guard let number = transfers[id]?.representation, let generation = representations[number]?.generation,
            fillable(number, generation) != nil
        else { return false }
        transfers[id]?.isWriting = false
        purged(number, generation)
        return true
    }
}
