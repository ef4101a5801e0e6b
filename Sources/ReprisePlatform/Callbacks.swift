/// Awaits a value that another thread gives to a callback.
/// - Parameter begin: Called at once with the callback, which must be called exactly once, on any thread.
package func withCallback<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation,
    _ begin: (@escaping @Sendable (Value) -> Void) -> Void
) async -> Value {
    #if REPRISE_PTHREAD_LOCKS
        // The thread sanitizer does not see on Linux that a continuation resumes after what was done before; it sees a lock.
        let box = Box<Value>()
        await withCheckedContinuation { done in
            begin {
                box.give($0)
                done.resume()
            }
        }
        return box.take()
    #else
        return await withCheckedContinuation { done in begin { done.resume(returning: $0) } }
    #endif
}

extension WorkQueues {
    /// Awaits what `work`, a blocking read, gives on the read pool.
    package func reading<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCallback { done in read { done(work()) } }
    }

    /// Awaits what `work` gives on the janitor, after all that was handed to it before.
    package func tidying<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCallback { done in upkeep { done(work()) } }
    }
}

#if REPRISE_PTHREAD_LOCKS
    private final class Box<Value: Sendable>: Sendable {
        private let value = Lock<Value?>(nil)

        func give(_ given: Value) { value.withLock { $0 = given } }

        func take() -> Value {
            guard let given = value.withLock({ $0 }) else { preconditionFailure("resumed without a value") }
            return given
        }
    }
#endif
