import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Has a range of a resource fetched and kept: reads it through without handing the bytes on.
///
/// It is a reader like others, of low priority, so what others fetch meanwhile is not fetched twice, and what is stored
/// is verified on the way. It takes bytes as fast as the disk does: the window is its only buffer.
final class RangeFetch: Fetch {
    /// Where it is stored, and the length of the whole, `nil` where that is not known.
    struct Kept {
        let generation: Generation
        let info: EntryInfo
        let length: Int64?
    }

    private enum State {
        case running
        /// All of the version with this length is stored, in these files; of an empty one none may have been made by then.
        case done(length: Int64?, Kept?)
        case failed(CacheError)
    }

    let range: ByteRange
    private let handle: ReaderHandle
    private let queue: PrefetchQueue?
    private let quota: QuotaAccounting
    private let outlivesRemoval: Bool
    private let state = Lock(State.running)

    /// - Parameters:
    ///   - queue: Who paces it; `nil` where it may take what comes.
    ///   - outlivesRemoval: Whether it goes on where the entry is removed or replaced: its files were given away.
    init(
        _ resource: MediaResource, _ range: ByteRange, priority: TransferPlanner.Priority = .prefetch,
        queue: PrefetchQueue? = nil, outlivesRemoval: Bool = false
    ) {
        self.range = range
        self.queue = queue
        self.outlivesRemoval = outlivesRemoval
        quota = resource.cache.environment.quota
        handle = resource.makeHandle(in: range, priority: priority, isHandedOn: false)
    }

    /// Fetches what is missing, and returns when all is stored and verified.
    /// - Throws: `CacheError`; `CancellationError`.
    func run() async throws {
        do {
            // The system may have deleted files that were read through, and bytes that were read from memory may be damaged on
            // the disk; not for ever, though.
            for _ in 0..<4 {
                try await readThrough()
                switch try await waitForDisk() {
                case .all(let status): return finish(.done(length: status.length, kept(status)))
                case .missing(let offset): handle.setRange(position: offset, end: range.upperBound)
                }
            }
            if let status = handle.storage, status.stored(in: wanted(status)) >= wanted(status).count {
                throw CacheError(.store, "what is stored is changed by others while it is read; try again")
            }
            // An end that only a closed connection told is nothing to rely on.
            throw CacheError(.originInvalid, "the origin did not send all of it, or did not say where it ends")
        } catch {
            finish(.failed(error as? CacheError ?? CacheError(.closed, "the fetch was cancelled")))
            throw error
        }
    }

    private func readThrough() async throws {
        while true {
            try Task.checkCancellation()
            let waker = Waker()
            switch handle.step(limit: 1 << 20, wake: { waker.wake() }) {
            case .memory(let bytes, _):
                try requireStoring()
                try requireRoom()
                try await queue?.pay(bytes.count)
            case .lease(let lease):
                try requireStoring()
                guard handle.isFetching else { break }
                try requireRoom()
                try await queue?.pay(Int(lease.range.count))
            case .pending: try await waker.wait()
            case .end: return
            case .failed(let error): throw error
            }
        }
    }

    private func requireStoring() throws(CacheError) {
        guard let status = handle.storage else { return }
        if case .notStored = status.place {
            throw CacheError(.store, "the bytes cannot be stored, so they are not fetched ahead")
        }
        if status.isRemoved, !outlivesRemoval {
            throw CacheError(.store, "what is stored of it was removed or replaced while it was fetched")
        }
    }

    /// What is larger than the store may be would have everything else evicted, and itself; what is too far out is not stored.
    private func requireRoom() throws(CacheError) {
        guard let status = handle.storage, status.length != nil || range.upperBound < .max else { return }
        let (wanted, limit) = (wanted(status), quota.limits.bytes ?? .max)
        // Where the length is not known it may well end before.
        if (status.length == nil ? wanted.lowerBound : wanted.upperBound) > BlockLayout.longestStored {
            throw CacheError(.store, "what a resource has past 4 TiB is not stored, so it is not fetched ahead")
        }
        let count = wanted.count
        if count > limit { throw CacheError(tooLarge: count, for: limit) }
    }

    private enum DiskAnswer {
        /// All is stored and verified.
        case all(StorageStatus)
        /// The byte at this offset is not, and will not be.
        case missing(Int64)
    }

