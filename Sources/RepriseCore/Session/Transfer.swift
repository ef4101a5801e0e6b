import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// The filling of one gap by one or more requests. Its bytes go into a fill buffer, which outlives it where they are still on
/// their way to the disk.
///
///     idle --send--> asked --head--> streaming --end--> idle --send--> ...
///       ^               \______________/ failure: removed, retried by the next plan
struct Transfer {
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

/// Whom a reader reads for. A reference, as readers are copied often.
final class Caller: Sendable {
    /// The caller's own fields.
    let fields: HTTPFields
    /// The URL they were given for.
    let url: OriginURL

    init(_ fields: HTTPFields, for url: OriginURL) {
        self.fields = fields
        self.url = url
    }
}

/// One reader, as a session knows it.
struct Reader {
    let id: Int
    let caller: Caller
    var position: Int64
    /// `Int64.max` for "to the end".
    var end: Int64
    var priority: TransferPlanner.Priority = .playing
    /// Whether what is fetched for it may be stored.
    var isKept = true
    var representation: Int?
    /// Whether it was told of its representation; from then on it gets that one's bytes or none.
    var isBound = false
    /// What its request asks of a cache (freshness `.http`).
    var demands = RequestCacheControl([:])
    /// Where its bytes come from.
    var provenance = Provenance()
    /// How its request was handled.
    var outcome = CacheStatus(forward: .uriMiss)
    /// Waits for a fresh answer before it may use what is stored.
    var awaitsFreshness = false
    /// The origin has confirmed for it what is stored.
    var isConfirmed = false
    /// Slots are being read to find out whether all it asks for is stored.
    var awaitsSlots = false
    /// The variant it is to be given instead of the representation that was there.
    var variant: Variant?
    var isPaused = false
    var isWaiting = true
    var wake: (@Sendable () -> Void)?
    var failure: CacheError?
    /// Number of the request size it goes on with.
    var requestIndex = 0
    /// When it began to wait for the bytes it now waits for.
    var waitsSince: Int64
    /// When it last asked, or was told that it may.
    var lastStep: Int64
    var hasBytes = false
    /// A region was handed to it, so large that it lies in a socket still: what comes after it is wanted once it asks.
    var holdsRegion = false

    /// The caller's own fields.
    var fields: HTTPFields { caller.fields }

    /// Whether it stands where no resource has a byte; it is told so, and nothing is asked for.
    var isBeyondAnyResource: Bool { position >= ResponseJudge.longestResource }
}
