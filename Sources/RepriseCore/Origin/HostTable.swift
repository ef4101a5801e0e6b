import RepriseHTTP
import ReprisePlatform
import RepriseRanges

/// What has been learnt of each origin host, and which requests hold its connection slots.
///
/// Safe to use from any thread. Its lock is a leaf: nothing else is locked while it is held, and callbacks run outside it.
package final class HostTable: Sendable {
    package struct Measure: Sendable, Hashable {
        /// Nanoseconds from sending a request to the first byte of its answer; smoothed. `nil` before the first one.
        package var firstByte: Int64?
        /// Bytes a second of one connection; smoothed. `nil` before the first one.
        package var rate: Double?

        package init(firstByte: Int64? = nil, rate: Double? = nil) {
            self.firstByte = firstByte
            self.rate = rate
        }
    }

    /// The origin asked to be left alone for a time (`Retry-After`, RFC 9110 §10.2.3).
    package struct HoldOff: Sendable {
        /// What is not to be asked for.
        package enum Scope: Sendable, Hashable {
            /// Anything of the host.
            case host
            case resource(ResourceKey)
        }

        /// Nanoseconds of the queues' clock.
        package var until: Int64
        /// What readers are told that do not wait so long.
        package var error: CacheError
    }

    /// One connection slot of a host, held by one request. Released once, by `release` or with its last reference.
    package final class Slot: Sendable {
        package let origin: String
        fileprivate let number: Int
        private let table: HostTable

        fileprivate init(_ origin: String, _ number: Int, _ table: HostTable) {
            self.origin = origin
            self.number = number
            self.table = table
        }

        deinit { table.release(origin, number) }

        /// Gives the slot to the request that waits longest, or back to the host.
        package func release() { table.release(origin, number) }
    }

    private struct Waiter {
        var onContention: @Sendable () -> Void
        var onGrant: @Sendable (Slot) -> Void
    }

    private struct Host {
        var measure = Measure()
        var holdOffs: [HoldOff.Scope: HoldOff] = [:]
        /// Slots in use, in order of their numbers, and how their holders learn that another request waits.
        var holders: [(number: Int, onContention: @Sendable () -> Void)] = []
        var waiting: [Waiter] = []
        /// Nanoseconds of the queues' clock.
        var distrustsEntityTagsUntil: Int64 = .min
        var breaker = CircuitBreaker()

        /// Whether nothing would be done otherwise without it, but for its measures.
        func isForgettable(now: Int64) -> Bool {
            holders.isEmpty && waiting.isEmpty && distrustsEntityTagsUntil <= now && breaker == CircuitBreaker()
                && holdOffs.allSatisfy { $0.value.until <= now }
        }
    }

    private struct State {
        var hosts: [OctetString: Host] = [:]
        var lastNumber = 0
        /// The latest time that was told.
        var now: Int64 = .min
        /// So many hosts are looked through for those that can be forgotten.
        var most = HostTable.mostHosts

        /// Changes a host in place.
        mutating func change<Result>(_ origin: String, _ change: (inout Host) -> Result) -> Result {
            if hosts.count >= most, hosts[origin.octets] == nil {
                hosts = hosts.filter { !$0.value.isForgettable(now: now) }
                most = max(HostTable.mostHosts, hosts.count * 2)
            }
            return change(&hosts[origin.octets, default: Host()])
        }

        mutating func makeNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    /// As many hosts as any app or origin has; a client that names ever new ones gets no table of its own.
    static let mostHosts = 1024

    private let limit: Int
    private let state = Lock(State())

    /// Hosts that are known, for tests.
    var count: Int { state.withLock { $0.hosts.count } }

    /// - Parameter limit: Requests under way to one host at a time.
    package init(limit: Int) { self.limit = limit }

    // MARK: Connection slots

    /// Takes one of the host's connection slots; `nil` where all are in use. Then `onGrant` is called once, with a slot, in the
    /// order in which requests came.
    /// - Parameter onContention: Called when another request begins to wait while this slot is held, on any thread.
    package func acquire(
        _ origin: String, onContention: @escaping @Sendable () -> Void, onGrant: @escaping @Sendable (Slot) -> Void
    ) -> Slot? {
        let (number, told) = state.withLock { state -> (Int?, [@Sendable () -> Void]) in
            let number = state.makeNumber()
            return state.change(origin) { host in
                if host.holders.count < limit {
                    host.holders.append((number, onContention))
                    return (number, [])
                }
                host.waiting.append(Waiter(onContention: onContention, onGrant: onGrant))
                return (nil, host.waiting.count == 1 ? host.holders.map(\.onContention) : [])
            }
        }
        for tell in told { tell() }
        return number.map { Slot(origin, $0, self) }
    }

    private func release(_ origin: String, _ number: Int) {
        let granted = state.withLock { state -> (Int, @Sendable (Slot) -> Void)? in
            let next = state.makeNumber()
            return state.change(origin) { host in
                guard let index = host.holders.firstIndex(where: { $0.number == number }) else { return nil }
                host.holders.remove(at: index)
                guard !host.waiting.isEmpty else { return nil }
                let waiter = host.waiting.removeFirst()
                host.holders.append((next, waiter.onContention))
                return (next, waiter.onGrant)
            }
        }
        if let (next, onGrant) = granted { onGrant(Slot(origin, next, self)) }
    }

    /// Whether a request waits for one of the host's connection slots.
    package func isContended(_ origin: String) -> Bool {
        state.withLock { $0.hosts[origin.octets]?.waiting.isEmpty == false }
    }

    /// Connection slots of `origin` in use.
    package func active(_ origin: String) -> Int { state.withLock { $0.hosts[origin.octets]?.holders.count ?? 0 } }

    // MARK: Waits that origins ask for

    /// Notes that a host asked to wait. Only what has not ended is kept.
    package func holdOff(_ origin: String, _ scope: HoldOff.Scope, until: Int64, _ error: CacheError, now: Int64) {
        state.withLock { state in
            state.now = max(state.now, now)
            state.change(origin) { host in
                host.holdOffs = host.holdOffs.filter { $0.value.until > now }
                // A shorter wait is of a request that was on its way when the longer one was asked for.
                if let known = host.holdOffs[scope], known.until >= until { return }
                // An origin that asks for it under ever new names gets no table of its own.
                if host.holdOffs.count >= HostTable.mostHoldOffs {
                    host.holdOffs = host.holdOffs.filter { $0.key == .host }
                }
                host.holdOffs[scope] = HoldOff(until: until, error: error)
            }
        }
    }

    private static let mostHoldOffs = 256

    /// Notes an answer by which a host asks to be left alone: with 429 for everything (RFC 6585 §4), with another status for
    /// this. A day is the most, as the field may hold any number.
    package func noteHoldOff(_ origin: String, _ key: ResourceKey?, _ error: CacheError, now: Int64) {
        guard case .originRefused(let status) = error.code, let seconds = error.retryAfter,
            let scope = status == 429 ? .host : key.map({ HoldOff.Scope.resource($0) })
        else { return }
        let until = now.adding(min(max(0, seconds), 86_400).multiplied(by: 1_000_000_000))
        holdOff(origin, scope, until: until, error, now: now)
    }

    /// The wait a host asked for that a request for `key`, or for anything, would fall into; `nil` where there is none.
    package func holdOff(of origin: String, for key: ResourceKey? = nil, now: Int64) -> HoldOff? {
        state.withLock { state in
            state.now = max(state.now, now)
            guard let holdOffs = state.hosts[origin.octets]?.holdOffs, !holdOffs.isEmpty else { return nil }
            let scopes = [HoldOff.Scope.host] + (key.map { [.resource($0)] } ?? [])
            return scopes.compactMap { holdOffs[$0] }.filter { $0.until > now }.max {
                $0.until < $1.until
            }
        }
    }

    // MARK: Measures

    package func measure(of origin: String) -> Measure {
        state.withLock { $0.hosts[origin.octets]?.measure ?? Measure() }
    }

    /// Notes how long the first byte took, in nanoseconds.
    package func note(firstByte: Int64, of origin: String) {
        state.withLock { state in
            state.change(origin) { host in
                host.measure.firstByte =
                    host.measure.firstByte.map { $0.multiplied(by: 3).adding(firstByte) / 4 } ?? firstByte
            }
        }
    }

    /// Notes a connection's rate in bytes a second.
    package func note(rate: Double, of origin: String) {
        state.withLock { state in
            state.change(origin) { host in
                host.measure.rate = host.measure.rate.map { ($0 * 3 + rate) / 4 } ?? rate
            }
        }
    }

    // MARK: Whether it is well

    /// Whether the origin is asked where others serve the same.
    package func breaker(of origin: String) -> CircuitBreaker {
        state.withLock { $0.hosts[origin.octets]?.breaker ?? CircuitBreaker() }
    }

    /// A request is sent to one of several origins.
    package func noteAsked(_ origin: String, now: Int64) {
        state.withLock { state in state.change(origin) { $0.breaker.asked(now: now) } }
    }

    /// A request to one of several origins came to something.
    package func note(_ outcome: CircuitBreaker.Outcome, of origin: String, now: Int64) {
        state.withLock { state in state.change(origin) { $0.breaker.note(outcome, now: now) } }
    }

    // MARK: Entity tags

    private static let distrustTime: Int64 = 86_400 * 1_000_000_000

    /// Stops trusting the host's entity tags for a day: its nodes disagree about them. Times are of the queues' clock.
    package func distrustEntityTags(of origin: String, now: Int64) {
        state.withLock { state in
            state.now = max(state.now, now)
            state.change(origin) { $0.distrustsEntityTagsUntil = now.adding(HostTable.distrustTime) }
        }
    }

    package func trustsEntityTags(of origin: String, now: Int64) -> Bool {
        state.withLock { ($0.hosts[origin.octets]?.distrustsEntityTagsUntil ?? .min) <= now }
    }
}
