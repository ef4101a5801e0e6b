import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// A disk that does not answer: no reader waits for it longer than for one that is slow. Bytes come from the origin then, and go
/// to readers only, until the call that hangs has ended.
extension EntryStateMachine {
    /// When a call to the files of a representation is too late, in nanoseconds; `nil` where none is awaited.
    private func silentAt(_ representation: Representation, timeout: Int64) -> Int64? {
        if representation.storage.isSilent { return nil }
        let reads = transfers.filter { $0.representation == representation.id }.compactMap(\.readsOverlapSince)
        let since = (reads + [index.waitingSince(representation.id), representation.storage.creatingSince]).compactMap {
            $0
        }
        return since.min()?.adding(timeout)
    }

    /// When a write of a representation is too late, in nanoseconds.
    private func hungWriteAt(_ representation: Representation, timeout: Int64) -> Int64? {
        guard representation.storage.target != nil else { return nil }
        return buffers.writingSince(representation.id)?.adding(timeout)
    }

    func addDiskDeadlines(_ earliest: inout EarliestDeadline) {
        guard let timeout = awaitedDiskTimeout else { return }
        if let since = lifecycle.openingSince { earliest.add(since.adding(timeout)) }
        for representation in representations {
            if let due = silentAt(representation, timeout: timeout) { earliest.add(due) }
            if let due = hungWriteAt(representation, timeout: timeout) { earliest.add(due) }
        }
    }

    /// How long calls may take that are under way, in nanoseconds; `nil` where there are none.
    private var awaitedDiskTimeout: Int64? {
        let isAwaited =
            lifecycle.isOpening || !buffers.isEmpty || !transfers.isEmpty || !index.isEmpty
            || representations.contains { $0.storage.isCreating }
        return isAwaited ? environment.diskTimeout : nil
    }

    /// Calls that take too long.
    mutating func failHungCalls() {
        guard let timeout = awaitedDiskTimeout else { return }
        if let since = lifecycle.openingSince, since.adding(timeout) <= now {
            leave(.noteSilence)
            opened(nil, error: StoreError(.unavailable, "opening the entry: \(silence(timeout))"))
        }
        for representation in representations {
            if let due = silentAt(representation, timeout: timeout), due <= now { diskSilent(representation.id) }
            if let due = hungWriteAt(representation, timeout: timeout), due <= now {
                leave(.noteSilence)
                stopStoring(representation, silence(timeout))
            }
        }
    }

    private func silence(_ timeout: Int64) -> String {
        "the disk has not answered within \(timeout / TransferTuning.second) s; playing on without storing"
    }

    /// The representation that has these files.
    func owner(of generation: Generation) -> RepresentationID? {
        representations.first { $0.storage.files === generation }?.id
    }

    /// A call to the files of a representation takes too long: readers go on without them.
    mutating func diskSilent(_ id: RepresentationID) {
        guard let representation = representations[id], !representation.storage.isSilent else { return }
        leave(.noteSilence)
        if representation.storage.isFirstFailure {
            tell(.degraded(key: key.text, reason: silence(environment.diskTimeout)))
        }
        let (now, tuning) = (now, tuning)
        changeStorage(of: id) {
            $0.silence(now: now, firstPause: tuning.firstStoreRetry, longestPause: tuning.longestStoreRetry)
        }
        for transfer in transfers where transfer.representation == id && transfer.overlapRead(nil) { ask(transfer) }
        bindThoseWhoAwaitIndex()
        wakeWaiting()
        replan()
    }

    /// A call to the files of a representation has ended, however: they are used again where they were not.
    mutating func diskAnswered(_ id: RepresentationID) {
        guard representations[id]?.storage.isSilent == true else { return }
        changeStorage(of: id) { $0.answered() }
        wakeWaiting()
        replan()
    }
}
