import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Who reads an open resource now, and what is being fetched for them. Encodes as JSON with these names; offsets and
/// sizes are bytes.
package struct ResourceReport: Codable, Sendable, Hashable {
    /// One reader: a client's answer, a player's request, a fetch.
    package struct Reader: Codable, Sendable, Hashable {
        package var position: Int64
        /// `nil` for "to the end".
        package var end: Int64?
        package var isWaiting: Bool
        package var isFetch: Bool
    }

    /// One transfer from the origin.
    package struct Transfer: Codable, Sendable, Hashable {
        /// Offset at which it began.
        package var start: Int64
        /// Offset of the next byte from the origin.
        package var position: Int64
        /// Bytes held in memory.
        package var window: Int64
        /// Readers it runs for.
        package var readers: Int
        package var isPaused: Bool
    }

    package var key: String
    package var length: Int64?
    package var stored: Int64
    package var readers: [Reader]
    package var transfers: [Transfer]
    /// Bytes handed to readers since the entry was made, and bytes that came from origins.
    package var servedBytes: Int64
    package var originBytes: Int64
    /// What went wrong last with it since the cache was opened.
    package var lastError: LastErrorReport?
}

extension ResourceSession {
    /// What goes on now.
    package var report: ResourceReport {
        state.withLock { state in
            let current = state.current.flatMap { state.representations[$0] }
            return ResourceReport(
                key: key.text, length: current?.info.length, stored: current?.generation?.claimed.count ?? 0,
                readers: state.readers.map { reader in
                    ResourceReport.Reader(
                        position: reader.position, end: reader.end == .max ? nil : reader.end,
                        isWaiting: reader.isWaiting, isFetch: reader.priority == .prefetch)
                },
                transfers: state.transfers.map { transfer in
                    ResourceReport.Transfer(
                        start: transfer.start, position: state.head(of: transfer),
                        window: transfer.buffer.flatMap { state.buffers[$0]?.bytesInMemory } ?? 0,
                        readers: transfer.readers.count,
                        isPaused: transfer.pausedSince != nil)
                }, servedBytes: state.sums.served, originBytes: state.sums.fromOrigin,
                lastError: environment.hub.lastError(of: key.text).map(LastErrorReport.init))
        }
    }
}

extension MediaCache {
    /// What goes on in every open resource, by key.
    package var resourceReports: [ResourceReport] { openSessions.map(\.report) }
}
