import ReprisePlatform

/// Goes through the entries of a store in small steps, so that what waits behind a step on the janitor waits for little,
/// and keeps what is found.
final class EntryRound<Found: Sendable>: Sendable {
    /// Entries looked at in a step.
    private static var stride: Int { 64 }

    private let names: [String]
    private let look: @Sendable (String) -> Found?
    private let progress = Lock((next: 0, found: [Found]()))

    /// - Parameter look: What is found of the entry with that folder name; `nil` for nothing. I/O.
    init(_ names: [String], look: @escaping @Sendable (String) -> Found?) {
        self.names = names
        self.look = look
    }

    /// Looks at the next entries; all that was found where none is left, `nil` while some are. I/O, by one caller at a time.
    func step() -> [Found]? {
        let start = progress.withLock { $0.next }
        let end = min(start + Self.stride, names.count)
        let found = names[start..<end].compactMap(look)
        return progress.withLock { progress in
            progress.next = end
            progress.found += found
            return end == names.count ? progress.found : nil
        }
    }
}
