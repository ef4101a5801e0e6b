import ReprisePlatform
import RepriseTesting
import Testing

@Suite struct ManualQueuesTests {
    /// What ran, in order.
    private final class Trace: Sendable {
        private let names = Lock<[String]>([])
        func note(_ name: String) { names.withLock { $0.append(name) } }
        var all: [String] { names.withLock { $0 } }
    }

    @Test func `nothing runs, and no time passes, by itself`() {
        let queues = ManualQueues()
        let trace = Trace()
        queues.soon { trace.note("soon") }
        #expect(trace.all.isEmpty)
        #expect(!queues.isIdle)
        let before = queues.now()
        queues.settle()
        #expect(trace.all == ["soon"])
        #expect(queues.now() == before)
        #expect(queues.isIdle)
    }

    @Test func `work for later runs at its time, in the order of times`() {
        let queues = ManualQueues()
        let trace = Trace()
        let start = queues.now()
        for delay in [30, 10, 20] as [Int64] {
            queues.after(delay) { trace.note("\(delay) at \(queues.now() - start)") }
        }
        queues.advance(9)
        #expect(trace.all.isEmpty)
        queues.advance(1)
        #expect(trace.all == ["10 at 10"])
        queues.advance(100)
        #expect(trace.all == ["10 at 10", "20 at 20", "30 at 30"])
        #expect(queues.now() == start + 110)
    }

    @Test func `what work leads to runs in the same stretch of time`() {
        let queues = ManualQueues()
        let trace = Trace()
        queues.after(5) { queues.after(5) { trace.note("second") } }
        queues.advance(10)
        #expect(trace.all == ["second"])
    }

    @Test func `one piece at a time moves the clock to it, and no farther than told`() {
        let queues = ManualQueues()
        let start = queues.now()
        queues.after(7) {}
        #expect(!queues.runOne(until: start + 6))
        #expect(queues.runOne(until: start + 7))
        #expect(queues.now() == start + 7)
    }

    @Test(arguments: 1...50)
    func `a lane keeps its order whatever the seed and the delays`(seed: Int) {
        let queues = ManualQueues(seed: UInt64(seed), isOrdered: false)
        let trace = Trace()
        for number in 0..<10 {
            queues.setDiskDelay(read: 0, write: Int64(10 - number))
            queues.write(lane: 2) { trace.note("even \(number)") }
            queues.write(lane: 3) { trace.note("odd \(number)") }
            queues.upkeep { trace.note("janitor \(number)") }
        }
        queues.advance(100)
        for lane in ["even", "odd", "janitor"] {
            let ran = trace.all.filter { $0.hasPrefix(lane) }
            #expect(ran == (0..<10).map { "\(lane) \($0)" }, "seed \(seed)")
        }
    }

    @Test func `one seed gives one order, and seeds differ`() {
        func order(_ seed: UInt64, isOrdered: Bool = false) -> [String] {
            let queues = ManualQueues(seed: seed, isOrdered: isOrdered)
            let trace = Trace()
            for number in 0..<20 { queues.read { trace.note("\(number)") } }
            queues.settle()
            return trace.all
        }
        #expect(order(3) == order(3))
        #expect(Set((1...20).map { order(UInt64($0)) }).count > 15)
        #expect(order(9, isOrdered: true) == (0..<20).map(String.init))
        #expect(order(9).sorted() == order(10).sorted())
    }

    @Test func `a slow disk delays reads and writes, not the rest`() {
        let queues = ManualQueues()
        let trace = Trace()
        queues.setDiskDelay(read: 10, write: 20)
        queues.read { trace.note("read") }
        queues.write(lane: 0) { trace.note("write") }
        queues.soon { trace.note("soon") }
        queues.advance(5)
        #expect(trace.all == ["soon"])
        queues.advance(5)
        #expect(trace.all == ["soon", "read"])
        queues.advance(10)
        #expect(trace.all == ["soon", "read", "write"])
    }

    @Test func `the wall clock goes with the clock, and chance with the seed`() {
        let queues = ManualQueues(seed: 5)
        let before = queues.wallClock()
        queues.advance(3_000_000_000)
        #expect(queues.wallClock() == before + 3)
        let draws = (0..<100).map { _ in queues.randomFraction() }
        let other = ManualQueues(seed: 5)
        #expect(draws == (0..<100).map { _ in other.randomFraction() })
        #expect(draws.allSatisfy { $0 >= 0 && $0 < 1 })
    }
}
