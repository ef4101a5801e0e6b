import RepriseStorage
import Testing

@testable import RepriseCore

@Suite struct EntryUseTests {
    @Test func `what files say is added to what was counted before they were open`() {
        var use = EntryUse()
        use.served(30)
        use.received(20)
        var stored = EntryStatistics()
        stored.served = 1000
        stored.fromOrigin = 400
        use.opened(stored)
        use.served(5)
        #expect(use.statistics.served == 1035 && use.statistics.fromOrigin == 420)
    }

    @Test func `the last reader to come is the last use, and one that wants nothing stored is remembered`() {
        var use = EntryUse()
        use.readerCame(mayStore: true, at: 100)
        #expect(use.last == 100 && !use.hasUnstored)
        use.readerCame(mayStore: false, at: 90)
        #expect(use.last == 90 && use.hasUnstored, "a clock may have been set back")
        use.readerCame(mayStore: true, at: 110)
        #expect(use.last == 110 && use.hasUnstored)
    }
}
