import RepriseRanges
import RepriseStorage

/// The store is given away and taken back.
///
///     suspend: requests end, windows drain, readers wait ... resume: slots and proofs anew, readers go on
///                                                        ... resumeWithoutStore: from the origin, nothing kept
extension SessionState {
    mutating func suspend() {
        guard !isSuspended else { return }
        isSuspended = true
        for id in transfers.keys.sorted() { finish(id) }
    }

    /// Whether bytes are in memory that the disk will have.
    var hasUnwritten: Bool {
        transfers.values.contains { transfer in
            guard let representation = transfer.representation.flatMap({ representations[$0] }) else { return false }
            switch representation.storing {
            case .open: return transfer.isWriting || transfer.window.undrained > 0
            case .staging: return true
            case .undecided, .off: return transfer.isWriting
            }
        }
    }

    /// The store was not there for that work.
    mutating func hold(_ effect: Effect) {
        if isSuspended || !environment.access.isOpen {
            held.append(effect)
        } else if environment.store != nil {
            // It came back between the attempt and this.
            effects.append(effect)
        }
    }

    /// As `hold`, for bytes: they are still in their window.
    mutating func notWritten(_ id: Int) {
        guard transfers[id] != nil else { return }
        transfers[id]?.isWriting = false
        if !isSuspended { write(id) }
    }

    var openGenerations: [(number: Int, info: EntryInfo, generation: Generation, isCommitted: Bool)] {
        representations.values.sorted { $0.id < $1.id }.compactMap { representation in
            guard let generation = representation.generation else { return nil }
            return (representation.id, representation.info, generation, representation.isCommitted)
        }
    }

    /// The files of a representation are not the entry's any more: what is open is read on.
    mutating func stopFilling(_ number: Int, _ reason: String) {
        guard let generation = representations[number]?.generation else { return }
        leaveDisk(number, .off(generation), reason)
    }

    /// The files of a representation cannot be read now.
    mutating func stopReading(_ number: Int, _ reason: String) { leaveDisk(number, .off(nil), reason) }

    private mutating func leaveDisk(_ number: Int, _ storing: Representation.Storing, _ reason: String) {
        representations[number]?.storing = storing
        for id in transfers.keys where transfers[id]?.representation == number { transfers[id]?.writer = nil }
        effects.append(.event(.degraded(key: key.text, reason: reason)))
        storedChanged()
    }

    mutating func resume() {
        guard isSuspended else { return }
        isSuspended = false
        for id in transfers.keys.sorted() {
            // What a writer knows of its block is from before.
            if case .open(let generation)? = transfers[id]?.representation.flatMap({ representations[$0]?.storing }) {
                transfers[id]?.writer = FillWriter(generation: generation)
            }
            write(id)
        }
        reading = ByteRangeSet()
        for effect in held {
            switch effect {
            // Asked for again where it is still wanted.
            case .load, .verify, .withdraw, .readOverlap: continue
            default: effects.append(effect)
            }
        }
        held = []
        goOn()
    }

    mutating func resumeWithoutStore() {
        isSuspended = false
        held = []
        reading = ByteRangeSet()
        for number in representations.keys.sorted() { leaveDisk(number, .off(nil), "another process has the store") }
        if phase == .opening { opened(nil, error: nil) }
        goOn()
    }

    /// Time stood still for those who wait.
    private mutating func goOn() {
        let now = now
        trouble = nil
        idleSince = now
        for id in readers.keys.sorted() {
            readers[id]?.waitsSince = now
            readers[id]?.lastStep = now
        }
        wakeWaiting()
        plan()
    }
}
