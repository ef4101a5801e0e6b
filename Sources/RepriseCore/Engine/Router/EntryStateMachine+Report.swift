import RepriseRanges
import RepriseStorage

/// What an entry tells of itself.
extension EntryStateMachine {
    /// Since when it is idle, in nanoseconds; `nil` where it is not.
    var idleSince: Int64? { isIdle ? lifecycle.idleSince : nil }

    var isGone: Bool { lifecycle.isGone }

    private var current: Representation? { representations[representations.current] }

    /// The bytes stored, as far as slots have been read.
    var storedRanges: ByteRangeSet { current?.generation?.claimed ?? ByteRangeSet() }

    /// How many those are.
    var storedBytes: Int64 { current?.generation?.claimedBytes ?? 0 }

    /// Length in bytes, `nil` while it is not known.
    var length: Int64? { current?.info.length }

    /// When a reader came last, in seconds since 1970; what its files say may be older.
    var lastUse: Int64 { use.last }

    var statistics: EntryStatistics { use.statistics }

    /// Readers now, and transfers and confirmations.
    var activity: (readers: Int, transfers: Int) {
        (readers.count, transfers.count + (revalidation.isIdle ? 0 : 1))
    }

    /// Requests under way, each with a connection slot.
    var requestCount: Int {
        transfers.filter { $0.request != nil }.count + (revalidation.inFlight == nil ? 0 : 1)
    }

    var isWriting: Bool { buffers.isWriting }
    var bytesInMemory: Int64 { buffers.bytesInMemory }
    /// Whether the files of a representation are being made.
    var isCreatingFiles: Bool { representations.contains { $0.storage.isCreating } }
    /// Whether readers that come are offered all of the resource from the store.
    var offersAll: Bool { representations.offered?.isComplete ?? false }

    /// Where what a reader reads is stored; `nil` where the cache was closed, or the entry is gone, and the reader with it.
    func status(of id: ReaderID) -> StorageStatus? {
        guard let reader = readers[id], !lifecycle.hasEndedReaders else { return nil }
        guard let representation = representations[reader.representation] else {
            return StorageStatus(
                place: reader.hasEnded ? .ended : .undecided, length: nil, isWriting: !reader.hasEnded)
        }
        let storage = representation.storage
        let place: StorageStatus.Place =
            if storage.isUndecided, representation.needsSniffing {
                .unsniffed
            } else if !storage.isSettled {
                .undecided
            } else if let generation = storage.generation, storage.target != nil || representation.isComplete {
                .stored(generation, representation.info)
            } else {
                .notStored
            }
        return StorageStatus(
            place: place, length: representation.info.length, isWriting: hasUnwritten(representation),
            isRemoved: lifecycle.isRemoved)
    }

    /// Who reads, and what is being fetched.
    func report(_ lastError: LastErrorReport?) -> ResourceReport {
        ResourceReport(
            key: key.text, length: length, stored: storedBytes,
            readers: readers.map { reader in
                ResourceReport.Reader(
                    position: reader.position, end: reader.end == .max ? nil : reader.end,
                    isWaiting: reader.isWaiting, isFetch: reader.priority == .prefetch)
            },
            transfers: transfers.map { transfer in
                ResourceReport.Transfer(
                    start: transfer.start, position: head(of: transfer),
                    window: transfer.buffer.flatMap { buffers[$0]?.bytesInMemory } ?? 0,
                    readers: transfer.readers.count, isPaused: transfer.pausedSince != nil)
            }, servedBytes: use.statistics.served, originBytes: use.statistics.fromOrigin, lastError: lastError)
    }
}
