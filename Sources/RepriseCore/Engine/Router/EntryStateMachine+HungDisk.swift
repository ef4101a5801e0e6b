import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// A disk that does not answer: no reader waits for it longer than for one that is slow. Bytes come from the origin then, and go
/// to readers only, until the call that hangs has ended.
extension EntryStateMachine {
    /// When a call to the files of a representation is too late, in nanoseconds; `nil` where none is awaited.
    private func silentAt(_ representation: Representation, timeout: Int64) -> Int64? {
        if representation.storage.isSilent { return nil }
        var since = [index.waitingSince(representation.id), representation.storage.creatingSince].compactMap { $0 }
            .min()
        for transfer in transfers where transfer.representation == representation.id {
            if let asked = transfer.readsOverlapSince { since = min(since ?? asked, asked) }
        }
        return since?.adding(timeout)
    }

    /// When a write of a representation is too late, in nanoseconds.
    private func hungWriteAt(_ representation: Representation, timeout: Int64) -> Int64? {
        guard representation.storage.target != nil else { return nil }
        return buffers.writingSince(representation.id)?.adding(timeout)
    }

    /// Whether a write of a representation is so late that no comparison waits for its bytes any more.
    func hasHungWrite(_ id: RepresentationID) -> Bool {
        buffers.mayStillStoreSince(id).map { $0.adding(environment.diskTimeout) <= now } ?? false
    }

    mutating func addDiskDeadlines(_ earliest: inout EarliestDeadline) {
        guard let timeout = awaitedDiskTimeout else { return }
        // A disk may be known to hang since it was looked at: what is late by that is due at once, with a timer of its own.
        let soon = now.adding(TransferTuning.millisecond)
        if let since = lifecycle.openingSince { earliest.add(max(since.adding(timeout), soon)) }
        for representation in representations {
            if let due = silentAt(representation, timeout: timeout) { earliest.add(max(due, soon)) }
            if let due = hungWriteAt(representation, timeout: timeout) { earliest.add(max(due, soon)) }
            if let since = buffers.mayStillStoreSince(representation.id) {
                for timeout in [timeout, tuning.diskTimeout] { earliest.add(since.adding(timeout)) }
            }
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
            tell(.degraded(key: key.text, reason: "opening the entry: \(silence(timeout))"))
            openedLate()
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

    /// Nothing shows that what the origin has goes on with what the disk does not give now: readers that wait and were told
    /// nothing yet have the origin's bytes to themselves, those that were told end, and for those that do not wait yet it is
    /// tried again later. What is stored stays what it is.
    mutating func passBy(_ ids: [ReaderID]) {
        for reader in ids.compactMap({ readers[$0] }) where reader.isAwaiting { passBy(reader) }
        backOff(after: EntryStateMachine.cannotCompare)
        replan()
    }

    mutating func passBy(_ reader: Reader) { leaveAlone(reader, EntryStateMachine.cannotCompare) }

    private static let cannotCompare = CacheError(
        .store, "the disk does not answer, and nothing shows that the origin still has what is stored; open it again")

    /// A call to the files of a representation has ended, however: they are used again where they were not.
    mutating func diskAnswered(_ id: RepresentationID, _ call: StorageState.LateCall = .other) {
        guard representations[id]?.storage.isSilent == true, changeStorage(of: id, { $0.answered(call) }) == true else {
            return
        }
        wakeWaiting()
        replan()
    }
}
