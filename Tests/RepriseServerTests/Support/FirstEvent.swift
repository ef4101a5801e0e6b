#if Server
    import RepriseCore
    import ReprisePlatform

    /// Passes on the first event of an exchange, no other.
    final class FirstEvent: Sendable {
        private let isTaken = Lock(false)
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
