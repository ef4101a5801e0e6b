import RepriseHTTP

/// What the index has of one entry.
package struct IndexedEntry: Sendable, Hashable {
    /// Name of the entry's folder.
    package var name: String
    /// The resource key; `nil` where a folder has no description: a process that was killed left it, or another program made it.
    package var key: String?
    /// The origin's `Content-Type`.
    package var contentType: String?
    /// The random identity of the generation that the description names.
    package var identity: UInt64 = 0
    /// Whether the description says that it is pinned.
    package var isPinned = false
    /// When the origin last confirmed it, in seconds since 1970.
    package var checked: Int64 = 0
    /// Length of the representation in bytes, `nil` while unknown.
    package var length: Int64?
    /// Bytes stored.
    package var stored: Int64 = 0
    /// Bytes that the entry's files and its folder take on the volume.
    package var allocated: Int64 = 0
    /// When it was last used, in seconds since 1970.
    package var lastUse: Int64 = 0
    /// How often it was used, as the logarithm to base 2.
    package var logUseCount = 0
    /// What it has brought.
    package var statistics = EntryStatistics()

    /// What an eviction policy is told.
    package var use: StoredUse {
        StoredUse(
            name: name, lastUse: lastUse, logUseCount: logUseCount, isPinned: isPinned, allocated: allocated,
            length: length)
    }

    init(_ use: StoredUse) {
        name = use.name
        isPinned = use.isPinned
        length = use.length
        allocated = use.allocated
        lastUse = use.lastUse
        logUseCount = use.logUseCount
    }

    init(_ name: EntryName, _ description: IndexRecord.Description, _ use: IndexRecord.Use) {
        self.name = name.folder
        key = description.key
        contentType = description.contentType
        identity = description.identity
        isPinned = description.isPinned
        checked = description.checked
        length = description.length ?? use.length
        stored = use.stored
        allocated = use.allocated
        lastUse = use.lastUse
        logUseCount = Int(use.logUseCount)
        statistics = use.statistics
    }
}
