#if Server
    import Logging
    import RepriseCore
    import RepriseHTTP

    /// What a cache's event is called and what it says: the one place that knows all of them, for the log and the counters.
    struct EventText {
        /// Its name among the counted events; `nil` for what the sums count already.
        var name: String?
        var level: Logger.Level
        /// Always the same for a kind of event; what differs is metadata.
        var message: Logger.Message
        /// Whom it is about. No query of a URL, which may be a signature.
        private var subject: (name: String, value: String)
        private var detail: (name: String, value: String)?

        var metadata: Logger.Metadata {
            var all: Logger.Metadata = [
                subject.name: "\(String(subject.value.upTo("?")).escapingTerminalControls)"
            ]
            if let detail { all[detail.name] = "\(detail.value.escapingTerminalControls)" }
            return all
        }

        private init(
            _ name: String?, _ level: Logger.Level, _ message: Logger.Message, key: String,
            _ detail: (name: String, value: String)? = nil
        ) {
            self.name = name
            self.level = level
            self.message = message
            subject = ("resource", key)
            self.detail = detail
        }

        /// Whether it happens thousands of times a second: the sums count it, and only a log that tells of everything has it.
        static func isRoutine(_ event: CacheEvent) -> Bool {
            switch event {
            case .hit, .partial, .miss, .stored: true
            default: false
            }
        }

        init(_ event: CacheEvent) {
            switch event {
            case .hit(let key): self.init(nil, .debug, "hit", key: key)
            case .partial(let key): self.init(nil, .debug, "partial hit", key: key)
            case .miss(let key): self.init(nil, .debug, "miss", key: key)
            case .originRequest(let key, let range):
                self.init(nil, .debug, "request to the origin", key: key, ("range", range))
            case .stored(let key, let bytes): self.init(nil, .trace, "stored", key: key, ("bytes", "\(bytes)"))
            case .degraded(let key, let reason):
                self.init("degraded", .warning, "not storing", key: key, ("reason", reason))
            case .purged(let key): self.init("purged", .notice, "files were deleted by another program", key: key)
            case .evicted(let key, let bytes):
                self.init("evicted", .debug, "evicted", key: key, ("bytes", "\(bytes)"))
            case .generationChanged(let key, let difference):
                self.init(
                    "generation_changed", .notice, "the origin has another version", key: key,
                    ("difference", difference.reason))
            case .damaged(let key, let blocks):
                self.init("damaged", .warning, "damaged blocks, fetched again", key: key, ("blocks", "\(blocks)"))
            case .demotedEntityTags(let host):
                self.init("demoted_entity_tags", .notice, "the origin's entity tags disagree", key: host)
                subject.name = "host"
            case .mismatch(let key, let mismatch):
                self.init(
                    "mismatch", .warning, "origin's response does not fit the request", key: key,
                    ("reason", mismatch.reason))
            case .originError(let key, let error):
                self.init("origin_error", .warning, "the origin cannot be used", key: key, ("reason", error.message))
            case .originFailed(let origin, let reason):
                // Counted by origin.
                self.init(nil, .warning, "an origin failed", key: origin, ("reason", reason))
                subject.name = "origin"
            case .dropped(let count):
                // Only sequences drop, and the log is told everything.
                self.init(nil, .warning, "events were dropped", key: "", ("events", "\(count)"))
            }
        }
    }
#endif
