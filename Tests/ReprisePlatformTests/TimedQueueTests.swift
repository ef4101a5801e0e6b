import ReprisePlatform
import RepriseTesting
import Testing

@Suite struct TimedQueueTests {
    @Test func `the earliest comes first, what is due at the same time in the order in which it came`() {
        var queue = TimedQueue()
        let isEmpty = queue.popFirst(by: .max) == nil
        #expect(isEmpty && queue.earliest == nil)
        for (number, due) in [5, 3, 5, 1, 3, .min, .max].enumerated() { queue.add(due: Int64(due), lane: number) {} }
        #expect(queue.earliest == .min)
        var taken: [Int] = []
        while let item = queue.popFirst(by: 3) { taken.append(item.lane!) }
        #expect(taken == [5, 3, 1, 4])
        #expect(queue.earliest == 5 && queue.count == 3)
        while let item = queue.popFirst(by: .max) { taken.append(item.lane!) }
        #expect(taken == [5, 3, 1, 4, 0, 2, 6])
    }

    @Test func `a thousand that come and go are in order`() {
        var random = SeededGenerator(seed: 1)
        var queue = TimedQueue()
        var waiting: [(due: Int64, number: Int)] = []
        var now: Int64 = 0
        for number in 0..<1000 {
            let due = now + Int64.random(in: 0...40, using: &random)
            queue.add(due: due, lane: number) {}
            waiting.append((due, number))
            guard Bool.random(using: &random) else { continue }
            now += Int64.random(in: 0...5, using: &random)
            var taken: [Int] = []
            while let item = queue.popFirst(by: now) { taken.append(item.lane!) }
            #expect(taken == waiting.filter { $0.due <= now }.sorted { $0 < $1 }.map(\.number))
            waiting.removeAll { $0.due <= now }
        }
        #expect(queue.count == waiting.count)
    }
}
