/// What a cache counted, and what of it the store's file has. No clock, no I/O.
///
/// The file is read before it is written: between two writes another process may have had the store and counted, too.
package struct CumulativeStatistics: Sendable {
    /// Of what was counted since the cache was opened, what the file has.
    private var written = CacheStatistics()
    /// What the file said when it was last read or written.
    private var file: StoreStatistics

    /// - Parameter time: Now, in seconds since 1970: when counting begins where there is no file.
    package init(at time: Int64) { file = StoreStatistics(sums: CacheStatistics(), since: time) }

    /// The file was read; `nil` where there is none, or none that is whole. What of ours was in it is gone then.
    package mutating func read(_ sums: [String: Int64]?, at time: Int64) {
        if let sums { return file = StoreStatistics(named: sums) }
        // Where none was ever seen nothing was lost: counting began with the cache.
        let isFirst = file.sums == CacheStatistics() && written == CacheStatistics()
        file = StoreStatistics(sums: CacheStatistics(), since: isFirst ? file.since : time)
    }

    /// Everything, where `now` was counted since the cache was opened.
    package func total(_ now: CacheStatistics) -> StoreStatistics {
        StoreStatistics(sums: file.sums.adding(now.since(written)), since: file.since)
    }

    /// What the file has to say; `nil` where it says it.
    package func due(_ now: CacheStatistics) -> [String: Int64]? { now == written ? nil : total(now).named }

    /// The file says what was due.
    package mutating func wrote(_ now: CacheStatistics) {
        file = total(now)
        written = now
    }
}
