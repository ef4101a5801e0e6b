import RepriseHTTP

/// What the index has of one entry.
package struct IndexedEntry: Sendable, Hashable {
    /// What it takes and how it was used; all its files count, and its folder.
    package var use: StoredUse
    /// The resource key; `nil` where a folder has no description: a process that was killed left it, or another program made it.
    package var key: String?
    /// The origin's `Content-Type`.
    package var contentType: String?
    /// The random identity of the generation that the description names.
    package var identity: UInt64 = 0
    /// When the origin last confirmed it, in seconds since 1970.
    package var checked: Int64 = 0
    /// Bytes stored.
    package var stored: Int64 = 0
    /// What it has brought.
    package var statistics = EntryStatistics()

    /// Name of the entry's folder.
    package var name: String { use.name }

    /// A folder without a description.
    init(_ use: StoredUse) { self.use = use }

    /// By its files.
    init(_ use: StoredUse, _ info: EntryInfo, _ summary: EntrySummary) {
        self.use = use
        self.use.isPinned = info.isPinned
        self.use.length = summary.length ?? info.length
        key = info.key
        contentType = info.fields["Content-Type"]
        identity = info.identity
        checked = info.checked
        stored = summary.stored
        statistics = summary.statistics
    }

    /// By the index.
    init(_ name: EntryName, _ description: IndexRecord.Description, _ use: IndexRecord.Use) {
        self.use = StoredUse(
            name: name.folder, lastUse: use.lastUse, logUseCount: Int(use.logUseCount), isPinned: description.isPinned,
            allocated: use.allocated, length: description.length ?? use.length)
        key = description.key
        contentType = description.contentType
        identity = description.identity
        checked = description.checked
        stored = use.stored
        statistics = use.statistics
    }
}
