import RepriseStorage

/// How an entry is used: what it brought, when it was used last, and whether its readers let it be stored.
struct EntryUse {
    /// What the entry has brought since it was made: once it is open, with what its files say.
    private(set) var statistics = EntryStatistics()
    /// Seconds since 1970.
    private(set) var last: Int64 = 0
    /// Whether a reader said that nothing is to be stored for it.
    private(set) var hasUnstored = false

    mutating func readerCame(mayStore: Bool, at wallClock: Int64) {
        last = wallClock
        if !mayStore { hasUnstored = true }
    }

    mutating func served(_ bytes: Int64) { statistics.served += bytes }

    mutating func received(_ bytes: Int64) { statistics.fromOrigin += bytes }

    /// The entry was opened: what its files say is added.
    mutating func opened(_ stored: EntryStatistics) { statistics.add(stored) }
}
