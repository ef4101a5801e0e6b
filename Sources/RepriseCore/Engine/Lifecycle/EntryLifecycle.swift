import RepriseRanges

/// How far an entry in memory is, and whether who comes is given it.
///
///     closed --reader--> opening --opened--> open --idle--> gone
///        \__________________\__________________\--shutDown--> ending --written--> gone
///
/// Beside it: *listed* --removed, private, gone--> unlisted, once and from any state. Who reads an unlisted one goes on; who
/// comes gets another.
struct EntryLifecycle: Sendable {
    private enum State {
        /// Nothing was asked of the store. May become `opening`, `ending`, `gone`.
        case closed
        /// The store is looking; what it finds may have been invalidated meanwhile. May become `open`, `ending`.
        case opening(isInvalidated: Bool, since: Int64)
        /// May become `ending`, `gone`.
        case open(Readability)
        /// The cache is being closed: no reader, nothing is asked for, what is in memory is still written. May become `gone`.
        case ending
        /// It takes nothing more.
        case gone
    }

    /// Whether the store could say what it has.
    enum Readability {
        case readable
        /// There is an entry that cannot be read now: nothing is stored, as that would replace it.
        case unreadable
        /// It has not answered in time. The same until it does.
        case late(isInvalidated: Bool)
    }

    /// What the table of open resources is to be told.
    enum Departure: Sendable, Hashable {
        /// New readers do not get it any more; those it has go on.
        case unlisted
        /// It holds nothing and takes nothing any more.
        case gone
    }

    /// What the store's answer is worth.
    enum Opened: Sendable, Hashable {
        case asStored
        /// It has to be confirmed before it is used.
        case invalidated
        /// The entry is ending or gone: the answer is dropped.
        case tooLate
    }

    private var state = State.closed
    /// Whether a reader that comes may have it.
    private(set) var isListed = true
    /// The entry was removed: nothing is stored any more, what is open is read on.
    private(set) var isRemoved = false
    /// Since when it has had no reader, in nanoseconds; means nothing while it has one.
    private(set) var idleSince: Int64

    /// Since when something of what is stored cannot be read, in nanoseconds.
    private var unreadableSince: Int64?
    /// Descriptions of its files that are being written.
    private var commits = 0
    private var hasDescribedLast = false

    init(now: Int64) { idleSince = now }

    // MARK: Looking

    var isClosed: Bool { if case .closed = state { true } else { false } }
    var isOpening: Bool { if case .opening = state { true } else { false } }
    /// Since when the store is looking, in nanoseconds.
    var openingSince: Int64? { if case .opening(_, let since) = state { since } else { nil } }
    /// Whether it was opened, and goes on.
    var isOpen: Bool { if case .open = state { true } else { false } }
    var isEnding: Bool { if case .ending = state { true } else { false } }
    var isGone: Bool { if case .gone = state { true } else { false } }
    var isUnreadable: Bool {
        switch state {
        case .open(.unreadable), .open(.late): true
        case .closed, .opening, .open(.readable), .ending, .gone: false
        }
    }
    /// Whether the store has still to answer.
    var isLate: Bool { if case .open(.late) = state { true } else { false } }

    /// Whether readers, if it has any, count for nothing: they have ended with an error.
    var hasEndedReaders: Bool { isEnding || isGone }

    /// Whether the files that its successor would find may be others in a moment.
    var isCommitting: Bool { commits > 0 }

    /// Whether descriptions that could not be written before are tried as it leaves: once, and not again while it is being closed.
    var mayDescribeLast: Bool { !hasDescribedLast && !isEnding }

    /// Whether what could not be read may be by now, so that it is worth opening again.
    func isWorthReopening(now: Int64, after pause: Int64) -> Bool {
        unreadableSince.map { now >= $0.adding(pause) } ?? false
    }

    // MARK: Inputs

    /// What is stored could not be read.
    mutating func couldNotRead(now: Int64) { unreadableSince = unreadableSince ?? now }

    /// A description is about to be written.
    mutating func commitBegan() { commits += 1 }

    /// One was written, or will not be.
    mutating func commitEnded() { commits = max(0, commits - 1) }

    /// It is about to leave, and waits for descriptions that could not be written before.
    mutating func describedLast() { hasDescribedLast = true }

    /// A hung disk is not waited for any longer.
    mutating func forgetCommits() { commits = 0 }

    /// A reader came; `true` where the store has to be asked for the entry.
    mutating func readerCame(now: Int64) -> Bool {
        hasDescribedLast = false
        guard case .closed = state else { return false }
        state = .opening(isInvalidated: false, since: now)
        return true
    }

    /// What is stored was made unusable by a request that changed something.
    mutating func invalidated() {
        switch state {
        case .opening(_, let since): state = .opening(isInvalidated: true, since: since)
        case .open(.late): state = .open(.late(isInvalidated: true))
        case .closed, .open, .ending, .gone: break
        }
    }

    /// The store has not answered in time.
    mutating func openedLate() {
        if case .opening(let isInvalidated, _) = state { state = .open(.late(isInvalidated: isInvalidated)) }
    }

    /// The store has answered when its answer was of no use any more.
    mutating func answeredTooLate() { if isLate { state = .open(.unreadable) } }

    /// The store has answered.
    mutating func opened(_ readability: Readability) -> Opened {
        switch state {
        case .opening(let isInvalidated, _), .open(.late(let isInvalidated)):
            state = .open(readability)
            return isInvalidated ? .invalidated : .asStored
        case .closed, .open, .ending, .gone: return .tooLate
        }
    }

    /// Its last reader left.
    mutating func becameIdle(_ now: Int64) { idleSince = now }

    /// Time stood still until now.
    mutating func restartWait(now: Int64) {
        idleSince = now
        if case .opening(let isInvalidated, _) = state { state = .opening(isInvalidated: isInvalidated, since: now) }
    }

    /// New readers are to get another one; `nil` where they do already.
    mutating func unlist() -> Departure? {
        guard isListed else { return nil }
        isListed = false
        return .unlisted
    }

    /// The entry was removed by its owner.
    mutating func removed() -> Departure? {
        isRemoved = true
        return unlist()
    }

    /// The cache is being closed. The table is not told: a closed cache gives its entries to no reader.
    mutating func shutDown() {
        isListed = false
        if !isGone { state = .ending }
    }

    /// It holds nothing any more; `nil` while the store looks, which ends by `opened`, and where it is gone.
    mutating func left() -> Departure? {
        if isOpening || isGone { return nil }
        isListed = false
        state = .gone
        return .gone
    }
}
