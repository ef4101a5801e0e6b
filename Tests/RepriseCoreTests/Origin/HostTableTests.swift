import ReprisePlatform
import Testing

@testable import RepriseCore

@Suite struct HostTableTests {
    private let host = "http://a"

    private func acquire(_ table: HostTable, _ origin: String = "http://a") -> HostTable.Slot? {
        table.acquire(origin, onContention: {}, onGrant: { _ in })
    }

    @Test func `a host has so many connection slots and no more`() {
        let table = HostTable(limit: 2)
        let slots = [acquire(table), acquire(table), acquire(table), acquire(table, "http://b")]
        // Held until here: a slot goes back with its last reference.
        withExtendedLifetime(slots) {
            #expect(slots.map { $0 != nil } == [true, true, false, true])
            #expect(table.active(host) == 2)
        }
    }

    @Test func `hosts that are asked once are forgotten where there are many, others are not`() {
        let table = HostTable(limit: 2)
        let kept = acquire(table, "http://held")
        let error = CacheError(.originRefused(status: 429), "")
        table.holdOff("http://waits", .host, until: 1000, error, now: 0)
        table.holdOff("http://waited", .host, until: 10, error, now: 0)
        table.distrustEntityTags(of: "http://distrusted", now: 0)
        table.note(.unreachable, of: "http://down", now: 0)
        _ = table.holdOff(of: "http://held", now: 500)
        for number in 0..<10_000 {
            _ = acquire(table, "http://\(number)")
            table.note(rate: 1, of: "http://\(number)")
        }
        #expect(table.count <= HostTable.mostHosts)
        withExtendedLifetime(kept) { #expect(table.active("http://held") == 1) }
        #expect(table.holdOff(of: "http://waits", now: 500) != nil)
        #expect(!table.trustsEntityTags(of: "http://distrusted", now: 0))
        #expect(table.breaker(of: "http://down") != CircuitBreaker())
    }

    @Test func `hosts whose entity tags are trusted again are forgotten as well`() {
        let table = HostTable(limit: 2)
        for number in 0..<2_000 { table.distrustEntityTags(of: "http://\(number)", now: 0) }
        #expect(table.count == 2_000 && !table.trustsEntityTags(of: "http://7", now: 86_399_999_999_999))
        #expect(table.trustsEntityTags(of: "http://7", now: 86_400_000_000_000))
        for number in 0..<2_000 { table.distrustEntityTags(of: "http://b\(number)", now: 86_400_000_000_000) }
        #expect(table.count == 2_000)
    }

    @Test func `hosts that only Unicode calls equal are two`() {
        let table = HostTable(limit: 1)
        let slots = [acquire(table, "http://\u{E9}.test"), acquire(table, "http://e\u{301}.test")]
        withExtendedLifetime(slots) { #expect(slots.map { $0 != nil } == [true, true]) }
    }

    @Test func `a released slot goes to the request that waits longest, and to one at a time`() throws {
        let table = HostTable(limit: 1)
        let granted = Lock<[(String, HostTable.Slot)]>([])
        let first = try #require(acquire(table))
        for name in ["second", "third"] {
            let slot = table.acquire(host, onContention: {}) { slot in granted.withLock { $0.append((name, slot)) } }
            #expect(slot == nil)
        }
        #expect(table.isContended(host))
        first.release()
        #expect(granted.withLock { $0.map(\.0) } == ["second"])
        #expect(table.active(host) == 1 && table.isContended(host))
        granted.withLock { $0[0].1 }.release()
        #expect(granted.withLock { $0.map(\.0) } == ["second", "third"])
        #expect(!table.isContended(host))
        granted.withLock { $0[1].1 }.release()
        #expect(table.active(host) == 0)
    }

    @Test func `a slot is released once, and with its last reference`() throws {
        let table = HostTable(limit: 1)
        let slot = try #require(acquire(table))
        slot.release()
        let other = try #require(acquire(table))
        slot.release()
        withExtendedLifetime(other) { #expect(table.active(host) == 1) }
        do { _ = acquire(table, "http://b") }
        #expect(table.active("http://b") == 0)
    }

    @Test func `holders are told once that others began to wait`() {
        let table = HostTable(limit: 1)
        let told = Lock(0)
        let slot = table.acquire(host, onContention: { told.withLock { $0 += 1 } }, onGrant: { _ in })
        withExtendedLifetime(slot) {
            #expect(acquire(table) == nil && acquire(table) == nil)
            #expect(told.withLock { $0 } == 1)
        }
    }

    @Test func `of two waits that a host asks for the longer one counts, until it has ended, RFC 6585 §4`() {
        let table = HostTable(limit: 1)
        func wait(_ seconds: Int64, now: Int64) -> Int64? {
            table.noteHoldOff(host, nil, CacheError(answered: 429, retryAfter: seconds), now: now * 1_000_000_000)
            return table.holdOff(of: host, now: now * 1_000_000_000).map { $0.until / 1_000_000_000 }
        }
        #expect(wait(30, now: 0) == 30)
        // To a request that was on its way.
        #expect(wait(1, now: 1) == 30)
        #expect(wait(60, now: 2) == 62)
        #expect(wait(1, now: 62) == 63)
        // Nor do waits for ever new resources end it.
        #expect(wait(60, now: 63) == 123)
        for number in 0..<300 {
            let key = ResourceKey("\(number)")
            table.noteHoldOff(host, key, CacheError(answered: 503, retryAfter: 9), now: 63_000_000_000)
        }
        #expect(wait(1, now: 64) == 123)
    }

    @Test func `measures are smoothed, the first counts whole`() {
        let table = HostTable(limit: 1)
        #expect(table.measure(of: host) == HostTable.Measure())
        table.note(firstByte: 1000, of: host)
        #expect(table.measure(of: host).firstByte == 1000)
        table.note(firstByte: 2000, of: host)
        #expect(table.measure(of: host).firstByte == 1250)
        table.note(rate: 100, of: host)
        table.note(rate: 500, of: host)
        #expect(table.measure(of: host).rate == 200)
        #expect(table.measure(of: "http://b") == HostTable.Measure())
    }

    @Test func `a host is distrusted for a day, bug31`() {
        let table = HostTable(limit: 1)
        #expect(table.trustsEntityTags(of: host, now: 50))
        table.distrustEntityTags(of: host, now: 50)
        #expect(!table.trustsEntityTags(of: host, now: 50 + 86_399_999_999_999))
        #expect(table.trustsEntityTags(of: host, now: 50 + 86_400_000_000_000))
        #expect(table.trustsEntityTags(of: "http://b", now: 50))
    }
}
