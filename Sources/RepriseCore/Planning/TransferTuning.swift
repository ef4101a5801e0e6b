import RepriseRanges

/// The constants of reading and filling, each with where it comes from. `docs/constants.md` has the table of
/// measurements that tunes them. Times are nanoseconds, sizes bytes.
package struct TransferTuning: Sendable, Hashable {
    package static let second: Int64 = 1_000_000_000
    package static let millisecond: Int64 = 1_000_000

    /// Size of the first request after a seek: closed and small, so that a player that only looks wastes little and
    /// the connection survives. (Design; Chromium asks for as much before it knows more.)
    package var firstRequest: Int64 = 256 * 1024
    /// Each further request of a transfer is so many times larger.
    package var requestGrowth: Int64 = 4
    /// After so many requests the next runs to the gap's end.
    package var boundedRequests = 3
    /// How far past a reader's position bytes are fetched. With the socket buffers below it this bounds what an
    /// abandoned reader costs.
    package var readAhead: Int64 = 384 * 1024
    /// More than this is handed out at once only to sockets, which hold what their client has not read: such a reader
    /// wants what follows when it asks again, not before. (Doors that copy take at most as much.)
    package var largestCopy: Int64 = 256 * 1024
    /// Stored bytes behind a reader that stay where space is wanted: small jumps back, and what players read twice.
    package var spareBehind: Int64 = 1 << 20
    /// Stored bytes ahead of a reader that stay: they are on their way to it.
    package var spareAhead: Int64 = 4 << 20
    /// Most bytes of one transfer in memory.
    package var windowLimit: Int64 = 1 << 20
    /// Most bytes of all entries that wait for the disk; beyond it nothing new is stored. (Two seconds of a disk that writes
    /// 32 MB/s, and a small part of what a phone gives an app.)
    package var unwrittenLimit: Int64 = 64 << 20
    /// A call to the disk that takes so long counts as failed: playback goes on without the store. (A disk that was asleep takes
    /// up to three seconds to turn.)
    package var diskTimeout: Int64 = 5 * second
    /// The same while a call is known to hang for longer than that already: no second reader waits as long for the same disk.
    package var hungDiskTimeout: Int64 = second
    /// For so long after it was noticed: a disk that sleeps since may take its time to turn.
    package var hungDiskMemory: Int64 = 30 * second
    /// Before a host's rate is known a transfer is joined if it is at most so far behind.
    package var joinDistance: Int64 = 256 * 1024
    /// Never less than this: a little wait is better than a connection.
    package var leastReach: Int64 = 32 * 1024
    /// A connection's rate is noted over spells of at least this time.
    package var measureInterval: Int64 = 50 * millisecond
    /// Slack added to the host's first-byte time when joining is weighed against starting.
    package var joinSlack: Int64 = 50 * millisecond
    /// A reader that starts within so many bytes of where another ended, not long ago, goes on with its request size.
    package var inheritDistance: Int64 = 64 * 1024
    package var inheritTime: Int64 = 10 * second
    /// A transfer without readers takes so many bytes more, about what socket buffers hold, and stops; in any case
    /// after this time. Closing at once would throw away bytes that were paid for. (Measured with `reprise demo`.)
    package var windDown: Int64 = 128 * 1024
    package var unwantedStop: Int64 = second
    /// An origin without ranges has to begin at 0 again, so its transfer waits longer.
    package var unwantedStopSequential: Int64 = 30 * second
    /// A transfer that is wanted but ahead of its readers keeps its connection so long.
    package var pausedStop: Int64 = 5 * second
    /// A transfer that has taken nothing for so long gives its connection slot to one that is waited for. (A player that
    /// plays takes something far more often.)
    package var yieldAfter: Int64 = second
    /// An origin that answered a range with everything is asked for one again after this time, with the next transfer.
    package var rangeRetry: Int64 = 60 * second
    /// Requests under way at once, a resource and a host. (Browsers: 6 a host.)
    package var requestsPerResource = 4
    package var requestsPerHost = 6
    /// A transfer that gives nothing for so long loses its gap to a reader that waits for it.
    package var takeover: Int64 = 2 * second
    /// A transfer that brings what a reader wants is not stopped for another reader of the same priority before.
    package var leastTurn: Int64 = 2 * second
    /// No answer's head within this time counts as a failure.
    package var headTimeout: Int64 = 30 * second
    /// The most for that where another origin can be asked.
    package var nextOriginTimeout: Int64 = 5 * second
    /// The same, as it is: an origin that others stand beside is not waited for longer than one that stands alone.
    package var oneOfSeveralTimeout: Int64 { min(nextOriginTimeout, headTimeout) }
    /// Asked for a piece and given none for so long, a request counts as failed. Runs only while a piece is asked for.
    package var stallTimeout: Int64 = 10 * second
    /// First pause before a retry; doubled each time up to the longest.
    package var firstRetry: Int64 = 100 * millisecond
    package var longestRetry: Int64 = 4 * second
    /// A reader that has nothing yet gets its error sooner: a player at its start had better know.
    package var openDeadline: Int64 = 2 * second
    /// Without progress for so long, readers get an error. Stated in the documentation of `CacheReader`.
    package var retryDeadline: Int64 = 20 * second
    /// A reader that stood still so long does not pace a transfer that cannot be stored.
    package var detachAfter: Int64 = second
    /// Largest overlap with stored bytes that is asked for again where there is no validator.
    package var overlap: Int64 = 4096
    /// Most bytes that are withheld from readers until stored bytes elsewhere have shown that they are of the same version: half
    /// a second at 1 Mbit/s.
    package var withheld: Int64 = 64 * 1024
    /// Stored bytes are verified in pieces of about this size: small enough for a quick first byte, large enough that
    /// the hop to the read pool does not count (XXH64 takes 13 microseconds for as much).
    package var verifyStep: Int64 = 128 * 1024
    /// Written bytes are synced this often while filling.
    package var syncInterval: Int64 = 5 * second
    /// Bytes wait so long in their window for room in the store; then they pass through. (Short of what players notice.)
    package var spaceTimeout: Int64 = 250 * millisecond
    /// First pause before a disk that took nothing is tried again; doubled each time up to the longest.
    package var firstStoreRetry: Int64 = second
    package var longestStoreRetry: Int64 = 60 * second
    /// An entry nobody reads is closed after this time.
    package var idleClose: Int64 = 30 * second
    /// Entries nobody reads that stay open, at most; `nil` for an eighth of the descriptors the process may have.
    package var mostIdle: Int?

    package init() {}

    /// The size of a transfer's request number `index`, counted from 0; `Int64.max` for "to the gap's end".
    package func requestSize(_ index: Int) -> Int64 {
        guard index < boundedRequests else { return .max }
        return (0..<index).reduce(firstRequest) { size, _ in size.multiplied(by: requestGrowth) }
    }
}
