#if REPRISE_PTHREAD_LOCKS
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Darwin)
        import Darwin
    #endif

    /// A lock around a value, on the C library's mutex: for the thread sanitizer, which on Linux does not see the one
    /// in `Synchronization`. The sanitizer check defines `REPRISE_PTHREAD_LOCKS`; nothing else does.
    package struct Lock<Value>: ~Copyable, @unchecked Sendable {
        // @unchecked: the value is only reached with the mutex held.
        private final class Storage {
            var mutex = pthread_mutex_t()
            var value: Value

            init(_ value: consuming Value) {
                self.value = value
                unsafe pthread_mutex_init(&mutex, nil)
            }

            deinit { unsafe pthread_mutex_destroy(&mutex) }
        }

        private let storage: Storage

        package init(_ value: consuming sending Value) { storage = Storage(value) }

        package borrowing func withLock<Result, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            unsafe pthread_mutex_lock(&storage.mutex)
            defer { unsafe pthread_mutex_unlock(&storage.mutex) }
            return try body(&storage.value)
        }
    }
#else
    package import Synchronization

    /// A lock around a value.
    package typealias Lock = Mutex
#endif