    /// Waits until all is stored and verified, or will not be.
    private func waitForDisk() async throws -> DiskAnswer {
        // What was asked for may be too little to decide by.
        var isBeginningRead = false
        while true {
            let waker = Waker()
            handle.whenStoredChanges { waker.wake() }
            try requireStoring()
            guard let status = handle.storage else { throw CacheError(.closed, "the cache was closed") }
            if case .unsniffed = status.place, !isBeginningRead {
                isBeginningRead = true
                handle.setRange(position: 0, end: EntryStateMachine.sniffedBytes)
                try await readThrough()
                continue
            }
            let wanted = wanted(status)
            let verified = status.verified(in: wanted)
            if verified >= wanted.count { return .all(status) }
            if !status.isWriting { return .missing(wanted.lowerBound.adding(verified)) }
            try await waker.wait()
        }
    }

    private func wanted(_ status: StorageStatus) -> ByteRange { wanted(of: status.length) }

    private func wanted(of length: Int64?) -> ByteRange {
        let end = min(range.upperBound, length ?? .max)
        return ByteRange(min(range.lowerBound, end), end)
    }

    private func kept(_ status: StorageStatus) -> Kept? {
        guard case .stored(let generation, let info) = status.place else { return nil }
        return Kept(generation: generation, info: info, length: status.length)
    }

    private func finish(_ end: State) {
        state.withLock { $0 = end }
        handle.announce()
    }

    /// Length of the whole; `nil` while nobody knows it.
    var length: Int64? { handle.storage?.length }

    /// Ends it; what came stays.
    func leave() { handle.leave() }

    // MARK: Looking

    var progress: FetchProgress {
        let state = state.withLock { $0 }
        if case .done(let length, _) = state {
            let count = wanted(of: length).count
            return FetchProgress(stored: count, expected: count)
        }
        let failure: CacheError? = if case .failed(let error) = state { error } else { nil }
        guard let status = handle.storage else { return FetchProgress(stored: 0, expected: nil, failure: failure) }
        let wanted = wanted(status)
        return FetchProgress(
            stored: status.stored(in: wanted), expected: wanted.upperBound == .max ? nil : wanted.count,
            failure: failure)
    }

    /// Where it is kept, once so many bytes of its range, or all there are, are stored and verified in one run.
    /// - Throws: `CacheError`; `CancellationError`.
    func kept(atLeast count: Int64) async throws -> Kept {
        while true {
            let waker = Waker()
            handle.whenStoredChanges { waker.wake() }
            let state = state.withLock { $0 }
            switch state {
            // The resource may have changed since.
            case .done(_, let kept?): return kept
            case .failed(let error): throw error
            case .running, .done: break
            }
            guard let status = handle.storage else { throw CacheError(.closed, "the cache was closed") }
            let wanted = wanted(status)
            switch (status.place, state) {
            // Also of nothing there is no file then: an empty resource is fetched before its files are made.
            case (.notStored, _):
                throw CacheError(.store, "the bytes cannot be stored, so there is no file of them")
            case (.stored(let generation, let info), .done(let length, _)) where length == status.length:
                // All of it is what `run` has seen to.
                let kept = Kept(generation: generation, info: info, length: length)
                finish(.done(length: length, kept))
                return kept
            case (.ended, .done), (.stored, .done):
                throw CacheError(
                    .changed, "the resource changed at the origin before there was a file of it; ask for it again")
            case (.stored, _) where count < wanted.count && status.verified(in: wanted) >= count:
                if let kept = kept(status) { return kept }
            case (.undecided, _), (.unsniffed, _), (.stored, _), (.ended, _): break
            }
            try await waker.wait()
        }
    }
}

/// Something that is being fetched and kept.
protocol Fetch: Sendable {
    /// Fetches what is missing, and returns when all is stored.
    /// - Throws: `CacheError`; `CancellationError`.
    func run() async throws
    /// How far it is.
    var progress: FetchProgress { get }
    /// Ends it; what came stays.
    func leave()
}

/// How far a fetch is.
public struct FetchProgress: Sendable, Hashable {
    /// Bytes of what was asked for that are stored, in one run from its start.
    public var stored: Int64
    /// Bytes that were asked for; `nil` while the resource's length is not known.
    public var expected: Int64?
    /// Why it ended before it was done.
    public var failure: CacheError?

    /// Whether all is stored.
    public var isComplete: Bool { expected.map { stored >= $0 } ?? false }

    /// From 0 to 1; `nil` while the resource's length is not known.
    public var fraction: Double? { expected.map { $0 == 0 ? 1 : Double(stored) / Double($0) } }
}
