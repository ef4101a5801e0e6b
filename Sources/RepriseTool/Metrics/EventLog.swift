#if Server
    import Logging
    import RepriseCore

    /// Tells a log what happens in a cache: static messages, the rest as metadata.
    struct EventLog: Sendable {
        private let subscription: EventSubscription

        init(_ cache: MediaCache, _ log: Logger) {
            subscription = cache.onEvent { event in
                let text = EventText(event)
                log.log(level: text.level, text.message, metadata: text.metadata)
            }
        }
    }
#endif
