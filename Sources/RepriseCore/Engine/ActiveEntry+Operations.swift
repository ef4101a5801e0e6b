import ReprisePlatform
import RepriseRanges
package import RepriseStorage

/// What the cache does to an entry: removing, pinning, evicting, giving its store away.
extension ActiveEntry {
    // MARK: By its owner. I/O.

    /// Removes the entry. Readers go on with what they have open; readers that come later get a new one.
    package func removeEntry() throws(StoreError) {
        guard let store = environment.store else { return }
        try lease.end { () throws(StoreError) in try store.remove(key: key.text) }
        handle(.removed)
    }

    /// Makes a generation that was filled elsewhere the entry's, and lets readers that come later open it. Readers go on with
    /// what they have open. `false` where this entry may not name files any more.
    func replaceEntry(_ info: EntryInfo, _ generation: Generation) throws(StoreError) -> Bool {
        guard let store = environment.store else { throw StoreError(.unavailable, "there is no store") }
        var isDone = false
        try lease.end { () throws(StoreError) in
            try store.adopt(info, generation)
            isDone = true
        }
        handle(.removed)
        return isDone
    }

    /// Has the entry confirmed before it is used again: in memory also where its files cannot be told so.
    package func invalidate() throws(StoreError) {
        defer { handle(.invalidated) }
        // One user's names no files: those are another entry's, which is told by itself.
        if let store = environment.store, !look({ $0.isPrivate }) {
            do throws(StoreError) {
                _ = try lease.use { () throws(StoreError) in
                    try store.setChecked(Freshness.invalidated, key: key.text)
                }
            } catch {
                // The entry is not this one's any more; whose it is, is told by itself.
                if error.code != .gone { throw error }
            }
        }
    }

    /// Pins the entry, or lets it go; `false` where there is none.
    package func setPinned(_ isPinned: Bool) throws(StoreError) -> Bool {
        guard let store = environment.store else { return false }
        let isFound = try lease.use { () throws(StoreError) in try store.setPinned(isPinned, key: key.text) }
        if isFound { handle(.pinned(isPinned)) }
        return isFound
    }

    // MARK: By the housekeeper. I/O.

    /// Removes the entry where no reader or transfer needs it; `false` where one does. Readers that come while it goes read what
    /// was there and store anew.
    func evict() throws(StoreError) -> Bool {
        guard let store = environment.store, answer({ $0.release() }) else { return false }
        try lease.end { () throws(StoreError) in try store.remove(key: key.text) }
        return true
    }

    /// Gives stored bytes back that no reader is near; answers how many. What is leased goes when its leases end.
    func trim(_ wanted: Int64) -> Int64 {
        var freed: Int64 = 0
        for generation in look({ $0.trimmable }) { generation.makePunchable() }
        for (generation, ranges) in look({ $0.reclaimable(wanted) }) {
            for range in ranges {
                let error = Self.message { () throws(FileError) in
                    let left = try generation.discard(range)
                    freed += range.count - left.intersection(range).count
                }
                guard let error else { continue }
                environment.hub.send(.degraded(key: key.text, reason: error))
                break
            }
        }
        if freed > 0 { handle(.trimmed) }
        return freed
    }

    // MARK: By a repair

    /// The generations it has open.
    var openGenerations: [(id: RepresentationID, generation: Generation)] {
        look { $0.openFiles.map { ($0.id, $0.generation) } }
    }

    // MARK: The store is given away and taken back

    /// The root was taken back: looks after the files, which others may have changed. I/O.
    func lookAfter(_ store: Store) {
        let (open, hasLooked) = look { ($0.openFiles, $0.hasOpened) }
        var isLost = false
        do throws(StoreError) {
            // Others may have made the entry that we only had in memory. One that is still to look for its files finds them.
            if hasLooked, !open.contains(where: \.isCommitted) { isLost = try store.hasEntry(key: key.text) }
            for files in open {
                // Until its description has reached the disk, that names what it did before.
                let isSame = try store.stillNames(files.info, files.generation, isCommitted: files.mustBeNamed)
                if let error = Self.message({ () throws(FileError) in try files.generation.startOver() }) {
                    throw StoreError(.unavailable, "looking after an entry", cause: error)
                }
                guard !isSame, files.isCommitted else { continue }
                handle(.filesLeft(files.id, isReadable: true, reason: "its files were removed or replaced meanwhile"))
                isLost = true
            }
        } catch {
            for files in open { handle(.filesLeft(files.id, isReadable: false, reason: error.description)) }
            isLost = true
        }
        if isLost { leaveFiles() }
    }

    /// The root belongs to another process now: readers go on with bytes from the origin.
    func resumeWithoutStore() {
        leaveFiles()
        handle(.resumeWithoutStore)
    }

    /// From now on the entry names no files, and readers that come get another one.
    func leaveFiles() {
        lease.end()
        handle(.removed)
    }
}
