import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// The filling of one gap by one or more requests.
///
///     idle --send--> asked --head--> streaming --end--> idle --send--> ...
///       ^               \______________/ failure: removed, retried by the next plan
///     finished: no more requests; stays until its window is on disk
struct Transfer {
    struct Request {
        /// Tells events of this request from those of earlier ones.
        let serial: Int
        let url: OriginURL
        /// The host whose place it holds.
        let origin: String
        /// The caller's own fields it was sent with: they decide whether others may have the answer.
        var callerFields: HTTPFields
        /// The bytes asked for; `nil` where no `Range` was sent.
        var asked: ByteRange?
        var sentAt: Int64
        var hasHead = false
        var exchange: (any OriginExchange)?
        /// A piece was asked for and has not come.
        var isDemanding = false
        /// A piece was asked for before the exchange was there to be told.
        var owesDemand = false
        /// Offset of the next byte of the body.
        var position: Int64 = 0
        /// Where the body ends by its own word.
        var end: Int64?
        /// Stored bytes just before the fill, which the answer must repeat.
        var overlap: ArraySlice<UInt8> = []
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
    /// Offset at which it began.
    var start: Int64
    var window: LiveWindow
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
    var writer: FillWriter?
    var isWriting = false
    /// No more requests: it only waits for its window to be written.
    var isFinished = false
    /// Another transfer began where its window ended.
    var isFollowed = false
    /// Waits for a place at the host.
    var isQueued = false
    /// Stored bytes are being read for an overlap.
    var isPreparing = false
    var overlap: ArraySlice<UInt8>?
    /// The origin was seen to have the stored bytes; once a transfer is enough.
    var isChecked = false
    /// An entity tag alone differed: this request finds out by an overlap whether the bytes do.
    var isTrial = false
    /// And that dates differ counts as little: another host answers.
    var isTrialElsewhere = false

    /// Nothing more comes for now: what it brought of a block is all there is.
    var isAtRest: Bool { request == nil || isFinished || pausedSince != nil || isFollowed }

    init(id: Int, representation: Int?, start: Int64, requestIndex: Int, now: Int64) {
        self.id = id
        self.representation = representation
        self.start = start
        window = LiveWindow(at: start)
        self.requestIndex = requestIndex
        lastProgress = now
    }
}

/// One reader, as a session knows it.
struct Reader {
    let id: Int
    /// The caller's own fields.
    let fields: HTTPFields
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
}
