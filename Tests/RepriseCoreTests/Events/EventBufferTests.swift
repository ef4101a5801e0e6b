import RepriseCore
import RepriseTesting
import Testing

@Suite struct EventBufferTests {
    private func event(_ number: Int) -> CacheEvent { .stored(key: "k", bytes: Int64(number)) }

    private func drained(_ buffer: inout EventBuffer) -> [CacheEvent] {
        var events: [CacheEvent] = []
        while let event = buffer.next() { events.append(event) }
        return events
    }

    @Test func `what fits comes out in order, and nothing is marked`() {
        var buffer = EventBuffer(limit: 3)
        for number in 0..<3 { buffer.add(event(number)) }
        #expect(drained(&buffer) == (0..<3).map(event))
        #expect(buffer.next() == nil)
    }

    @Test func `the newest stay, and how many are missing is told where they were`() {
        var buffer = EventBuffer(limit: 3)
        for number in 0..<10 { buffer.add(event(number)) }
        #expect(drained(&buffer) == [.dropped(7)] + (7..<10).map(event))
        buffer.add(event(10))
        #expect(drained(&buffer) == [event(10)])
    }

    @Test func `what is dropped after a mark was taken is marked again`() {
        var buffer = EventBuffer(limit: 2)
        for number in 0..<4 { buffer.add(event(number)) }
        #expect(buffer.next() == .dropped(2))
        #expect(buffer.next() == event(2))
        for number in 4..<6 { buffer.add(event(number)) }
        #expect(drained(&buffer) == [.dropped(1), event(4), event(5)])
    }

    @Test func `there is always room for the last one`() {
        var buffer = EventBuffer(limit: 0)
        for number in 0..<3 { buffer.add(event(number)) }
        #expect(drained(&buffer) == [.dropped(2), event(2)])
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `marks and events account for everything, in order`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limit = Int.random(in: 1...9, using: &random)
        var buffer = EventBuffer(limit: limit)
        var sent = 0
        var expected = 0
        for _ in 0..<400 {
            if Bool.random(using: &random) {
                for _ in 0..<Int.random(in: 1...12, using: &random) {
                    buffer.add(event(sent))
                    sent += 1
                }
            }
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                switch buffer.next() {
                case .dropped(let count): expected += count
                case let found?:
                    #expect(found == event(expected), "seed \(seed)")
                    expected += 1
                case nil: #expect(expected == sent, "seed \(seed)")
                }
            }
        }
        for found in drained(&buffer) {
            if case .dropped(let count) = found { expected += count } else { expected += 1 }
        }
        #expect(expected == sent, "seed \(seed)")
    }
}
