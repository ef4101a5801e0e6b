import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// The filling of one gap by one or more requests. Its bytes go into a fill buffer, which outlives it where they are still on
/// their way to the disk.
///
///     idle --send--> asked --head--> streaming --end--> idle --send--> ...
///       ^               \______________/ failure: removed, retried by the next plan
struct Transfer: Identifiable {
    struct Request {
        /// Tells events of this request from those of earlier ones.
        let serial: Int
        let url: OriginURL
        /// The host whose connection slot it holds.
        let origin: String
        /// The reader whose fields it carries: what is not to be shared belongs to that one alone. `nil` where nobody waits for it.
        let requester: Int?
        /// The fields of that reader's caller.
        let callerFields: HTTPFields
        /// The bytes asked for; `nil` where no `Range` was sent.
        var asked: ByteRange?
        /// Whether it carried `If-Range`.
        var isConditional = false
        var sentAt: Int64
        var hasHead = false
        var exchange: (any OriginExchange)?
        /// A chunk was asked for and has not come.
        var isDemanding = false
        /// A chunk was asked for before the exchange was there to be told.
        var owesDemand = false
        /// Offset of the next byte of the body.
        var position: Int64 = 0
        /// Where the body ends by its own word.
        var end: Int64?
        /// The length of the whole by its own word: the representation's once the bytes are known to be its.
        var announcedLength: Int64?
        /// Bytes of the body so far.
        var bodyBytes: Int64 = 0
        /// Bytes received since `measuredFrom`, for the host's rate.
        var received: Int64 = 0
        var measuredFrom: Int64 = 0
        /// Asks only for stored bytes, to compare them.
        var isCheck = false
        /// Asks only whether the stored representation is still good.
        var isRevalidation = false
    }

    let id: Int
    /// `nil` until the first answer shows one.
    var representation: Int?
    /// Offset at which it begins to fill.
    var start: Int64
    /// Where its bytes go; `nil` before the first one.
    var buffer: BufferID?
    var request: Request?
    /// Number of the next request, for its size.
    var requestIndex: Int
    /// Where the last request began and how much it asked for.
    var lastAsked = ByteRange(0, 0)
    /// Readers it runs for, and how far.
    var readers: [Int] = []
    var goal: Int64 = 0
    var pausedSince: Int64?
    /// When it lost its last reader, and where it stood.
    var unwanted: TransferPlanner.Unwanted?
    var lastProgress: Int64
    /// Whether it brings everything from 0 because the origin serves no ranges.
    var isSequential = false
    /// Waits for a connection slot of the host.
    var isQueued = false
    /// How it makes sure that it goes on with the same representation.
    var continuation: RangeContinuation

    init(
        id: Int, representation: Int?, start: Int64, requestIndex: Int, continuation: RangeContinuation, now: Int64
    ) {
        self.id = id
        self.representation = representation
        self.start = start
        self.requestIndex = requestIndex
        self.continuation = continuation
        lastProgress = now
    }
}
