import RepriseHTTP

/// The readers of an entry, in the order in which they came, and where those that left stood.
struct ReaderTable: Sequence {
    private struct Ended {
        var position: Int64
        var requestIndex: Int
        /// Nanoseconds.
        var at: Int64
    }

    private var table = IDTable<Reader>()
    /// Where readers ended lately, for players that reopen at every jump.
    private var ended: [Ended] = []
    private static let mostEnded = 16

    var isEmpty: Bool { table.isEmpty }
    var count: Int { table.count }

    subscript(id: ReaderID) -> Reader? { table[id] }

    func makeIterator() -> IndexingIterator<[Reader]> { table.makeIterator() }

    /// Readers of a representation that go on.
    func reading(_ representation: RepresentationID) -> [Reader] {
        filter { $0.representation == representation && !$0.hasEnded }
    }

    func reads(_ representation: RepresentationID) -> Bool { contains { $0.representation == representation } }

    var awaitingValidation: [Reader] { filter(\.awaitsValidation) }

    mutating func insert(_ reader: Reader) { table[reader.id] = reader }

    /// A reader leaves.
    /// - Parameter requestIndex: Of the transfer that serves it.
    mutating func remove(_ id: ReaderID, requestIndex: Int, now: Int64) -> Reader? {
        guard let reader = table.remove(id) else { return nil }
        ended.append(
            Ended(position: reader.position, requestIndex: Swift.max(reader.requestIndex, requestIndex), at: now))
        if ended.count > ReaderTable.mostEnded { ended.removeFirst() }
        return reader
    }

    /// The request size with which a reader at `position` goes on: that of one that ended near it, not long ago.
    func inheritedRequestIndex(at position: Int64, distance: Int64, time: Int64, now: Int64) -> Int {
        ended.last { now - $0.at <= time && abs($0.position - position) <= distance }?.requestIndex ?? 0
    }
}
