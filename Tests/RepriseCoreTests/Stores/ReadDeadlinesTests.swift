import RepriseTesting
import Testing

@testable import RepriseCore

@Suite struct ReadDeadlinesTests {
    private let queues = ManualQueues()
    private let told = Recorder<String>()

    private func begin(_ deadlines: ReadDeadlines, _ name: String, _ timeout: Int64 = 10) -> Int {
        deadlines.begin(timeout) { [told] in told.add("\(name) late") }
    }

    private func end(_ deadlines: ReadDeadlines, _ number: Int, _ name: String) {
        let isInTime = deadlines.end(number) { [told] in told.add("\(name) answered") }
        if isInTime { told.add("\(name) in time") }
    }

    @Test func `a read that ends in time is told of by nobody else`() {
        let deadlines = ReadDeadlines(queues)
        let number = begin(deadlines, "a")
        queues.advance(9)
        end(deadlines, number, "a")
        queues.advance(100)
        #expect(told.all == ["a in time"])
    }

    @Test func `each that is late is told once, and its end after that`() {
        let deadlines = ReadDeadlines(queues)
        let first = begin(deadlines, "a")
        queues.advance(4)
        let second = begin(deadlines, "b")
        let third = begin(deadlines, "c", 3)
        queues.advance(3)
        #expect(told.all == ["c late"])
        queues.advance(3)
        #expect(told.all == ["c late", "a late"])
        end(deadlines, first, "a")
        queues.advance(4)
        end(deadlines, second, "b")
        end(deadlines, third, "c")
        #expect(told.all == ["c late", "a late", "a answered", "b late", "b answered", "c answered"])
    }

    @Test func `one that ends while it is told that it is late is answered after`() {
        let deadlines = ReadDeadlines(queues)
        let told = told
        let number = Shared(0)
        number.set(
            deadlines.begin(10) {
                let isInTime = deadlines.end(number.value) { told.add("answered") }
                told.add("late, in time \(isInTime)")
            })
        queues.advance(10)
        #expect(told.all == ["late, in time false", "answered"])
    }
}
