#if Server
    import Metrics
    import RepriseCore
    import RepriseProxy
    import ReprisePlatform

    /// A cache's sums and events as metrics. Bytes are named `_bytes`, sums `_total`.
    final class CacheMeters: Sendable {
        private let registry = PrometheusRegistry()
        private let cache: MediaCache
        private let proxy: MediaProxy
        /// What the counters have been told already.
        private let told = Lock((sums: CacheStatistics(), limits: [ClientLimit: Int]()))
        private let subscription: EventSubscription

        init(_ cache: MediaCache, _ proxy: MediaProxy) {
            self.cache = cache
            self.proxy = proxy
            let registry = registry
            subscription = cache.onEvent { event in
                if EventText.isRoutine(event) { return }
                if case .originFailed(let origin, _) = event {
                    Counter(
                        label: "reprise_origin_failures_total", dimensions: [("origin", origin)], factory: registry
                    ).increment()
                }
                guard let name = EventText(event).name else { return }
                Counter(label: "reprise_events_total", dimensions: [("event", name)], factory: registry).increment()
            }
        }

        /// Prometheus' text as of now.
        func text() -> String {
            told.withLock { both in
                let limits = proxy.limitsMet
                for limit in ClientLimit.allCases {
                    let amount = limits[limit, default: 0] - both.limits[limit, default: 0]
                    count("reprise_limits_met_total", Int64(amount), ("limit", limit.rawValue))
                }
                both.limits = limits
                let (now, told) = (cache.statistics, both.sums)
                count("reprise_served_bytes_total", now.served - told.served)
                count("reprise_origin_bytes_total", now.fromOrigin - told.fromOrigin)
                count("reprise_origin_requests_total", now.originRequests - told.originRequests)
                count("reprise_stored_bytes_total", now.stored - told.stored)
                count("reprise_readers_total", now.readers - told.readers)
                count("reprise_damaged_blocks_total", now.damagedBlocks - told.damagedBlocks)
                count("reprise_events_total", now.hits - told.hits, ("event", "hit"))
                count("reprise_events_total", now.partials - told.partials, ("event", "partial"))
                count("reprise_events_total", now.misses - told.misses, ("event", "miss"))
                both.sums = now
            }
            let activity = cache.activity
            gauge("reprise_connections", proxy.connectionCount)
            gauge("reprise_forwarded_requests", proxy.forwardedCount)
            gauge("reprise_readers", activity.readers)
            gauge("reprise_transfers", activity.transfers)
            gauge("reprise_store_bytes", Int(cache.allocatedBytes))
            return registry.text()
        }

        private func count(_ label: String, _ amount: Int64, _ dimensions: (String, String)...) {
            Counter(label: label, dimensions: dimensions, factory: registry).increment(by: amount)
        }

        private func gauge(_ label: String, _ value: Int) {
            Meter(label: label, dimensions: [], factory: registry).set(value)
        }
    }
#endif
