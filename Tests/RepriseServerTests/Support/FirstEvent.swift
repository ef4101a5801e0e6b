#if Server
    import RepriseCore
    import Synchronization

    /// Passes on the first event of an exchange, no other.
    final class FirstEvent: Sendable {
        private let isTaken = Mutex(false)
        private let onEvent: @Sendable (OriginEvent) -> Void

        init(_ onEvent: @escaping @Sendable (OriginEvent) -> Void) { self.onEvent = onEvent }

        func take(_ event: OriginEvent) {
            let isFirst = isTaken.withLock { taken in
                defer { taken = true }
                return !taken
            }
            if isFirst { onEvent(event) }
        }
    }
#endif
