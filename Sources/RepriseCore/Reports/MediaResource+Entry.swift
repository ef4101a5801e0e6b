import ReprisePlatform
package import RepriseRanges
public import RepriseStorage

extension MediaResource {
    /// What its entry has brought since it was made; `nil` where nothing is stored.
    /// - Throws: `CacheError` with `.store` where that cannot be read now.
    public func statistics() async throws(CacheError) -> EntryStatistics? { try await storedEntry()?.info.statistics }

    /// What is stored of it, and where: reads the entry's description and all its slots, on the read pool; `nil` where
    /// nothing is stored.
    /// - Throws: `CacheError` with `.store` where that cannot be read now.
    package func storedEntry() async throws(CacheError) -> (info: EntryInfo, ranges: ByteRangeSet)? {
        let (cache, key) = (cache, request.key)
        let store = try cache.keptStore()
        let answer = await cache.environment.queues.reading {
            Result { () throws(StoreError) in try store.storedRanges(key: key.text) }
        }
        do throws(StoreError) {
            guard var (info, ranges) = try answer.get() else { return nil }
            if let active = cache.table.open(key) {
                info.statistics = info.statistics.latest(active.statistics)
            }
            // What an open entry knows may be ahead of what it has told the disk.
            ranges.formUnion(storedRanges())
            return (info, ranges)
        } catch {
            throw CacheError(error)
        }
    }
}
