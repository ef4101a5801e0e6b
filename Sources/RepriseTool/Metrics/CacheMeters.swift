#if Server
    import Metrics
    import RepriseCore
    import Synchronization

    /// A cache's sums and events as metrics. Bytes are named `_bytes`, sums `_total`.
    final class CacheMeters: Sendable {
        private let registry = PrometheusRegistry()
        private let cache: MediaCache
        private let connections: @Sendable () -> Int
        /// What the counters have been told already.
        private let told = Mutex(CacheStatistics())
        private let subscription: EventSubscription

        init(_ cache: MediaCache, connections: @escaping @Sendable () -> Int) {
            self.cache = cache
            self.connections = connections
            // Looked up once: a hit is an event, and there are thousands a second.
            let registry = registry
            let counters = Mutex<[String: Counter]>([:])
            subscription = cache.onEvent { event in
                if case .originFailed(let origin, _) = event {
                    let dimensions = [("origin", origin)]
                    Counter(label: "reprise_origin_failures_total", dimensions: dimensions, factory: registry)
                        .increment()
                }
                guard let name = EventText(event).name else { return }
                let counter = counters.withLock { counters in
                    let made =
                        counters[name]
                        ?? Counter(label: "reprise_events_total", dimensions: [("event", name)], factory: registry)
                    counters[name] = made
                    return made
                }
                counter.increment()
            }
        }

        /// Prometheus' text as of now.
        func text() -> String {
            told.withLock { told in
                let now = cache.statistics
                count("reprise_served_bytes_total", now.served - told.served)
                count("reprise_origin_bytes_total", now.fromOrigin - told.fromOrigin)
                count("reprise_origin_requests_total", now.originRequests - told.originRequests)
                count("reprise_stored_bytes_total", now.stored - told.stored)
                count("reprise_readers_total", now.readers - told.readers)
                count("reprise_damaged_blocks_total", now.damagedBlocks - told.damagedBlocks)
                told = now
            }
            let activity = cache.activity
            gauge("reprise_connections", connections())
            gauge("reprise_readers", activity.readers)
            gauge("reprise_transfers", activity.transfers)
            gauge("reprise_store_bytes", Int(cache.allocatedBytes))
            return registry.text()
        }

        private func count(_ label: String, _ amount: Int64) {
            Counter(label: label, dimensions: [], factory: registry).increment(by: amount)
        }

        private func gauge(_ label: String, _ value: Int) {
            Meter(label: label, dimensions: [], factory: registry).set(value)
        }
    }
#endif
