import Dispatch
import RepriseCore
import Synchronization

/// A reader for a thread that may block: what a C library's stream callbacks need. Each call waits until the reader,
/// which waits without a thread, has an answer.
///
/// Everything but `cancel` is called by one thread at a time and never by one of Swift's own pool, which must not be blocked.
/// `cancel` may come from any thread, at any time: the call that waits returns, and so does every later one.
final class BlockingReader: Sendable {
    /// Nobody wants an answer any more.
    struct Cancelled: Error {}

    private struct Waiting {
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    /// Taken out while it is used, as only its owner may change a reader.
    private let reader: Mutex<CacheReader?>
    private let waiting = Mutex(Waiting())

    init(_ reader: consuming CacheReader) { self.reader = Mutex(reader) }

    /// The next bytes, at most `limit`; `nil` at the end.
    func next(limit: Int) throws -> Chunk? {
        try wait { reader async throws in try await reader.next(limit: limit) }
    }

    /// The length in bytes, `nil` where the origin does not tell it.
    func length() throws -> Int64? {
        try wait { reader async throws in try await reader.info().length }
    }

    /// Goes on at `offset`. Waits for nothing: the bytes are looked for at the next read.
    func seek(to offset: Int64) throws {
        if waiting.withLock({ $0.isCancelled }) { throw Cancelled() }
        reader.withLock { $0?.seek(to: offset) }
    }

    /// Ends the wait that is under way, and those to come. Does not block.
    func cancel() {
        let task = waiting.withLock { waiting in
            waiting.isCancelled = true
            return waiting.task
        }
        task?.cancel()
    }

    private func wait<Value: Sendable>(
        _ ask: @escaping @Sendable (inout CacheReader) async throws -> Value
    ) throws -> Value {
        let answer = Answer<Value>()
        let isBegun = waiting.withLock { waiting in
            if waiting.isCancelled { return false }
            waiting.task = Task {
                var held = self.reader.withLock { $0.take() }
                guard var reader = held.take() else { return answer.give(.failure(Cancelled())) }
                let result: Result<Value, any Error>
                do { result = .success(try await ask(&reader)) } catch { result = .failure(error) }
                held = consume reader
                self.reader.withLock { $0 = held.take() }
                answer.give(result)
            }
            return true
        }
        guard isBegun else { throw Cancelled() }
        do { return try answer.take() } catch is CancellationError { throw Cancelled() }
    }
}

/// Takes one value from the task that finds it to the thread that waits for it.
private final class Answer<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func give(_ given: Result<Value, any Error>) {
        result.withLock { $0 = given }
        isThere.signal()
    }

    func take() throws -> Value {
        isThere.wait()
        guard let result = result.withLock({ $0 }) else { throw BlockingReader.Cancelled() }
        return try result.get()
    }
}
