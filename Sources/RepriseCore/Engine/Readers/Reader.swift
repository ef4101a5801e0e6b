import RepriseHTTP
import RepriseRanges

/// One reader of an entry: where it is, what it waits for, and what it was told. What it reads is its `ReaderPhase`.
///
/// Guarantee: its waker is called at most once for each time it was given.
///
/// A reference, its entry's alone and under its lock: it is looked at field by field with every answer from the store, and
/// copying it would cost more than answering.
final class Reader: Identifiable {
    let id: ReaderID
    let caller: Caller
    let priority: TransferPlanner.Priority
    /// Whether what is fetched for it may be stored.
    let mayStore: Bool
    private(set) var answers: ResourceRequest.Answers
    /// What its request asks of a cache (freshness `.http`).
    let cacheControl: RequestCacheControl

    private var phase = ReaderPhase.unbound
    private var interims = InterimAnswers()
    private var waker: (@Sendable () -> Void)?
    private var accounting = HitAccounting()
    /// Its next byte.
    private(set) var position: Int64
    /// `Int64.max` for "to the end".
    private(set) var end: Int64
    /// How its request was handled.
    private(set) var outcome: CacheStatus
    /// The origin has confirmed for it what is stored.
    private(set) var isConfirmed = false
    private(set) var isPaused = false
    /// Whether it waits for bytes, or has not asked yet.
    private(set) var isWaiting = true
    /// Whether the origin refused it what is not needed yet: nothing is asked for it until it stands before a missing byte. So
    /// one that has bytes is told when they end, others are not made to wait, and the origin is not asked again and again until
    /// then.
    private(set) var waitsForNeed = false
    /// Number of the request size it goes on with.
    private(set) var requestIndex: Int
    /// When it began to wait for the bytes it now waits for, in nanoseconds.
    private(set) var waitsSince: Int64
    /// When it last asked, or was told that it may, in nanoseconds.
    private(set) var lastStep: Int64
    /// All that it was handed lies in there; `nil` where it was handed nothing.
    private(set) var handed: ByteRange?
    /// Where what it was handed last begins; `nil` where it has moved since.
    private var handedFrom: Int64?
    /// What it asked for, while it reads all of an answer that has no ranges.
    private var ownRange: (position: Int64, end: Int64)?
    /// Where it began.
    private let begun: Int64
    /// A region was handed to it, so large that it lies in a socket still: what comes after it is wanted once it asks.
    private(set) var holdsRegion = false

    init(
        id: ReaderID, caller: Caller, position: Int64, end: Int64, priority: TransferPlanner.Priority,
        mayStore: Bool = true, answers: ResourceRequest.Answers = .resource,
        cacheControl: RequestCacheControl = RequestCacheControl([:]), outcome: CacheStatus,
        requestIndex: Int = 0, now: Int64
    ) {
        self.id = id
        self.caller = caller
        self.position = position
        begun = position
        self.end = end
        self.priority = priority
        self.mayStore = mayStore
        self.answers = answers
        self.cacheControl = cacheControl
        self.outcome = outcome
        self.requestIndex = requestIndex
        waitsSince = now
        lastStep = now
    }

    // MARK: State

    var fields: HTTPFields { caller.fields }

    /// The bytes that were fetched for it and stay until it has all, as it hands them to no player. `nil` for one that plays.
    /// - Parameter end: Where its representation ends, as far as that is known.
    func kept(before end: Int64?) -> ByteRange? {
        guard priority == .prefetch, position < min(self.end, end ?? .max) else { return nil }
        return ByteRange(min(begun, position), position)
    }

    /// The representation it reads, or read when it failed.
    var representation: RepresentationID? { phase.representation }
    /// Whether it has no representation yet, and goes on.
    var isUnbound: Bool { phase.isUnbound }
    /// Whether it can be given any answer of the origin's, as it tells a client of it; otherwise only bytes of the resource.
    var takesAnyAnswer: Bool { answers != .resource }
    /// Whether it takes any answer, and was told of none yet.
    var awaitsAnyAnswer: Bool { takesAnyAnswer && !isAnnounced && !hasEnded }
    var awaitsValidation: Bool { phase.awaitsValidation }
    var awaitsIndex: Bool { phase.awaitsIndex }
    /// Whether a transfer is to bring it something.
    var isFetchable: Bool { phase.isFetchable }
    /// Whether it was told of its representation; from then on it gets that one's bytes or none.
    var isAnnounced: Bool { phase.isAnnounced }
    /// How it ended, if it did: nothing is fetched for it any more.
    var ending: ReaderEnding? { phase.ending }
    var hasEnded: Bool { ending != nil }
    var failure: CacheError? { phase.failure }
    /// Whether it waits and has not ended.
    var isAwaiting: Bool { isWaiting && !hasEnded }
    /// Whether it is to be called when there is more.
    var isCalled: Bool { waker != nil }
    /// Whether it was handed anything.
    var hasBytes: Bool { handed != nil }
    /// Whether it stands where no resource has a byte; it is told so, and nothing is asked for.
    var isBeyondAnyResource: Bool { position >= ResponseJudge.longestResource }

