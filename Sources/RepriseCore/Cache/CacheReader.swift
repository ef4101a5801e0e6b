import ReprisePlatform
package import RepriseRanges
import RepriseStorage

/// A position in a resource and an end. Bytes come from disk, from a transfer under way, or from the origin; the
/// reader cannot tell, except by the time it takes.
///
/// A reader belongs to one task at a time. Drop it to leave: a transfer that no other reader needs takes up to 128 KiB
/// more and stops within a second; where the origin serves no ranges it pauses, and stops after 30 seconds. Where the
/// origin cannot be reached, waiting ends with an error after 20 seconds without progress (2 seconds before the first byte).
public struct CacheReader: ~Copyable, Sendable {
    private let handle: ReaderHandle

    init(handle: ReaderHandle) { self.handle = handle }

    deinit { handle.leave() }

    /// The next bytes, at most `limit`; `nil` at the end. Reads from disk on a thread of its own, never on the caller's.
    /// - Throws: `CacheError`; `CancellationError` where the task was cancelled.
    public mutating func next(limit: Int = 262_144) async throws -> Chunk? {
        while true {
            try Task.checkCancellation()
            let waker = Waker()
            switch handle.step(limit: limit, wake: { waker.wake() }) {
            case .memory(let bytes, let offset): return Chunk(offset: offset, bytes: bytes)
            case .lease(let lease):
                if let chunk = await read(lease) { return chunk }
            case .pending: try await waker.wait()
            case .end: return nil
            case .failed(let error): throw error
            }
        }
    }

    private func read(_ lease: ReaderLease) async -> Chunk? {
        let bytes = await withCallback { done in handle.read(lease, then: done) }
        return bytes.map { Chunk(offset: lease.range.lowerBound, bytes: $0[...]) }
    }

    /// Moves to `offset` bytes from the start; the next chunk begins there.
    public mutating func seek(to offset: Int64) { handle.seek(to: offset) }

    /// Moves to another range. What was told of the resource stays true: a reader never goes over to another version.
    package mutating func move(to range: ByteRange) {
        handle.setRange(position: range.lowerBound, end: range.upperBound)
    }

    /// Length, type and validators of what is being read.
    public func info() async throws(CacheError) -> ContentInfo {
        while true {
            let waker = Waker()
            switch handle.info(wake: { waker.wake() }) {
            case .success(let info?): return info
            case .success(nil):
                do { try await waker.wait() } catch { throw CacheError.taskCancelled }
            case .failure(let error): throw error
            }
        }
    }
}

/// A piece of a resource.
public struct Chunk: Sendable, Hashable {
    /// Where the piece begins in the resource, in bytes.
    public let offset: Int64
    /// The bytes, never empty.
    public let bytes: ArraySlice<UInt8>
}

/// A range of a resource as an asynchronous sequence of chunks, pulled one by one.
public struct ByteChunks: AsyncSequence, Sendable {
    let resource: MediaResource
    let range: ByteRange

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(handle: resource.makeHandle(in: range)) }

    /// The reading of a range.
    public final class Iterator: AsyncIteratorProtocol {
        private var reader: CacheReader

        init(handle: ReaderHandle) { reader = CacheReader(handle: handle) }

        /// The next chunk, or `nil` at the end.
        public func next() async throws -> Chunk? { try await reader.next() }
    }
}
