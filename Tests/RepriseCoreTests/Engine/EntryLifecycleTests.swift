import Testing

@testable import RepriseCore

@Suite struct EntryLifecycleTests {
    /// Every state there is, by the inputs that lead there.
    enum Reached: CaseIterable {
        case closed, opening, open, ending, gone
    }

    private func lifecycle(_ reached: Reached) -> EntryLifecycle {
        var lifecycle = EntryLifecycle(now: 0)
        switch reached {
        case .closed: break
        case .opening: _ = lifecycle.readerCame(now: 3)
        case .open:
            _ = lifecycle.readerCame(now: 3)
            _ = lifecycle.opened(.readable)
        case .ending: lifecycle.shutDown()
        case .gone: _ = lifecycle.left()
        }
        return lifecycle
    }

    @Test(arguments: Reached.allCases)
    func `the store is asked by the first reader alone`(reached: Reached) {
        var lifecycle = lifecycle(reached)
        let asks = lifecycle.readerCame(now: 3)
        #expect(asks == (reached == .closed))
        let again = lifecycle.readerCame(now: 3)
        #expect(!again)
    }

    @Test func `what could not be read is worth opening again a while after it first could not`() {
        var lifecycle = lifecycle(.open)
        #expect(!lifecycle.isWorthReopening(now: .max, after: 0))
        lifecycle.couldNotRead(now: 10)
        lifecycle.couldNotRead(now: 15)
        #expect(!lifecycle.isWorthReopening(now: 19, after: 10) && lifecycle.isWorthReopening(now: 20, after: 10))
    }

    @Test func `descriptions that are being written are counted`() {
        var lifecycle = lifecycle(.open)
        lifecycle.commitBegan()
        lifecycle.commitBegan()
        lifecycle.commitEnded()
        #expect(lifecycle.isCommitting)
        lifecycle.commitEnded()
        #expect(!lifecycle.isCommitting)
        lifecycle.commitBegan()
        lifecycle.forgetCommits()
        lifecycle.commitEnded()
        #expect(!lifecycle.isCommitting)
    }

    @Test func `a description that is tried once more at the end is waited for once`() {
        var open = lifecycle(.open)
        let ending = lifecycle(.ending)
        #expect(open.mayDescribeLast && !ending.mayDescribeLast)
        open.describedLast()
        #expect(!open.mayDescribeLast)
        _ = open.readerCame(now: 1)
        #expect(open.mayDescribeLast, "what a later reader brought is another description")
    }

    @Test(arguments: Reached.allCases)
    func `the store's answer counts only while it is waited for`(reached: Reached) {
        var lifecycle = lifecycle(reached)
        let opened = lifecycle.opened(.unreadable)
        #expect(opened == (reached == .opening ? .asStored : .tooLate))
        #expect(lifecycle.isUnreadable == (reached == .opening))
    }

    @Test func `a store that answers late is heard, unless its answer is of no use any more`() {
        var late = lifecycle(.opening)
        late.openedLate()
        #expect(late.isOpen && late.isUnreadable && late.isLate)
        late.invalidated()
        let opened = late.opened(.readable)
        #expect(opened == .invalidated && !late.isUnreadable && !late.isLate)
        var tooLate = lifecycle(.opening)
        tooLate.openedLate()
        tooLate.answeredTooLate()
        let answer = tooLate.opened(.readable)
        #expect(answer == .tooLate && tooLate.isUnreadable && !tooLate.isLate)
    }

    @Test func `what was invalidated while it was being opened is told once`() {
        var lifecycle = lifecycle(.opening)
        lifecycle.invalidated()
        let first = lifecycle.opened(.readable)
        let second = lifecycle.opened(.readable)
        #expect(first == .invalidated && second == .tooLate)
        var open = self.lifecycle(.open)
        open.invalidated()
        #expect(open.isOpen)
    }

    @Test(arguments: Reached.allCases)
    func `the table is told once that it is unlisted, and once that it is gone, from any state`(
        reached: Reached
    ) {
        var lifecycle = lifecycle(reached)
        let unlisted = [lifecycle.unlist(), lifecycle.removed(), lifecycle.unlist()].compactMap(\.self)
        #expect(unlisted == (reached == .ending || reached == .gone ? [] : [.unlisted]))
        #expect(!lifecycle.isListed && lifecycle.isRemoved)
        let left = [lifecycle.left(), lifecycle.left()].compactMap(\.self)
        switch reached {
        case .opening:
            #expect(left.isEmpty, "the store's answer is still to come")
            _ = lifecycle.opened(.readable)
            let late = lifecycle.left()
            #expect(late == .gone)
        case .gone: #expect(left.isEmpty)
        default: #expect(left == [.gone])
        }
        #expect(lifecycle.isGone)
    }

    @Test(arguments: Reached.allCases)
    func `after shutDown no reader comes, none counts, and it can still be told to be gone`(
        reached: Reached
    ) {
        var lifecycle = lifecycle(reached)
        lifecycle.shutDown()
        #expect(!lifecycle.isListed && lifecycle.hasEndedReaders && !lifecycle.isOpen)
        let asks = lifecycle.readerCame(now: 3)
        let opened = lifecycle.opened(.readable)
        #expect(!asks && opened == .tooLate)
        let left = lifecycle.left()
        #expect(left == (reached == .gone ? nil : .gone))
    }
}
