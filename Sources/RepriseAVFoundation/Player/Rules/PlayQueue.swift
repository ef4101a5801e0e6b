#if canImport(AVFoundation) && !os(watchOS)
    /// The list that a player plays, and where it is in it. A system queue forgets what it has played; this one does not.
    struct PlayQueue {
        struct Entry: Identifiable, Sendable {
            /// The same source may be in the list twice.
            let id: Int
            let source: PlaybackSource
        }

        private(set) var entries: [Entry] = []
        /// Index of the current entry; `nil` in an empty list.
        private(set) var index: Int?
        private var last = 0

        var current: Entry? { index.map { entries[$0] } }
        var hasNext: Bool { index.map { $0 + 1 < entries.count } ?? false }
        var hasPrevious: Bool { index.map { $0 > 0 } ?? false }

        /// Puts `sources` in place of everything; the entry at `start` is the current one.
        mutating func replace(with sources: [PlaybackSource], startingAt start: Int = 0) {
            entries = []
            index = nil
            append(sources)
            index = entries.isEmpty ? nil : min(max(0, start), entries.count - 1)
        }

        /// Adds `sources` at the end; the first of them is the current one where the list was empty.
        mutating func append(_ sources: [PlaybackSource]) {
            for source in sources {
                last += 1
                entries.append(Entry(id: last, source: source))
            }
            if index == nil, !entries.isEmpty { index = 0 }
        }

        /// Moves by `distance` entries; `false` where there are none.
        @discardableResult
        mutating func move(by distance: Int) -> Bool {
            guard let index, entries.indices.contains(index + distance) else { return false }
            self.index = index + distance
            return true
        }

        /// Makes the entry with this id the current one.
        mutating func move(to id: Int) {
            if let found = entries.firstIndex(where: { $0.id == id }) { index = found }
        }

        /// What comes after the current entry, at most `count`; when looping, the current one again.
        func ahead(_ count: Int, isLooping: Bool) -> [Entry] {
            guard let index else { return [] }
            if isLooping { return [entries[index]] }
            return Array(entries[(index + 1)...].prefix(max(0, count)))
        }

        /// Whether the entry may be wanted soon: the current one, the one before it, and `count` after it.
        func isNear(_ id: Int, ahead count: Int) -> Bool {
            guard let index, let found = entries.firstIndex(where: { $0.id == id }) else { return false }
            return found >= index - 1 && found <= index + max(0, count)
        }
    }
#endif
