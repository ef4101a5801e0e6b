import Testing

@testable import RepriseAVFoundation

/// When playback starts, and when it goes on after a stall.
@Suite struct StallRuleTests {
    private func situation(
        rate: Float = 0, isPlaying: Bool = false, position: Double = 10, loadedTo end: Double? = nil,
        _ change: (inout StallRule.Situation) -> Void = { _ in }
    ) -> StallRule.Situation {
        var situation = StallRule.Situation(rate: rate, isPlaying: isPlaying, position: position, duration: 100)
        if let end { situation.loaded = [0..<end] }
        change(&situation)
        return situation
    }

    /// A rule that has seen media move.
    private func playing() -> StallRule {
        var rule = StallRule()
        #expect(rule.decide(situation(rate: 1, isPlaying: true, loadedTo: 12)) == .play)
        return rule
    }

    @Test func `the first bytes start playback`() {
        var rule = StallRule()
        #expect(rule.decide(situation(position: 0)) == .wait)
        #expect(rule.decide(situation(position: 0, loadedTo: 0.3)) == .start)
        #expect(!rule.hasStarted)
    }

    @Test func `a buffer before starting is waited for`() {
        var rule = StallRule(bufferBeforeStarting: 5)
        #expect(rule.decide(situation(position: 0, loadedTo: 4)) == .wait)
        #expect(rule.decide(situation(position: 0, loadedTo: 5)) == .start)
    }

    @Test func `an item that is not ready is waited for`() {
        var rule = StallRule()
        #expect(rule.decide(situation(loadedTo: 50) { $0.isReady = false }) == .wait)
    }

    @Test func `after a stall it goes on when the buffer is there, and not before`() {
        var rule = playing()
        #expect(rule.decide(situation(position: 12, loadedTo: 12)) == .wait)
        #expect(rule.isStalled)
        #expect(rule.decide(situation(position: 12, loadedTo: 14.9)) == .wait)
        #expect(rule.decide(situation(position: 12, loadedTo: 15)) == .start)
        #expect(rule.decide(situation(rate: 1, isPlaying: true, position: 12, loadedTo: 15)) == .play)
        #expect(!rule.isStalled)
    }

    @Test func `twice the rate needs twice the buffer`() {
        var rule = playing()
        #expect(
            rule.decide(
                situation(position: 12, loadedTo: 15) {
                    $0.wantedRate = 2; $0.isStallReported = true
                }) == .wait)
        #expect(rule.decide(situation(position: 12, loadedTo: 18) { $0.wantedRate = 2 }) == .start)
    }

    @Test func `less is enough where the end is near or the system loads no more`() {
        var rule = playing()
        #expect(rule.decide(situation(position: 98, loadedTo: 98.2)) == .wait)
        #expect(rule.decide(situation(position: 98, loadedTo: 100)) == .start)
        var full = playing()
        #expect(full.decide(situation(position: 12, loadedTo: 12)) == .wait)
        #expect(full.decide(situation(position: 12, loadedTo: 13) { $0.isBufferFull = true }) == .start)
    }

    @Test func `where nothing more comes for a while, what there is is played`() {
        var rule = playing()
        #expect(rule.decide(situation(position: 12, loadedTo: 12) { $0.now = 100 }) == .wait)
        #expect(rule.decide(situation(position: 12, loadedTo: 13) { $0.now = 104 }) == .wait)
        #expect(rule.decide(situation(position: 12, loadedTo: 13) { $0.now = 108.9 }) == .wait)
        #expect(rule.decide(situation(position: 12, loadedTo: 13) { $0.now = 109 }) == .start)
        var empty = playing()
        #expect(empty.decide(situation(position: 12, loadedTo: 12) { $0.now = 100 }) == .wait)
        #expect(empty.decide(situation(position: 12, loadedTo: 12) { $0.now = 900 }) == .wait)
    }

    @Test func `no more than thirty seconds are waited for`() {
        #expect(StallRule(bufferBeforeResuming: 900).bufferBeforeResuming == 30)
        #expect(StallRule(bufferBeforeResuming: -1).bufferBeforeResuming == 0)
    }

    @Test func `a player that refuses is asked again only with more loaded, so nothing spins`() {
        var rule = StallRule()
        let first = situation(position: 0, loadedTo: 0.2)
        #expect(rule.decide(first) == .start)
        for _ in 0..<10 { #expect(rule.decide(first) == .wait) }
        #expect(rule.decide(situation(position: 0, loadedTo: 0.4)) == .wait)
        #expect(rule.decide(situation(position: 0, loadedTo: 0.5)) == .start)
        rule.insist()
        #expect(rule.decide(situation(position: 0, loadedTo: 0.5)) == .start)
    }

    @Test func `a rate of zero with plenty loaded was somebody else's pause`() {
        var rule = playing()
        #expect(rule.decide(situation(position: 11, loadedTo: 40)) == .yield)
        var reported = playing()
        #expect(reported.decide(situation(position: 11, loadedTo: 40) { $0.isStallReported = true }) == .start)
        var empty = playing()
        #expect(empty.decide(situation(position: 11, loadedTo: 12) { $0.isBufferEmpty = true }) == .wait)
    }

    @Test func `at the end nothing is resumed`() {
        var rule = playing()
        #expect(rule.decide(situation(position: 100, loadedTo: 100)) == .rest)
        #expect(!rule.isStalled)
    }

    @Test func `somebody else's start is taken over with its rate`() {
        var rule = StallRule()
        #expect(rule.decide(situation(rate: 1.5, isPlaying: true) { $0.wantedRate = 0 }) == .adopt(1.5))
        #expect(rule.decide(situation { $0.wantedRate = 0 }) == .rest)
    }

    @Test func `another place starts like another item`() {
        var rule = playing()
        rule.begin()
        #expect(rule.decide(situation(position: 60)) == .wait)
        #expect(rule.decide(situation(position: 60) { $0.loaded = [0..<12, 60.05..<60.4] }) == .start)
    }
}
