#if Proxy
    import ReprisePlatform

    /// The requests that are being forwarded, of which there is a limit. Safe to use from any thread.
    final class ForwardedRequests: Sendable {
        /// One of the places: given back once, with the last reference.
        final class Place: Sendable {
            private let requests: ForwardedRequests
            private let number: Int

            fileprivate init(_ requests: ForwardedRequests, _ number: Int) {
                self.requests = requests
                self.number = number
            }

            deinit { requests.end(number) }
        }

        private struct State {
            var clients: [Int: ProxyServer.Client] = [:]
            var last = 0
        }

        private let limit: Int
        private let state = Lock(State())

        init(limit: Int) { self.limit = limit }

        var count: Int { state.withLock { $0.clients.count } }

        /// Takes a place for a client; `nil` where there is none.
        /// - Returns: Also whose place it was, where all were taken, and since when that one has taken nothing of its answer.
        func begin(
            for client: ProxyServer.Client, now: Int64
        ) -> (place: Place, ousted: ProxyServer.Displaced?)? {
            let begun = state.withLock { state -> (Int, ProxyServer.Displaced?)? in
                var ousted: ProxyServer.Displaced?
                if state.clients.count >= limit {
                    ousted = state.clients.removeLeastNeeded(now: now)
                    if ousted == nil { return nil }
                }
                state.last += 1
                state.clients[state.last] = client
                return (state.last, ousted)
            }
            return begun.map { (Place(self, $0), $1) }
        }

        private func end(_ number: Int) {
            let gone = state.withLock { $0.clients.removeValue(forKey: number) }
            withExtendedLifetime(gone) {}
        }
    }
#endif
