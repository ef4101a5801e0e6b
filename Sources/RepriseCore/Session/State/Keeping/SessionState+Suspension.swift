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
        for id in transfers.ids { finish(id) }
    }

    /// Whether bytes are in memory that the disk will have.
    var hasUnwritten: Bool { buffers.awaitsDisk || representations.contains { $0.storage.isCreating } }

    /// The store was not there for that work.
    mutating func hold(_ effect: Effect) {
        if isSuspended || !environment.access.isOpen {
            held.append(effect)
        } else if environment.store != nil {
            // It came back between the attempt and this.
            effects.append(effect)
        }
    }

    var openGenerations: [(number: Int, info: EntryInfo, generation: Generation, isCommitted: Bool)] {
        representations.compactMap { representation in
            guard let generation = representation.generation else { return nil }
            return (representation.id, representation.info, generation, representation.isCommitted)
        }
    }

    /// The files of a representation are not the entry's any more: what is open is read on.
    mutating func stopFilling(_ number: Int, _ reason: String) { leaveDisk(number, isReadable: true, reason) }

    /// The files of a representation cannot be read now.
    mutating func stopReading(_ number: Int, _ reason: String) { leaveDisk(number, isReadable: false, reason) }

    private mutating func leaveDisk(_ number: Int, isReadable: Bool, _ reason: String) {
        changeStorage(of: number) { $0.leave(isReadable: isReadable) }
        effects.append(.event(.degraded(key: key.text, reason: reason)))
    }

    mutating func resume() {
        guard isSuspended else { return }
        isSuspended = false
        for number in representations.ids {
            // What a writer knows of its block is from before.
            if let storage = representations[number]?.storage, storage.target != nil {
                buffers.setDestination(of: number) { SessionState.destination(of: storage) }
            }
            write(number)
        }
        reading = ByteRangeSet()
        for effect in held {
            switch effect {
            // Asked for again where it is still wanted.
            case .load, .verify, .withdraw: continue
            case .readOverlap(let transfer, _, _): transfers[transfer]?.continuation.overlapRead(nil)
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
        for number in representations.ids {
            leaveDisk(number, isReadable: false, "another process has the store")
        }
        if lifecycle.isOpening { opened(nil, error: nil) }
        goOn()
    }

    /// Time stood still for those who wait.
    private mutating func goOn() {
        let now = now
        trouble = nil
        lifecycle.becameIdle(now)
        for id in readers.ids {
            readers[id]?.waitsSince = now
            readers[id]?.lastStep = now
        }
        bindThoseWhoAwaitSlots()
        wakeWaiting()
        plan()
    }
}
