#if canImport(AVFoundation) && !os(watchOS)
    /// Which of an asset's open loading requests are served, and how fast. Decisions only: no clock, no I/O.
    ///
    /// - A request is answered at once with `burst` bytes, then at `rate`: a to-end request of gigabytes that is on disk
    ///   is not pushed into the player before its cancel can arrive. Bytes that come from the network are slower than that.
    /// - Of several open to-end requests the newest is served. An older one at another place goes on for `grace` bytes
    ///   and then waits for its cancel, which some systems deliver late or not at all; it goes on when it is the newest
    ///   again. Identical ones are served alike.
    struct LoadingPlan {
        struct Request: Equatable {
            /// First byte asked for.
            var offset: Int64
            /// End of the range in bytes; `nil` where it is the end of the resource.
            var end: Int64?
        }

        /// What may be given to a request now.
        enum Allowance: Equatable {
            case bytes(Int)
            /// Nothing for so many nanoseconds.
            case after(Int64)
            /// Nothing until another request has gone.
            case held
        }

        /// Largest piece given to the player at once: it is kept until consumed.
        static let chunk = 256 * 1024
        /// Bytes given without regard to the rate. Two seconds of a film of 8 Mbit/s.
        static let burst: Int64 = 2 << 20
        /// Bytes a second after the burst: twice what the fastest disc formats need, and a cancel that takes 20 ms to arrive
        /// costs half a megabyte. A guess that wants a device.
        static let rate: Int64 = 24 << 20
        /// What a to-end request is still given after a newer one has come.
        static let grace: Int64 = 1 << 20

        private struct State {
            var request: Request
            var given: Int64 = 0
            /// Bytes given behind the burst since a time in nanoseconds at which all that was given before was due: what was not
            /// used of the rate is no credit.
            var paced: (since: Int64, bytes: Int64) = (0, 0)
            /// How much had been given when a newer to-end request came; `nil` while it is the newest.
            var givenWhenReplaced: Int64?
        }

        private var states: [Int: State] = [:]
        private var last = 0

        /// Adds a request, the newest; answers with its number.
        mutating func add(_ request: Request) -> Int {
            last += 1
            states[last] = State(request: request)
            review()
            return last
        }

        /// Takes a request out; answers with those that may go on now.
        mutating func remove(_ id: Int) -> [Int] {
            let waiting = states.keys.filter { isHeld($0) }
            states[id] = nil
            review()
            return waiting.filter { states[$0] != nil && !isHeld($0) }.sorted()
        }

        private mutating func review() {
            let toEnd = states.filter { $0.value.request.end == nil }
            guard let newest = toEnd.keys.max() else { return }
            for (id, state) in toEnd {
                if id == newest || state.request == toEnd[newest]?.request {
                    states[id]?.givenWhenReplaced = nil
                } else if state.givenWhenReplaced == nil {
                    states[id]?.givenWhenReplaced = state.given
                }
            }
        }

        func isHeld(_ id: Int) -> Bool {
            guard let state = states[id], let before = state.givenWhenReplaced else { return false }
            return state.given - before >= LoadingPlan.grace
        }

        /// What may be given to request `id` at `now`, in nanoseconds of a steady clock.
        func allowance(_ id: Int, now: Int64) -> Allowance {
            guard let state = states[id], !isHeld(id) else { return .held }
            let due = LoadingPlan.due(state.paced)
            return due <= now ? .bytes(LoadingPlan.chunk) : .after(due - now)
        }

        /// When what was given is due.
        private static func due(_ paced: (since: Int64, bytes: Int64)) -> Int64 {
            let second: Int64 = 1_000_000_000
            return paced.since + (paced.bytes / rate) * second + (paced.bytes % rate) * second / rate
        }

        /// Notes that `count` bytes were given to request `id`.
        mutating func gave(_ id: Int, _ count: Int, now: Int64) {
            guard var state = states[id] else { return }
            state.given += Int64(count)
            let excess = min(Int64(count), state.given - LoadingPlan.burst)
            if excess > 0 {
                if LoadingPlan.due(state.paced) <= now { state.paced = (now, 0) }
                state.paced.bytes += excess
            }
            states[id] = state
        }
    }
#endif
