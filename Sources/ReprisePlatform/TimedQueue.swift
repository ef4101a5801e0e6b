/// Work that waits for its time: the earliest first, what is due at the same time in the order in which it came. A binary heap.
package struct TimedQueue {
    /// A piece of work.
    package struct Item {
        /// What it keeps its order among, for queues that have such lanes.
        package var lane: Int?
        package var work: @Sendable () -> Void
        fileprivate var due: Int64
        fileprivate var number: Int

        fileprivate func isBefore(_ other: Item) -> Bool { (due, number) < (other.due, other.number) }
    }

    private var items: [Item] = []
    private var lastNumber = 0

    /// Nothing waits.
    package init() {}

    /// How much waits.
    package var count: Int { items.count }

    /// When the first is due; `nil` where nothing waits.
    package var earliest: Int64? { items.first?.due }

    /// Has work wait until `due`.
    package mutating func add(due: Int64, lane: Int? = nil, _ work: @escaping @Sendable () -> Void) {
        lastNumber += 1
        items.append(Item(lane: lane, work: work, due: due, number: lastNumber))
        var index = items.count - 1
        while index > 0, items[index].isBefore(items[(index - 1) / 2]) {
            items.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Takes the first, if that is due by `time`.
    package mutating func popFirst(by time: Int64) -> Item? {
        guard let earliest, earliest <= time else { return nil }
        items.swapAt(0, items.count - 1)
        let first = items.removeLast()
        var index = 0
        while true {
            var least = index
            for child in 2 * index + 1...2 * index + 2 where child < items.count && items[child].isBefore(items[least])
            {
                least = child
            }
            if least == index { return first }
            items.swapAt(index, least)
            index = least
        }
    }
}
