import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Has a range of a resource fetched and kept: reads it through without handing the bytes on.
///
/// It is a reader like others, of low priority, so what others fetch meanwhile is not fetched twice, and what is stored
/// is proved on the way. It takes bytes as fast as the disk does: the window is its only buffer.
final class RangeFetch: Fetch {
    private struct State {
        var failure: CacheError?
        var isDone = false
    }

    let range: ByteRange
    private let handle: ReaderHandle
    private let queue: PrefetchQueue?
    private let quota: QuotaAccounting
    private let state = Lock(State())

    /// - Parameter queue: Who paces it; `nil` where it may take what comes.
    init(
        _ resource: MediaResource, _ range: ByteRange, priority: TransferPlanner.Priority = .prefetch,
        queue: PrefetchQueue? = nil
    ) {
        self.range = range
        self.queue = queue
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
                guard let missing = try await waitForDisk() else { return finish(nil) }
                handle.setRange(position: missing, end: range.upperBound)
            }
            if let status = handle.storage, status.stored(in: wanted(status)) >= wanted(status).count {
                throw CacheError(.store, "what is stored is changed by others while it is read; try again")
            }
            // An end that only a closed connection told is nothing to rely on.
            throw CacheError(.originInvalid, "the origin did not send all of it, or did not say where it ends")
        } catch {
            finish(error as? CacheError ?? CacheError(.closed, "the fetch was cancelled"))
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
        if case .notStored? = handle.storage?.place {
            throw CacheError(.store, "the bytes cannot be stored, so they are not fetched ahead")
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

    /// Waits until all is stored and verified; answers the first byte that is not and will not be.
    private func waitForDisk() async throws -> Int64? {
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
            if verified >= wanted.count { return nil }
            if !status.isWriting { return wanted.lowerBound.adding(verified) }
            try await waker.wait()
        }
    }

    private func wanted(_ status: StorageStatus) -> ByteRange {
        let end = min(range.upperBound, status.length ?? .max)
        return ByteRange(min(range.lowerBound, end), end)
    }

    private func finish(_ failure: CacheError?) {
        state.withLock { state in
            state.failure = failure
            state.isDone = failure == nil
        }
        handle.announce()
    }

    /// Length of the whole; `nil` while nobody knows it.
    var length: Int64? { handle.storage?.length }

    /// Ends it; what came stays.
    func leave() { handle.leave() }

    // MARK: Looking

    var progress: FetchProgress {
        let status = handle.storage
        let (failure, isDone) = state.withLock { ($0.failure, $0.isDone) }
        guard let status else { return FetchProgress(stored: 0, expected: nil, failure: failure) }
        let wanted = wanted(status)
        return FetchProgress(
            stored: isDone ? wanted.count : status.stored(in: wanted),
            expected: wanted.upperBound == .max ? nil : wanted.count, failure: failure)
    }

    /// Where it is kept, once so many bytes of its range, or all there are, are stored and verified in one run.
    /// - Throws: `CacheError`; `CancellationError`.
    func kept(atLeast count: Int64) async throws -> (generation: Generation, info: EntryInfo, length: Int64?) {
        while true {
            let waker = Waker()
            handle.whenStoredChanges { waker.wake() }
            if let failure = state.withLock({ $0.failure }) { throw failure }
            guard let status = handle.storage else { throw CacheError(.closed, "the cache was closed") }
            switch status.place {
            case .stored(let generation, let info):
                let wanted = wanted(status)
                // All of it is what `run` has seen to.
                let isEnough = count < wanted.count && status.verified(in: wanted) >= count
                if isEnough || state.withLock({ $0.isDone }) { return (generation, info, status.length) }
            // Also of nothing there is no file then: an empty resource is fetched before its files are made.
            case .notStored: throw CacheError(.store, "the bytes cannot be stored, so there is no file of them")
            case .undecided, .unsniffed: break
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
