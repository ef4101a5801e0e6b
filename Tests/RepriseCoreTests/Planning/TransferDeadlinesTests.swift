import RepriseCore
import Testing

/// Each way of doing nothing, and the time after which something else is decided of it.
@Suite struct TransferDeadlinesTests {
    private static let tuning = TransferTuning()
    private let dear = TransferDeadlines(tuning, servesRanges: false, isKept: true)
    private let usual = TransferDeadlines(tuning, servesRanges: true, isKept: true)
    private let passing = TransferDeadlines(tuning, servesRanges: false, isKept: false)

    /// The first change after silence has been noticed, in nanoseconds.
    private func change(_ deadlines: TransferDeadlines, _ waits: TransferDeadlines.Waits) -> Int64? {
        deadlines.firstChange(of: waits, after: waits.lastProgress + Self.tuning.takeover + 1)
    }

    /// Silent since 0; paused, or without readers, since a second before that is noticed.
    private let since = Self.tuning.takeover - TransferTuning.second

    @Test func `silence is noticed once its time has passed, and nothing else comes then`() {
        let waits = TransferDeadlines.Waits(lastProgress: 0)
        for deadlines in [usual, dear, passing] {
            #expect(deadlines.firstChange(of: waits, after: 0) == Self.tuning.takeover + 1)
            #expect(change(deadlines, waits) == nil)
        }
    }

    @Test func `one that is paused stops in time, but where it would begin at 0 again`() {
        let waits = TransferDeadlines.Waits(lastProgress: 0, pausedSince: since)
        #expect(change(usual, waits) == since + Self.tuning.pausedStop)
        #expect(change(dear, waits) == nil)
        #expect(change(passing, waits) == nil)
    }

    @Test
    func `one without readers waits for them longer where it would begin at 0 again, unless its slot is waited for`() {
        var waits = TransferDeadlines.Waits(lastProgress: -Self.tuning.takeover - 1, unwanted: .init(since: 0, head: 5))
        #expect(change(usual, waits) == Self.tuning.unwantedStop)
        #expect(change(passing, waits) == Self.tuning.unwantedStop)
        #expect(change(dear, waits) == Self.tuning.unwantedStopSequential)
        waits.isContended = true
        #expect(change(dear, waits) == Self.tuning.unwantedStop)
    }

    @Test func `one that takes nothing gives its slot to another that waits for it`() {
        var waits = TransferDeadlines.Waits(lastProgress: 0, isIdle: true)
        #expect(usual.firstChange(of: waits, after: 0) == Self.tuning.takeover + 1)
        waits.isContended = true
        #expect(usual.firstChange(of: waits, after: 0) == Self.tuning.yieldAfter)
        #expect(passing.firstChange(of: waits, after: 0) == Self.tuning.yieldAfter)
        #expect(change(dear, waits) == Self.tuning.pausedStop)
        waits.isIdle = false
        #expect(change(dear, waits) == nil)
    }
}
