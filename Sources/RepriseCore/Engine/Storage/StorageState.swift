import RepriseRanges
import RepriseStorage

/// Whether, where and since when the bytes of one representation are stored.
///
///     undecided --ask--> awaitingAdmission
///     undecided, awaitingAdmission --create--> creating --created--> storing --spaceNeeded--> waitingForSpace --spaceFound--> storing
///         |                     |                    |  \                       |
///         |                     | failed             |   \__ filesLost --> creating
///         | decline             v                    | fail, decline, leave    | fail
///         +-------------------> off <----------------+-------------------------+
///                                |__ retry: creating, or storing where its files are there
///
///     creating, storing, waitingForSpace, off --silence--> silent --answered--> off
///
/// All of it is one value: what is stored, what can be read, what is waited for and when storing is tried again cannot
/// disagree. The router passes on every change (`destination`, `isSettled`) to buffers and waiting readers.
struct StorageState {
    /// Why nothing is stored.
    enum Refusal: Sendable, Hashable {
        /// It is not to be stored at all: what it is, whose it is, or what the caller said of the store.
        case notStorable
        /// All who read it said that nothing is to be stored for them.
        case declined
        /// The disk or the quota refused; tried again.
        case failed
        /// Its files were removed, or belong to another process.
        case left
    }

    /// When storing is tried again after a failure.
    struct Backoff: Sendable, Hashable {
        /// Nanoseconds.
        var at: Int64
        var pause: Int64
    }

    private enum State {
        case undecided
        /// Whether it may be stored is asked.
        case awaitingAdmission
        /// Its files are being made; where that fails, bytes can be read of those it had before.
        case creating(before: Generation?, since: Int64)
        case storing(Generation)
        case waitingForSpace(Generation, since: Int64)
        case off(Generation?, Refusal)
        /// The disk does not answer: until it does, its files can be neither read nor written. Then it is off.
        case silent(Generation?, Refusal, LateCall)
    }

    /// What the disk does not answer.
    enum LateCall: Sendable, Hashable {
        /// Its files are still being made.
        case making
        case other
    }

    private var state: State
    /// A run of failures, until storing has lasted.
    private var backoff: Backoff?

    private init(_ state: State) { self.state = state }

    static var undecided: StorageState { StorageState(.undecided) }
    static func off(_ refusal: Refusal) -> StorageState { StorageState(.off(nil, refusal)) }
    static func storing(in generation: Generation) -> StorageState { StorageState(.storing(generation)) }

    // MARK: State

    /// The files its bytes can be read from.
    var generation: Generation? {
        switch state {
        case .storing(let generation), .waitingForSpace(let generation, _): generation
        case .off(let generation, _): generation
        case .creating, .undecided, .awaitingAdmission, .silent: nil
        }
    }

    /// The files it has, whether or not they can be read now.
    var files: Generation? { if case .silent(let files, _, _) = state { files } else { generation } }

    /// The files its bytes are stored in.
    var target: Generation? {
        switch state {
        case .storing(let generation), .waitingForSpace(let generation, _): generation
        case .undecided, .awaitingAdmission, .creating, .off, .silent: nil
        }
    }

    /// The files bytes may be written to now.
    var writable: Generation? { if case .storing(let generation) = state { generation } else { nil } }

    /// The files whose bytes can be read, or may be again.
    var heldFiles: Generation? { if case .creating(let before, _) = state { before } else { files } }

    /// Whether it is not known yet whether it will be stored.
    var isUndecided: Bool {
        switch state {
        case .undecided, .awaitingAdmission: true
        case .creating, .storing, .waitingForSpace, .off, .silent: false
        }
    }
    /// Whether it is being asked about, or its files are being made: its bytes wait for that.
    var isPending: Bool {
        switch state {
        case .awaitingAdmission, .creating: true
        case .undecided, .storing, .waitingForSpace, .off, .silent: false
        }
    }
    var awaitsAdmission: Bool { if case .awaitingAdmission = state { true } else { false } }
    var isCreating: Bool { if case .creating = state { true } else { false } }
    /// Whether its files are being made, however long that takes.
    var awaitsFiles: Bool {
        switch state {
        case .creating, .silent(_, _, .making): true
        case .undecided, .awaitingAdmission, .storing, .waitingForSpace, .off, .silent: false
        }
    }
    /// Since when its files are being made, in nanoseconds.
    var creatingSince: Int64? { if case .creating(_, let since) = state { since } else { nil } }
    /// Whether its bytes go to readers only.
    var isOff: Bool {
        switch state {
        case .off, .silent: true
        case .undecided, .awaitingAdmission, .creating, .storing, .waitingForSpace: false
        }
    }
    /// Whether a call to its files is awaited for too long.
    var isSilent: Bool { if case .silent = state { true } else { false } }
    /// Why nothing is stored; `nil` where something is, or will be.
    var refusal: Refusal? { if case .off(_, let refusal) = state { refusal } else { nil } }
    /// Whether it is known where the bytes go.
    var isSettled: Bool { !isUndecided && !isCreating }
    /// Since when it waits for space, in nanoseconds.
    var waitsForSpaceSince: Int64? { if case .waitingForSpace(_, let since) = state { since } else { nil } }
    /// Whether it is the first failure of a run.
    var isFirstFailure: Bool { backoff == nil }

