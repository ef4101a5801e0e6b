#if Server
    import Logging
    import RepriseCore

    /// Tells a log what happens in a cache: static messages, the rest as metadata; no query of a URL, which may be a
    /// signature.
    struct EventLog: Sendable {
        private let subscription: EventSubscription

        init(_ cache: MediaCache, _ log: Logger) {
            subscription = cache.onEvent { event in EventLog.tell(event, log) }
        }

        private static func tell(_ event: CacheEvent, _ log: Logger) {
            switch event {
            case .hit(let key): log.debug("hit", metadata: resource(key))
            case .miss(let key): log.debug("miss", metadata: resource(key))
            case .originRequest(let key, let range):
                log.debug("request to the origin", metadata: resource(key, ["range": "\(range)"]))
            case .stored(let key, let bytes): log.trace("stored", metadata: resource(key, ["bytes": "\(bytes)"]))
            case .degraded(let key, let reason):
                log.warning("nothing is stored of it now", metadata: resource(key, ["reason": "\(reason)"]))
            case .purged(let key): log.notice("its files were deleted by others", metadata: resource(key))
            case .generationChanged(let key): log.notice("the origin has another version", metadata: resource(key))
            case .damaged(let key, let blocks):
                log.warning("damaged blocks, fetched again", metadata: resource(key, ["blocks": "\(blocks)"]))
            case .demotedEntityTags(let host):
                log.notice("the origin's entity tags disagree", metadata: ["host": "\(host)"])
            case .mismatch(let key, let reason):
                log.warning("an answer was not what was asked for", metadata: resource(key, ["reason": "\(reason)"]))
            case .originError(let key, let reason):
                log.warning("the origin cannot be used", metadata: resource(key, ["reason": "\(reason)"]))
            case .originFailed(let origin, let reason):
                log.warning("one of the origins failed", metadata: ["origin": "\(origin)", "reason": "\(reason)"])
            }
        }

        private static func resource(_ key: String, _ more: Logger.Metadata = [:]) -> Logger.Metadata {
            more.merging(["resource": "\(key.prefix { $0 != "?" })"]) { first, _ in first }
        }
    }
#endif
