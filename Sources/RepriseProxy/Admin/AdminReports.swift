package import RepriseCore
import RepriseStorage

/// Sums, as the admin listener tells them; sizes are bytes.
package struct SumsReport: Codable, Sendable, Hashable {
    package var servedBytes: Int64
    package var originBytes: Int64
    package var savedBytes: Int64
    package var storedBytes: Int64
    package var originRequests: Int64
    package var readers: Int64
    /// Readers that began with what was stored; of these, readers that needed more; and those that began with nothing.
    package var hits: Int64
    package var partials: Int64
    package var misses: Int64
    package var damagedBlocks: Int64
    /// Share of served bytes that no origin had to send; `nil` before anything was served.
    package var hitRatio: Double?

    package init(_ sums: CacheStatistics) {
        servedBytes = sums.served
        originBytes = sums.fromOrigin
        savedBytes = sums.saved
        storedBytes = sums.stored
        originRequests = sums.originRequests
        readers = sums.readers
        hits = sums.hits
        partials = sums.partials
        misses = sums.misses
        damagedBlocks = sums.damagedBlocks
        hitRatio = sums.hitRatio
    }
}

/// Sums since a store was made: the names of `SumsReport`, and `since`.
@dynamicMemberLookup
package struct StoreStatisticsReport: Codable, Sendable, Hashable {
    package let sums: SumsReport
    /// When counting began, in seconds since 1970.
    package let since: Int64

    private enum Name: CodingKey { case since }

    package init(_ statistics: StoreStatistics) {
        sums = SumsReport(statistics.sums)
        since = statistics.since
    }

    package init(from decoder: any Decoder) throws {
        sums = try SumsReport(from: decoder)
        since = try decoder.container(keyedBy: Name.self).decode(Int64.self, forKey: .since)
    }

    package func encode(to encoder: any Encoder) throws {
        try sums.encode(to: encoder)
        var container = encoder.container(keyedBy: Name.self)
        try container.encode(since, forKey: .since)
    }

    package subscript<Value>(dynamicMember path: KeyPath<SumsReport, Value>) -> Value { sums[keyPath: path] }
}

/// Sums of a cache since it was opened, as the admin listener tells them: the names of `SumsReport`, and what is there
/// now.
@dynamicMemberLookup
package struct StatisticsReport: Codable, Sendable, Hashable {
    package let sums: SumsReport
    package let now: Now

    /// What stands beside the sums.
    package struct Now: Codable, Sendable, Hashable {
        /// Client connections of the media listener now; `nil` where there is none.
        package var connections: Int?
        /// What was stored when the cache was opened; `nil` until it has been added up.
        package var entriesAtOpening: Int?
        package var bytesAtOpening: Int64?
        /// The sums over all restarts.
        package var total: StoreStatisticsReport
    }

    package init(_ sums: CacheStatistics, total: StoreStatistics, connections: Int?, usage: StoreUsage?) {
        self.sums = SumsReport(sums)
        now = Now(
            connections: connections, entriesAtOpening: usage?.entries, bytesAtOpening: usage?.stored,
            total: StoreStatisticsReport(total))
    }

    package init(from decoder: any Decoder) throws {
        sums = try SumsReport(from: decoder)
        now = try Now(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        try sums.encode(to: encoder)
        try now.encode(to: encoder)
    }

    package subscript<Value>(dynamicMember path: KeyPath<SumsReport, Value>) -> Value { sums[keyPath: path] }
    package subscript<Value>(dynamicMember path: KeyPath<Now, Value>) -> Value { now[keyPath: path] }
}

/// A fetch ahead, as the admin listener tells it; sizes are bytes.
package struct PrefetchReport: Codable, Sendable, Hashable {
    package var id: Int
    /// What is fetched, without what follows a question mark.
    package var url: String
    /// Bytes of what was asked for that are stored, in one run from its start.
    package var stored: Int64
    /// Bytes asked for; `nil` while the length is not known.
    package var expected: Int64?
    package var isComplete: Bool
    package var hasEnded: Bool
    /// Why it ended before it was done.
    package var failure: String?

    package init(id: Int, url: String, _ prefetch: Prefetch) {
        let progress = prefetch.progress
        self.id = id
        self.url = url
        stored = progress.stored
        expected = progress.expected
        hasEnded = prefetch.hasEnded
        isComplete = hasEnded && progress.failure == nil
        failure = progress.failure?.message
    }
}

/// How much space the store takes and may take, as the admin listener tells it; sizes are bytes, times seconds.
package struct SpaceReport: Codable, Sendable, Hashable {
    /// What it takes on its volume.
    package var allocated: Int64
    /// `nil` where there is no limit.
    package var limit: Int64?
    package var maxAge: Int64?
    package var minFree: Int64?

    package init(_ cache: MediaCache) {
        let limits = cache.limits
        allocated = cache.allocatedBytes
        limit = limits.bytes
        maxAge = limits.age?.components.seconds
        minFree = limits.freeSpace
    }
}