    // MARK: Its caller's inputs

    /// It was handed bytes; what is to be told of where they came from, `nil` where nothing new is.
    func served(upTo end: Int64, isStored: Bool, holdsRegion: Bool, now: Int64) -> HitAccounting.Result? {
        handedFrom = position
        handed = ByteRange(min(handed?.lowerBound ?? position, position), max(handed?.upperBound ?? end, end))
        position = end
        announce()
        isWaiting = false
        lastStep = now
        waker = nil
        self.holdsRegion = holdsRegion
        // What is only fetched ahead was not served to a player.
        return priority == .prefetch ? nil : accounting.begins(isStored: isStored)
    }

    /// It is to be told when there is more.
    func wait(_ waker: @escaping @Sendable () -> Void, now: Int64) {
        self.waker = waker
        lastStep = now
        holdsRegion = false
        if !isWaiting { waitsSince = now }
        isWaiting = true
    }

    func seek(to position: Int64, end: Int64?, now: Int64) {
        self.position = position
        ownRange = nil
        handedFrom = nil
        if let end { self.end = end }
        holdsRegion = false
        requestIndex = 0
        waitsForNeed = false
        lastStep = now
        // It waits for other bytes from now on.
        waitsSince = now
    }

    /// It is given an answer that has no ranges: all of that.
    func readAll(now: Int64) {
        let own = ownRange ?? (position, end)
        seek(to: 0, end: .max, now: now)
        ownRange = own
    }

    /// It is given the resource, after an answer that has no ranges: what it asked for.
    func readOwnRange(now: Int64) {
        if let (position, end) = ownRange { seek(to: position, end: end, now: now) }
    }

    /// The origin refused it what it does not need yet.
    func waitForNeed() { waitsForNeed = true }

    func stopWaitingForNeed() { waitsForNeed = false }

    /// Bytes that it was handed last were withdrawn from under it. Nothing where it has moved since.
    func putBack(_ range: ByteRange) {
        guard range.upperBound == position, range.lowerBound == handedFrom else { return }
        position = range.lowerBound
        handedFrom = nil
    }

    func setPaused(_ isPaused: Bool) { self.isPaused = isPaused }

    /// It was told what its representation is.
    func announce() { phase.announce() }

    // MARK: Inputs

    /// It goes on with a representation, whatever word on another it waited for.
    func bind(to representation: RepresentationID) { phase.bind(to: representation) }

    /// Its representation cannot be continued: the next answer gives it another, where it was told of none.
    func unbind() { phase.unbind() }

    func awaitValidation() { phase.awaitValidation() }

    func awaitIndex() { phase.awaitIndex() }

    /// The origin has confirmed what is stored, or given something else.
    func confirm() {
        isConfirmed = true
        phase.confirm()
    }

    func handle(as outcome: CacheStatus) { self.outcome = outcome }

    /// Changes what is told of how its request was handled.
    func note(_ change: (inout CacheStatus) -> Void) { change(&outcome) }

    /// It ends with an error. `false` where it has ended already.
    func fail(_ error: CacheError) -> Bool { phase.fail(error) }

    /// Its bytes come from another entry. `false` where it has ended, or was told of this one's representation already.
    func redirect(_ redirect: Redirect) -> Bool { phase.redirect(redirect) }

    /// An interim answer came.
    func receive(interim head: OriginResponseHead) { interims.receive(head) }

    /// The first interim answer that was not told.
    func takeInterim() -> OriginResponseHead? { interims.take() }

    /// Its waker, which is to be called now; `nil` where it has none.
    func takeWaker(now: Int64) -> (@Sendable () -> Void)? {
        guard let waker else { return nil }
        self.waker = nil
        lastStep = now
        return waker
    }

    /// One that takes any answer has waited for long enough: the next is told, whatever it is, and waited for anew. `false` where
    /// that was so before.
    func takeNext(now: Int64) -> Bool {
        guard answers == .any else { return false }
        answers = .next
        restartWait(now: now)
        return true
    }

    /// Time stood still for it, or what it waited for is another's fault.
    func restartWait(now: Int64) {
        waitsSince = now
        lastStep = now
    }

    func resumeRequests(at index: Int) { requestIndex = max(requestIndex, index) }

    // MARK: What is told of its bytes

    /// The byte it is to begin with is not stored.
    func lacksFirstByte() { if !hasBytes { accounting.lacksFirstByte() } }

    /// Something is fetched for it.
    func fetches() { if priority != .prefetch { accounting.fetches() } }

    /// Whether it is to be told now that what was stored is not all it needs.
    func takePartial() -> Bool { priority != .prefetch && accounting.takePartial() }
}
