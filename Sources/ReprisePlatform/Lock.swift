#if REPRISE_PTHREAD_LOCKS
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Darwin)
        import Darwin
    #endif

    /// A lock around a value, held for the time of a call, on the C library's mutex: for the thread sanitizer, which on Linux
    /// does not see the one in `Synchronization`. The sanitizer check defines `REPRISE_PTHREAD_LOCKS`; nothing else does.
    // @unchecked: the value is only reached with the mutex held.
    package struct Lock<Value>: ~Copyable, @unchecked Sendable {
        @safe private final class Storage {
            // On the heap, because a C mutex must not move.
            let mutex: UnsafeMutablePointer<pthread_mutex_t>
            var value: Value

            init(_ value: consuming Value) {
                self.value = value
                unsafe mutex = .allocate(capacity: 1)
                unsafe pthread_mutex_init(mutex, nil)
            }

            deinit {
                unsafe pthread_mutex_destroy(mutex)
                unsafe mutex.deallocate()
            }
        }

        private let storage: Storage

        package init(_ value: consuming sending Value) { storage = Storage(value) }

        package borrowing func withLock<Result, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            unsafe pthread_mutex_lock(storage.mutex)
            defer { unsafe pthread_mutex_unlock(storage.mutex) }
            return try body(&storage.value)
        }
    }
#else
    public import Synchronization

    // Public although nobody outside needs it: the compiler inlines nothing of `package` into other modules, and a call
    // that is not specialised makes metadata at run time, which costs more than the lock.
    /// A lock around a value, held for the time of a call; `Synchronization.Mutex` under a name of our own, so that one
    /// check can put another lock in its place.
    public struct Lock<Value>: ~Copyable, Sendable {
        @usableFromInline let mutex: Mutex<Value>

        /// Makes a lock around `value`.
        @inlinable
        public init(_ value: consuming sending Value) { mutex = Mutex(value) }

        /// Calls `body` with the value while the lock is held. Not re-entrant.
        @inlinable
        @inline(__always)
        public borrowing func withLock<Result, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try mutex.withLock(body)
        }
    }
#endif
