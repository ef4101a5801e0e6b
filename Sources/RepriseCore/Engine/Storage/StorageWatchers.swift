/// Those to be told of the next change in what is stored or in whether it can be: each once.
struct StorageWatchers {
    private var watchers: [@Sendable () -> Void] = []
    /// Whether bytes were on their way to the disk when it was looked at last.
    private var wasWriting = false

    mutating func add(_ tell: @escaping @Sendable () -> Void) { watchers.append(tell) }

    /// Those to be told now.
    mutating func take() -> [@Sendable () -> Void] {
        guard !watchers.isEmpty else { return [] }
        defer { watchers = [] }
        return watchers
    }

    /// Whether it has to be told whether bytes are on their way to the disk.
    var followsWriting: Bool { wasWriting || !watchers.isEmpty }

    /// Whether bytes are on their way to the disk; `true` where they have ended to be, written or dropped: that is told.
    mutating func writingChanged(_ isWriting: Bool) -> Bool {
        defer { wasWriting = isWriting }
        return wasWriting && !isWriting
    }
}
