#if Server
    import Logging
    import RepriseCore

    /// Tells a log what happens in a cache: static messages, the rest as metadata.
    struct EventLog: Sendable {
        private let subscription: EventSubscription

        init(_ cache: MediaCache, _ log: Logger) {
            let tellsAll = log.logLevel <= .debug
            subscription = cache.onEvent { event in
                if !tellsAll, EventText.isRoutine(event) { return }
                let text = EventText(event)
                log.log(level: text.level, text.message, metadata: text.metadata)
            }
        }
    }
#endif
