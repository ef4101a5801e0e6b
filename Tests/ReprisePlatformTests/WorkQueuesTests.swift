import Dispatch
import ReprisePlatform
import Synchronization
import Testing

@Suite("System work queues")
struct WorkQueuesTests {
    private func waits(for semaphore: DispatchSemaphore, times: Int = 1) -> Bool {
        (0..<times).allSatisfy { _ in semaphore.wait(timeout: .now() + 30) == .success }
    }

    @Test func `hand a read's answer over to who awaits it`() async {
        let queues = SystemWorkQueues()
        for number in 0..<100 { #expect(await queues.reading { [number, number + 1] } == [number, number + 1]) }
        #expect(await withCallback { done in queues.upkeep { done("done") } } == "done")
    }

    @Test(arguments: [-7, 0, 1, 5, Int.min, Int.max])
    func `run one lane's work in order, one at a time`(lane: Int) {
        let queues = SystemWorkQueues()
        let seen = Lock<[Int]>([])
        let running = Atomic<Int>(0)
        let overlapped = Atomic<Bool>(false)
        let done = DispatchSemaphore(value: 0)
        for number in 0..<500 {
            queues.write(lane: lane) {
                if running.add(1, ordering: .sequentiallyConsistent).newValue != 1 {
                    overlapped.store(true, ordering: .sequentiallyConsistent)
                }
                seen.withLock { $0.append(number) }
                running.subtract(1, ordering: .sequentiallyConsistent)
                if number == 499 { done.signal() }
            }
        }
        #expect(waits(for: done))
        #expect(seen.withLock { $0 } == Array(0..<500))
        let didOverlap = overlapped.load(ordering: .sequentiallyConsistent)
        #expect(!didOverlap)
    }

    @Test func `a blocked lane does not hold up the other one`() {
        let queues = SystemWorkQueues(readers: 1, writers: 2)
        let gate = DispatchSemaphore(value: 0)
        let other = DispatchSemaphore(value: 0)
        queues.write(lane: 0) { gate.wait() }
        queues.write(lane: 1) { other.signal() }
        #expect(waits(for: other))
        gate.signal()
    }

    @Test(arguments: 1...4)
    func `read on as many threads as they are wide, and on no more`(width: Int) {
        let queues = SystemWorkQueues(readers: width)
        let entered = DispatchSemaphore(value: 0)
        let gate = DispatchSemaphore(value: 0)
        let finished = DispatchSemaphore(value: 0)
        let running = Atomic<Int>(0)
        let most = Lock(0)
        let total = width * 5
        for _ in 0..<total {
            queues.read {
                let now = running.add(1, ordering: .sequentiallyConsistent).newValue
                most.withLock { $0 = max($0, now) }
                entered.signal()
                gate.wait()
                running.subtract(1, ordering: .sequentiallyConsistent)
                finished.signal()
            }
        }
        #expect(waits(for: entered, times: width), "all threads must be at work at once")
        for _ in 0..<total { gate.signal() }
        #expect(waits(for: finished, times: total))
        #expect(most.withLock { $0 } == width)
    }

    @Test func `blocked reads get their threads at once, however few processors there are`() {
        let queues = SystemWorkQueues(readers: 8)
        let entered = DispatchSemaphore(value: 0)
        let gate = DispatchSemaphore(value: 0)
        let start = queues.now()
        for _ in 0..<8 {
            queues.read {
                entered.signal()
                gate.wait()
            }
        }
        #expect(waits(for: entered, times: 8))
        #expect(queues.now() - start < 2_000_000_000)
        for _ in 0..<8 { gate.signal() }
    }

    @Test func `a busy pool lets go of work that is done`() {
        final class Load: Sendable {}
        struct Reference: Sendable { weak let load: Load? }
        let queues = SystemWorkQueues(readers: 1)
        let gate = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        let isGone = Lock(false)
        queues.read { gate.wait() }
        let reference = {
            let load = Load()
            queues.read { withExtendedLifetime(load) {} }
            return Reference(load: load)
        }()
        queues.read {
            isGone.withLock { $0 = reference.load == nil }
            done.signal()
        }
        queues.read {}
        gate.signal()
        #expect(waits(for: done))
        #expect(isGone.withLock { $0 })
    }

    @Test func `one slow read delays only itself`() {
        let queues = SystemWorkQueues(readers: 2)
        let gate = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        queues.read { gate.wait() }
        for _ in 0..<50 { queues.read { done.signal() } }
        #expect(waits(for: done, times: 50))
        gate.signal()
    }

    @Test func `a pool that ran empty starts again`() {
        let queues = SystemWorkQueues(readers: 3)
        let done = DispatchSemaphore(value: 0)
        for _ in 0..<200 {
            queues.read { done.signal() }
            #expect(waits(for: done))
        }
    }

    @Test func `work may queue more work from inside`() {
        let queues = SystemWorkQueues(readers: 1, writers: 1)
        let done = DispatchSemaphore(value: 0)
        queues.read { queues.read { queues.write(lane: 3) { queues.upkeep { queues.soon { done.signal() } } } } }
        #expect(waits(for: done))
    }

    @Test func `the janitor works in order and a timer is never early`() {
        let queues = SystemWorkQueues()
        let seen = Lock<[Int]>([])
        let done = DispatchSemaphore(value: 0)
        for number in 0..<100 { queues.upkeep { seen.withLock { $0.append(number) } } }
        queues.upkeep { done.signal() }
        #expect(waits(for: done))
        #expect(seen.withLock { $0 } == Array(0..<100))

        let start = queues.now()
        let fired = Lock<Int64>(0)
        queues.after(2_000_000) {
            fired.withLock { $0 = queues.now() }
            done.signal()
        }
        #expect(waits(for: done))
        #expect(fired.withLock { $0 } - start >= 2_000_000)
        #expect((0..<100).allSatisfy { _ in (0..<1).contains(queues.randomFraction()) })
        #expect(queues.wallClock() > 1_700_000_000)
    }

    @Test func `work for later comes in the order of its times, whichever was set first`() {
        let queues = SystemWorkQueues()
        let seen = Lock<[Int64]>([])
        let done = DispatchSemaphore(value: 0)
        let start = queues.now()
        queues.after(600_000_000_000) {}
        for milliseconds: Int64 in [400, 80, 200, 0, 80, -5, 300] {
            queues.after(milliseconds * 1_000_000) {
                let isEarly = queues.now() - start < milliseconds * 1_000_000
                seen.withLock { $0.append(isEarly ? -1 : milliseconds) }
                done.signal()
            }
        }
        #expect(waits(for: done, times: 7))
        #expect(seen.withLock { $0.filter { $0 > 0 } } == [80, 80, 200, 300, 400])
        queues.after(1_000_000) { done.signal() }
        #expect(waits(for: done), "the one that waits on holds nothing up")
    }
}
