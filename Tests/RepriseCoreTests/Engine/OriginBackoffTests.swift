import RepriseHTTP
import Testing

@testable import RepriseCore

@Suite struct OriginBackoffTests {
    private let pauses = OriginBackoff.Pauses(first: 100, longest: 1000)
    private let unreachable = CacheError(.originUnreachable, "it is down")

    private func failing(_ times: Int, at offset: Int64? = nil, retryAfter: Int64 = 0) -> OriginBackoff {
        var backoff = OriginBackoff()
        for _ in 0..<times { backoff.fail(unreachable, at: offset, pauses, retryAfter: retryAfter) }
        return backoff
    }

    @Test func `the first failure waits for the first pause, each further one twice as long, up to the longest`() {
        #expect((1...6).map { failing($0).pausedUntil(0) } == [100, 200, 400, 800, 1000, 1000])
        #expect(failing(1).pausedUntil(99) == 100 && failing(1).pausedUntil(100) == nil)
        #expect(OriginBackoff().pausedUntil(0) == nil)
    }

    @Test func `what the origin asks for is waited for, if it is longer`() {
        #expect(failing(1, retryAfter: 5000).pausedUntil(0) == 5000)
        #expect(failing(1, retryAfter: 50).pausedUntil(0) == 100)
    }

    @Test func `only the byte that could not be had ends a run, where one is named`() {
        var named = failing(2, at: 500)
        named.progressed { $0 == 499 }
        #expect(named.attempts == 2)
        named.progressed { $0 == 500 }
        #expect(named.error == nil)
        named = failing(2, at: 500)
        named.fail(unreachable, at: 0, pauses)
        named.fail(unreachable, at: nil, pauses)
        named.progressed { $0 < 500 }
        #expect(named.attempts == 4, "what came before that byte comes with each answer")
        named.progressed { $0 == 500 }
        #expect(named.error == nil)
        var unnamed = failing(1)
        unnamed.progressed { _ in false }
        #expect(unnamed.error == nil)
    }

    @Test func `answers end at a byte where connections were closed there twice in a row, whatever failed in between`()
    {
        var backoff = failing(3, at: 500)
        #expect(!backoff.endsRepeatedly(at: 500), "nothing was closed there")
        backoff.fail(unreachable, at: 0, closedAt: 500, pauses)
        #expect(!backoff.endsRepeatedly(at: 500))
        backoff.fail(unreachable, at: 0, pauses)
        backoff.heldOff(until: 10, unreachable, now: 0)
        backoff.fail(unreachable, at: 0, closedAt: 500, pauses)
        #expect(backoff.endsRepeatedly(at: 500) && !backoff.endsRepeatedly(at: 499))
        backoff.fail(unreachable, at: 0, closedAt: 499, pauses)
        #expect(!backoff.endsRepeatedly(at: 500) && !backoff.endsRepeatedly(at: 499))
        backoff.progressed { $0 == 500 }
        backoff.fail(unreachable, at: 0, closedAt: 499, pauses)
        #expect(!backoff.endsRepeatedly(at: 499), "a run that is over counts no more")
    }

    @Test func `a reader fails when it has waited for its time limit since the run began, or since it came`() {
        let backoff = failing(1)
        #expect(backoff.failsAt(waitsSince: -50, timeLimit: 20) == 21)
        #expect(backoff.failsAt(waitsSince: 50, timeLimit: 20) == 71)
        #expect(OriginBackoff().failsAt(waitsSince: 0, timeLimit: 20) == nil)
    }

    @Test func `a reader that the origin asks to wait beyond its time limit fails at once`() {
        var backoff = OriginBackoff()
        let error = CacheError(.originRefused(status: 503), "busy", retryAfter: 1)
        backoff.failed(error, at: nil, now: 0, pauses: pauses, retryAfter: 500, jitter: 0)
        #expect(backoff.failsAt(waitsSince: 0, timeLimit: 499) == 0)
        #expect(backoff.failsAt(waitsSince: 0, timeLimit: 500) == 501)
    }

    @Test func `a reader that comes where none waits tries at once, beside others it does not reset the count`() {
        var alone = failing(3)
        alone.demandCame(othersWait: false, now: 10)
        #expect(alone.error == nil)
        var beside = failing(3)
        beside.demandCame(othersWait: true, now: 10)
        #expect(beside.attempts == 3 && beside.pausedUntil(10) == nil)
        // Who waited before does not wait longer for each one that comes.
        let due = failing(3).failsAt(waitsSince: 0, timeLimit: 500)
        #expect(beside.failsAt(waitsSince: 0, timeLimit: 500) == due)
    }

    @Test func `a network that returns ends the pause of what failed on the way, not what the origin asked for`() {
        var backoff = failing(5)
        let changes = backoff.networkPathReturned(now: 10)
        #expect(changes && backoff.pausedUntil(10) == nil && backoff.attempts == 0)
        var asked = OriginBackoff()
        asked.heldOff(until: 900, CacheError(.originRefused(status: 429), "busy", retryAfter: 1), now: 0)
        let changesNothing = asked.networkPathReturned(now: 10)
        #expect(!changesNothing && asked.pausedUntil(10) == 900)
    }

    @Test func `representations that replace each other before a reader is served are asked for more slowly`() {
        var limit = RestartLimit()
        var waits: [Int64?] = []
        for _ in 0..<5 {
            limit.restarted(now: 0, pauses: pauses)
            waits.append(limit.pausedUntil(0))
        }
        #expect(waits == [nil, nil, 100, 200, 400])
        limit.served()
        #expect(limit.pausedUntil(0) == nil)
    }
}

extension OriginBackoff {
    fileprivate mutating func fail(
        _ error: CacheError, at offset: Int64?, closedAt end: Int64? = nil, _ pauses: Pauses, retryAfter: Int64 = 0
    ) {
        failed(
            error, at: offset, closedAt: end, now: 0, pauses: pauses, retryAfter: retryAfter, jitter: 0)
    }

    @Test func `a host that asks again and again to wait puts off nobody who waits already`() {
        var backoff = OriginBackoff()
        let busy = CacheError(.originRefused(status: 503), "busy", retryAfter: 1)
        backoff.heldOff(until: 100, busy, now: 0)
        backoff.demandCame(othersWait: true, now: 50)
        backoff.heldOff(until: 150, busy, now: 50)
        #expect(backoff.pausedUntil(60) == 150)
        #expect(backoff.failsAt(waitsSince: 0, timeLimit: 1000) == 1001)
    }
}
