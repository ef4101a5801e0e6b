/// Names one thing of an entry in memory. A type a kind, so that a reader is never taken for a transfer; ascending, never used
/// again within an entry.
package protocol EntryID: Hashable, Comparable, Sendable, CustomStringConvertible {
    var number: Int { get }
    init(number: Int)
}

extension EntryID {
    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
    package var description: String { String(number) }
}

package struct ReaderID: EntryID {
    package let number: Int
    package init(number: Int) { self.number = number }
}

package struct TransferID: EntryID {
    package let number: Int
    package init(number: Int) { self.number = number }
}

/// A version of the resource's bytes.
struct RepresentationID: EntryID {
    let number: Int
}

/// A request to the origin: what is told of an earlier one never reaches its successor.
struct RequestID: EntryID {
    let number: Int
}

/// A wait for a connection slot of a host.
struct SlotTicket: EntryID {
    let number: Int
}
