import RepriseHTTP
package import RepriseRanges
package import RepriseStorage

/// What is stored of one resource, for whoever administers a cache. Encodes as JSON with these names; sizes and offsets
/// are bytes, times seconds since 1970.
package struct EntryReport: Codable, Sendable, Hashable {
    /// A stored piece, half-open.
    package struct Piece: Codable, Sendable, Hashable {
        package var start: Int64
        package var end: Int64

        package init(_ range: ByteRange) {
            start = range.lowerBound
            end = range.upperBound
        }
    }

    package var key: String
    /// The newest URL it was filled from, without what follows a question mark: signatures are secrets.
    package var url: String
    package var contentType: String?
    package var length: Int64?
    package var stored: Int64
    package var isComplete: Bool
    package var isPinned: Bool
    package var servesRanges: Bool
    package var entityTag: String?
    package var lastModified: String?
    /// When the origin last confirmed it.
    package var checked: Int64
    /// Bytes handed to readers since the entry was made, bytes that came from origins, and bytes that did not have to.
    package var servedBytes: Int64
    package var originBytes: Int64
    package var savedBytes: Int64
    /// Share of the served bytes that no origin had to send; `nil` before anything was served.
    package var hitRatio: Double?
    /// What went wrong last with it; only where a cache is open that knows.
    package var lastError: LastErrorReport?
    /// What is stored, in order; only where one entry was asked for.
    package var ranges: [Piece]?

    package init(_ info: EntryInfo, ranges: ByteRangeSet? = nil, lastError: LastError? = nil) {
        key = info.key
        url = String(info.url.upTo("?"))
        contentType = info.fields["Content-Type"]
        length = info.length
        let stored = ranges?.count ?? info.stored
        self.stored = stored
        isComplete = info.length.map { stored >= $0 } ?? false
        isPinned = info.isPinned
        servesRanges = info.servesRanges
        entityTag = info.validator.entityTag?.field
        lastModified = info.validator.lastModified
        checked = Freshness.confirmed(info.checked) ?? 0
        servedBytes = info.statistics.served
        originBytes = info.statistics.fromOrigin
        savedBytes = info.statistics.saved
        hitRatio = info.statistics.hitRatio
        self.lastError = lastError.map(LastErrorReport.init)
        self.ranges = ranges?.ranges.map(Piece.init)
    }
}
