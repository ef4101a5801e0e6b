import RepriseHTTP
import RepriseRanges

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

/// One reader, as a session knows it; its session's alone, under its lock. A reference, as it is looked at field by field with
/// every answer from the store, and copying it would cost more than answering.
final class Reader: Identifiable {
    let id: Int
    let caller: Caller
    var position: Int64
    /// `Int64.max` for "to the end".
    var end: Int64
    let priority: TransferPlanner.Priority
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

    init(
        id: Int, caller: Caller, position: Int64, end: Int64, priority: TransferPlanner.Priority, now: Int64
    ) {
        self.id = id
        self.caller = caller
        self.position = position
        self.end = end
        self.priority = priority
        waitsSince = now
        lastStep = now
    }

    /// The caller's own fields.
    var fields: HTTPFields { caller.fields }

    /// It was handed bytes.
    func served(upTo end: Int64, _ now: Int64) {
        position = end
        hasBytes = true
        isBound = true
        isWaiting = false
        lastStep = now
        wake = nil
    }

    /// It is to be told when there is more.
    func waits(_ wake: @escaping @Sendable () -> Void, _ now: Int64) {
        self.wake = wake
        lastStep = now
        holdsRegion = false
        if !isWaiting { waitsSince = now }
        isWaiting = true
    }

    /// Whether it stands where no resource has a byte; it is told so, and nothing is asked for.
    var isBeyondAnyResource: Bool { position >= ResponseJudge.longestResource }
}
