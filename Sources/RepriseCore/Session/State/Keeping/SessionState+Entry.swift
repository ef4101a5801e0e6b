import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// What others do to the entry while it is read: pin it, remove it.
extension SessionState {
    /// The entry was removed by its owner: who reads goes on with what is open, who comes gets a new session.
    mutating func retire() {
        let departure = lifecycle.removed()
        for number in representations.ids {
            guard let storage = representations[number]?.storage else { continue }
            if storage.isUndecided { changeStorage(of: number) { $0.decline(.left) } }
        }
        if let departure { effects.append(.depart(departure)) }
        // Without readers now it has none later: new ones get another entry.
        close()
    }

    /// What is stored was made unusable by a request that changed something (RFC 9111 §4.4): it is confirmed before it
    /// is used again. Who reads goes on.
    mutating func invalidate() {
        lifecycle.invalidated()
        for number in representations.ids where representations[number]?.isPrivate == false {
            representations[number]?.info.checked = Freshness.invalidated
            if representations[number]?.isCommitted == true { commitInfo(of: number) }
        }
    }

    mutating func notePinned(_ isPinned: Bool) {
        pinnedLast = isPinned
        for number in representations.ids where representations[number]?.isCommitted == true {
            representations[number]?.info.isPinned = isPinned
        }
    }

    /// Has `tell` called once, at the next change in what is stored or in whether it can be.
    mutating func whenStoredChanges(_ tell: @escaping @Sendable () -> Void) { watchers.append(tell) }

    mutating func storedChanged() {
        effects += watchers.map { .wake($0) }
        watchers = []
    }

    /// Where what a reader reads is kept.
    func standing(of id: Int) -> EntryStanding {
        guard let number = readers[id]?.representation, let representation = representations[number] else {
            return EntryStanding(keeping: .undecided, length: nil, isWriting: true)
        }
        let storage = representation.storage
        let keeping: EntryStanding.Keeping =
            if !storage.isSettled {
                .undecided
            } else if let generation = storage.generation, storage.target != nil || representation.isComplete {
                .kept(generation, representation.info)
            } else {
                .notKept
            }
        return EntryStanding(keeping: keeping, length: representation.info.length, isWriting: hasUnwritten)
    }
}

/// Where what a reader reads is kept, if it is.
struct EntryStanding: Sendable {
    enum Keeping: Sendable {
        /// The first bytes have to come, or files to be made.
        case undecided
        case kept(Generation, EntryInfo)
        case notKept
    }

    var keeping: Keeping
    /// Length of the representation in bytes, if it is known.
    var length: Int64?
    /// Whether more will be stored without anything being fetched.
    var isWriting: Bool

    /// How many bytes are stored in one run from `offset` on, as far as that is known.
    func stored(in range: ByteRange) -> Int64 {
        guard case .kept(let generation, _) = keeping else { return 0 }
        return min(generation.claimedEnd(from: range.lowerBound), range.upperBound) - range.lowerBound
    }
}
