import ReprisePlatform
package import RepriseStorage

/// The right of one entry in memory to name files of its entry: to make, commit, abandon and remove them.
///
/// It ends when the entry is removed while it is read: its readers go on with what they have open, and work
/// of that entry that is still on its way must not bring the entry back, or touch the files of a new one that was
/// made under the same key. The lock is held across file calls; only work on the pools takes it.
package final class EntryWriteLease: Sendable {
    private let isOver = Lock(false)

    package init() {}

    /// Runs work that names files; throws `.gone` where the right has ended. I/O.
    package func use<Value: Sendable>(_ work: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        try isOver.withLock { isOver throws(StoreError) in
            if isOver { throw StoreError(.gone, "the entry was removed while it was read") }
            return try work()
        }
    }

    /// Ends it: from here on the entry's files are another's.
    package func end() { isOver.withLock { $0 = true } }

    /// Runs the last work that names files; where it succeeds the right ends with it. Nothing where it has ended. I/O.
    package func end(_ work: () throws(StoreError) -> Void) throws(StoreError) {
        try isOver.withLock { isOver throws(StoreError) in
            if isOver { return }
            try work()
            isOver = true
        }
    }
}
