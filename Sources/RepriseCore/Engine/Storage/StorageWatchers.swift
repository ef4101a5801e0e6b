/// Those to be told of the next change in what is stored or in whether it can be: each once.
struct StorageWatchers {
    private var watchers: [@Sendable () -> Void] = []
    /// Of what bytes were on their way to the disk when it was looked at last.
    private var writing: [RepresentationID] = []

    mutating func add(_ tell: @escaping @Sendable () -> Void) { watchers.append(tell) }

    /// Those to be told now.
    mutating func take() -> [@Sendable () -> Void] {
        guard !watchers.isEmpty else { return [] }
        defer { watchers = [] }
        return watchers
    }

    /// Whether it has to be told of what bytes are on their way to the disk.
    var followsWriting: Bool { !writing.isEmpty || !watchers.isEmpty }

    /// Of what bytes are on their way to the disk; `true` where those of one have ended to be, written or dropped: that is told.
    mutating func writingChanged(_ now: [RepresentationID]) -> Bool {
        defer { writing = now }
        return !writing.allSatisfy(now.contains)
    }
}
