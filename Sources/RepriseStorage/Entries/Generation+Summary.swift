import ReprisePlatform
import RepriseRanges

extension Generation {
    /// Rewrites the summary in the slots file's header, with what the volume says is allocated. I/O.
    /// - Returns: What was written, and the bytes that the entry takes with its other files and its folder; `nil` where these files have
    ///   no names any more.
    func write(_ summary: EntrySummary) throws(FileError) -> (summary: EntrySummary, allocated: Int64)? {
        var summary = summary
        // Before it is asked what is allocated: what changes from here on is not told.
        state.withLock { $0.isUntold = false }
        do throws(FileError) {
            summary.allocated = try body.status().allocated
            try blocks.write(summary.encoded, at: BlocksHeader.summaryOffset)
            if summary.statistics != EntryStatistics() {
                try blocks.write(summary.statistics.encoded, at: EntryStatistics.headerOffset)
            }
        } catch {
            state.withLock { $0.isUntold = true }
            throw error
        }
        let status = try blocks.status()
        guard status.links > 0 else { return nil }
        return (summary, summary.allocated.adding(status.allocated).adding(Quota.describedCost))
    }
}
