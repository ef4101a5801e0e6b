import ReprisePlatform

/// What has been learnt of each origin host, and how many requests are under way there.
///
/// Its lock is a leaf: nothing else is locked while it is held.
package final class HostBook: Sendable {
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

    private struct Host {
        var measure = Measure()
        var holdOffs: [HoldOff.Scope: HoldOff] = [:]
        var active = 0
        var distrustsEntityTagsUntil: Int64 = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let limit: Int
    private let hosts = Lock<[String: Host]>([:])

    /// - Parameter limit: Requests under way to one host at a time.
    package init(limit: Int) { self.limit = limit }

    package func measure(of origin: String) -> Measure { hosts.withLock { $0[origin]?.measure ?? Measure() } }

    /// Takes one of the host's places; `false` where none is free. Then `onFree` is called once when one becomes free.
    package func enter(_ origin: String, onFree: @escaping @Sendable () -> Void) -> Bool {
        hosts.withLock { hosts in
            if hosts[origin, default: Host()].active < limit {
                hosts[origin, default: Host()].active += 1
                return true
            }
            hosts[origin, default: Host()].waiting.append(onFree)
            return false
        }
    }

    /// Gives a place back.
    package func leave(_ origin: String) {
        let waiting = hosts.withLock { hosts -> [@Sendable () -> Void] in
            hosts[origin, default: Host()].active -= 1
            defer { hosts[origin]?.waiting = [] }
            return hosts[origin]?.waiting ?? []
        }
        for wake in waiting { wake() }
    }

    /// Notes that a host asked to wait. Only what has not ended is kept.
    package func holdOff(_ origin: String, _ scope: HoldOff.Scope, until: Int64, _ error: CacheError, now: Int64) {
        hosts.withLock { hosts in
            var holdOffs = hosts[origin, default: Host()].holdOffs.filter { $0.value.until > now }
            // An origin that asks for it under ever new names gets no table of its own.
            if holdOffs.count >= HostBook.mostHoldOffs { holdOffs = [:] }
            holdOffs[scope] = HoldOff(until: until, error: error)
            hosts[origin]?.holdOffs = holdOffs
        }
    }

    private static let mostHoldOffs = 256

    /// The wait a host asked for that a request for `key` would fall into; `nil` where there is none.
    package func holdOff(of origin: String, for key: ResourceKey, now: Int64) -> HoldOff? {
        hosts.withLock { hosts in
            guard let holdOffs = hosts[origin]?.holdOffs, !holdOffs.isEmpty else { return nil }
            return [.host, .resource(key)].compactMap { holdOffs[$0] }.filter { $0.until > now }.max {
                $0.until < $1.until
            }
        }
    }

    /// Whether somebody waits for one of the host's places.
    package func isContended(_ origin: String) -> Bool { hosts.withLock { $0[origin]?.waiting.isEmpty == false } }

    /// Requests under way to `origin`.
    package func active(_ origin: String) -> Int { hosts.withLock { $0[origin]?.active ?? 0 } }

    /// Notes how long the first byte took, in nanoseconds.
    package func note(firstByte: Int64, of origin: String) {
        hosts.withLock { hosts in
            let old = hosts[origin]?.measure.firstByte
            hosts[origin, default: Host()].measure.firstByte = old.map { ($0 * 3 + firstByte) / 4 } ?? firstByte
        }
    }

    /// Notes a connection's rate in bytes a second.
    package func note(rate: Double, of origin: String) {
        hosts.withLock { hosts in
            let old = hosts[origin]?.measure.rate
            hosts[origin, default: Host()].measure.rate = old.map { ($0 * 3 + rate) / 4 } ?? rate
        }
    }

    /// Stops trusting the host's entity tags for a day: its nodes disagree about them.
    package func distrustEntityTags(of origin: String, now: Int64) {
        hosts.withLock { $0[origin, default: Host()].distrustsEntityTagsUntil = now + 86_400 }
    }

    package func trustsEntityTags(of origin: String, now: Int64) -> Bool {
        hosts.withLock { ($0[origin]?.distrustsEntityTagsUntil ?? 0) <= now }
    }
}
