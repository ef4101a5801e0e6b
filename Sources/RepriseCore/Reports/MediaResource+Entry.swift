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
        let store = try cache.keptStore()
        let answer = await cache.environment.queues.reading {
            Result { () throws(StoreError) in
                let key = try self.chosen(in: store).key
                return (key: key, stored: try store.storedRanges(key: key.text))
            }
        }
        do throws(StoreError) {
            let (key, stored) = try answer.get()
            guard var (info, ranges) = stored else { return nil }
            // What an open entry knows may be ahead of what it has told the disk.
            if let active = cache.table.open(key) {
                info.statistics = info.statistics.latest(active.statistics)
                ranges.formUnion(active.storedRanges)
            }
            return (info, ranges)
        } catch {
            throw CacheError(error)
        }
    }
}
