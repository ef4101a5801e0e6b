import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Has what a player needs to begin fetched and kept: asks `ContainerHead` what to look at, and fetches it piece by
/// piece.
final class HeadFetch: Fetch {
    private struct State {
        /// The piece that is being fetched.
        var current: RangeFetch?
        /// Ended pieces; what they brought is stored.
        var done = ByteRangeSet()
        /// All of it, once that is known.
        var plan: ByteRangeSet?
        var failure: CacheError?
    }

    private let resource: MediaResource
    private let head: ContainerHead
    private let queue: PrefetchQueue
    private let state = Lock(State())

    init(_ resource: MediaResource, _ head: ContainerHead, _ queue: PrefetchQueue) {
        self.resource = resource
        self.head = head
        self.queue = queue
    }

    func run() async throws {
        do {
            for range in try await plan() { try await fetch(range) }
        } catch {
            state.withLock { state in
                state.failure = error as? CacheError ?? CacheError(.closed, "the fetch was cancelled")
            }
            throw error
        }
    }

    private func plan() async throws -> [ByteRange] {
        var known = KnownBytes()
        while true {
            switch head.step(known) {
            case .look(let range):
                known.length = try await fetch(range) ?? known.length
                let bytes = try await resource.storedBytes(in: known.clipped(range))
                known.add(bytes, at: range.lowerBound)
                if Int64(bytes.count) < range.count, known.length == nil {
                    // It ended there, and the origin does not say so.
                    known.length = range.lowerBound.adding(Int64(bytes.count))
                }
            case .keep(let ranges):
                state.withLock { $0.plan = ByteRangeSet(ranges + $0.done.ranges) }
                return ranges
            }
        }
    }

    /// Fetches one piece; answers the length of the whole, if known.
    @discardableResult
    private func fetch(_ range: ByteRange) async throws -> Int64? {
        let fetch = RangeFetch(resource, range, queue: queue)
        state.withLock { $0.current = fetch }
        defer { fetch.leave() }
        try await fetch.run()
        let length = fetch.length
        state.withLock { state in
            state.current = nil
            let end = min(range.upperBound, length ?? .max)
            if range.lowerBound < end { state.done.insert(ByteRange(range.lowerBound, end)) }
        }
        return length
    }

    var progress: FetchProgress {
        let (done, plan, current, failure) = state.withLock { ($0.done, $0.plan, $0.current, $0.failure) }
        let stored = done.count.adding(current.map { $0.progress.stored - done.intersection($0.range).count } ?? 0)
        return FetchProgress(
            stored: min(max(stored, done.count), plan?.count ?? .max), expected: plan?.count, failure: failure)
    }

    func leave() { state.withLock { $0.current }?.leave() }
}

extension MediaResource {
    /// Bytes that are stored or on their way there; counts for nobody as served.
    fileprivate func storedBytes(in range: ByteRange) async throws -> [UInt8] {
        let handle = makeHandle(in: range, priority: .prefetch)
        defer { handle.leave() }
        var bytes: [UInt8] = []
        while true {
            try Task.checkCancellation()
            let waker = Waker()
            switch handle.step(limit: 1 << 20, wake: { waker.wake() }) {
            case .memory(let piece, _): bytes += piece
            case .lease(let lease):
                let read = await withCallback { done in handle.read(lease) { done($0) } }
                // Disturbed on disk: it has been put back, and is asked for again.
                if let read { bytes += read }
            case .pending: try await waker.wait()
            case .end: return bytes
            case .failed(let error): throw error
            }
        }
    }
}