    /// Whether storing is to be tried again now.
    func isRetryDue(_ now: Int64) -> Bool {
        guard case .off(_, .failed) = state, let backoff else { return false }
        return now >= backoff.at
    }

    /// When storing is to be tried again, in nanoseconds.
    var retryAt: Int64? { if case .off(_, .failed) = state { backoff?.at } else { nil } }

    /// Where bytes go; two states with equal destinations are the same to all others.
    var destination: Destination {
        switch state {
        case .undecided, .awaitingAdmission, .creating: .undecided
        case .storing(let generation), .waitingForSpace(let generation, _): .files(ObjectIdentifier(generation))
        case .off, .silent: .nowhere
        }
    }

    enum Destination: Hashable { case undecided, files(ObjectIdentifier), nowhere }

    // MARK: Inputs

    /// Whether it may be stored is asked.
    mutating func awaitAdmission() { if case .undecided = state { state = .awaitingAdmission } }

    /// Its files are to be made.
    mutating func create(now: Int64) { state = .creating(before: files, since: now) }

    /// Its files are there.
    mutating func created(_ generation: Generation) {
        guard isCreating else { return }
        state = .storing(generation)
    }

    /// It is not to be stored. What is stored of it can still be read.
    mutating func decline(_ refusal: Refusal) {
        state =
            if case .silent(let files, _, let call) = state {
                .silent(files, refusal, call)
            } else {
                .off(generation, refusal)
            }
    }

    /// Its bytes have to wait for space.
    mutating func waitForSpace(since now: Int64) {
        if case .storing(let generation) = state { state = .waitingForSpace(generation, since: now) }
    }

    /// There may be space.
    mutating func spaceFound() {
        if case .waitingForSpace(let generation, _) = state { state = .storing(generation) }
    }

    /// The store does not take its bytes: tried again after a pause, twice as long each time.
    /// - Parameter keepsFiles: Whether what is stored can still be read; of files no `info.json` names nothing can.
    mutating func fail(keepsFiles: Bool, now: Int64, firstPause: Int64, longestPause: Int64) {
        let before: Generation? = if case .creating(let before, _) = state { before } else { nil }
        state = .off(keepsFiles ? generation ?? before : before, .failed)
        retryLater(now: now, firstPause: firstPause, longestPause: longestPause)
    }

    /// It is too soon to try, or to try again.
    mutating func retryLater(now: Int64, firstPause: Int64, longestPause: Int64) {
        if case .off(let files, .declined) = state { state = .off(files, .failed) }
        let pause = min(max((backoff?.pause ?? 0).multiplied(by: 2), firstPause), longestPause)
        backoff = Backoff(at: now.adding(pause), pause: pause)
    }

    /// Bytes were stored. Only what lasts ends a run of failures, so that it is told of once.
    mutating func stored(_ now: Int64) {
        guard let backoff, now - backoff.at > backoff.pause else { return }
        self.backoff = nil
    }

    /// A call to its files takes too long: they are left alone until it has ended.
    mutating func silence(now: Int64, firstPause: Int64, longestPause: Int64) {
        switch state {
        case .undecided, .awaitingAdmission, .silent: return
        case .creating(let files, _): state = .silent(files, .failed, .making)
        case .storing(let files), .waitingForSpace(let files, _): state = .silent(files, .failed, .other)
        case .off(let files, let refusal): state = .silent(files, refusal, .other)
        }
        retryLater(now: now, firstPause: firstPause, longestPause: longestPause)
    }

    /// A call to its files has ended. `false` where that was not late: the making of files ends by its own answer alone.
    mutating func answered(_ call: LateCall) -> Bool {
        guard case .silent(let files, let refusal, call) = state else { return false }
        state = .off(files, refusal)
        return true
    }

    /// Its files are still being made; time stood still.
    mutating func restartWait(now: Int64) {
        if case .creating(let before, _) = state { state = .creating(before: before, since: now) }
    }

    /// Others deleted its files: new ones are made.
    mutating func filesLost(now: Int64) { state = .creating(before: generation, since: now) }

    /// Bytes may be stored again in the files it has; `false` where it has none, and they are to be made.
    mutating func reopen() -> Bool {
        guard case .off(let generation?, _) = state else { return false }
        state = .storing(generation)
        return true
    }

    /// Its files are not the entry's any more, or cannot be read.
    mutating func leave(isReadable: Bool) {
        let files = isReadable ? heldFiles : nil
        switch state {
        case .silent(_, _, let call): state = .silent(files, .left, call)
        // However long it takes, its making has to end.
        case .creating: state = .silent(files, .left, .making)
        case .undecided, .awaitingAdmission, .storing, .waitingForSpace, .off: state = .off(files, .left)
        }
    }
}
