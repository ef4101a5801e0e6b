import ReprisePlatform
package import RepriseStorage

/// The right of one entry in memory to name files of its entry: to make, commit, abandon and remove them.
///
/// It ends when the entry is removed, or another takes its place, while it is read: its readers go on with what they have open,
/// and work of that entry that is still on its way must not bring the entry back, or touch the files of a new one that was made
/// under the same key. Ending it waits for nothing; the successor waits for what is under way before it names a file itself, or
/// looks for them, on the pools.
package final class EntryWriteLease: Sendable {
    private let hasEnded = Lock(false)
    /// Held across file calls: the leases of earlier entries, whose work may still run.
    private let naming: Lock<[EntryWriteLease]>

    package init(after predecessors: [EntryWriteLease] = []) { naming = Lock(predecessors) }

    /// Whether the right has ended.
    package var isOver: Bool { hasEnded.withLock { $0 } }

    /// Runs work that names files; throws `.gone` where the right has ended. I/O.
    package func use<Value: Sendable>(_ work: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        try naming.withLock { predecessors throws(StoreError) in
            EntryWriteLease.join(&predecessors)
            try check()
            return try work()
        }
    }

    /// Throws `.gone` where the right has ended: between two steps of work that names files.
    package func check() throws(StoreError) {
        if isOver { throw StoreError(.gone, "the entry was removed while it was read") }
    }

    /// Ends it: from here on the entry's files are another's.
    package func end() { hasEnded.withLock { $0 = true } }

    /// Runs the last work that names files; where it succeeds the right ends with it. Nothing where it has ended. I/O.
    package func end(_ work: () throws(StoreError) -> Void) throws(StoreError) {
        try naming.withLock { predecessors throws(StoreError) in
            EntryWriteLease.join(&predecessors)
            if isOver { return }
            try work()
            end()
        }
    }

    /// Waits until no work of those before it that names files is under way. I/O.
    package func join() { naming.withLock { EntryWriteLease.join(&$0) } }

    private static func join(_ predecessors: inout [EntryWriteLease]) {
        for predecessor in predecessors { predecessor.join() }
        predecessors = []
    }
}
