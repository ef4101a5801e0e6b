import RepriseTesting
import Testing

@testable import RepriseCore

@Suite struct UnwrittenBytesTests {
    @Test func `at the limit nothing may be added, and below it who waits is told once`() {
        let unwritten = UnwrittenBytes(limit: 100)
        let told = Recorder<Int>()
        unwritten.add(99)
        #expect(!unwritten.isExceeded)
        unwritten.whenBelow { told.add(1) }
        #expect(told.all == [1], "there is room now")
        unwritten.add(1)
        #expect(unwritten.isExceeded && unwritten.count == 100)
        unwritten.whenBelow { told.add(2) }
        unwritten.whenBelow { told.add(3) }
        unwritten.add(50)
        unwritten.add(-50)
        #expect(told.all == [1], "it is still full")
        unwritten.add(-1)
        #expect(told.all == [1, 2, 3] && !unwritten.isExceeded)
        unwritten.add(1)
        unwritten.add(-100)
        #expect(told.all == [1, 2, 3] && unwritten.count == 0)
    }

    @Test func `who is told may count and wait again`() {
        let unwritten = UnwrittenBytes(limit: 10)
        let told = Recorder<Int>()
        unwritten.add(10)
        unwritten.whenBelow {
            unwritten.add(5)
            unwritten.whenBelow { told.add(Int(unwritten.count)) }
        }
        unwritten.add(-1)
        #expect(told.all.isEmpty)
        unwritten.add(-5)
        #expect(told.all == [9])
    }
}
