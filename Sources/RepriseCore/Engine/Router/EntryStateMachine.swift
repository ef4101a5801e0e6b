import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Everything an entry in memory knows and decides: a router over closed machines, each of which guarantees its own part.
///
///     input --> the machines it concerns --> what they answer goes to the others --> one plan --> one timer --> actions
///
/// It does no I/O and changes nothing outside it: what is to be done is left as actions, which its shell carries out after the
/// lock is released. The files beside this one say what an input means, a file a subject; only they name two machines.
///
/// A question is called on a copy of the whole machine where it is not inlined: those that a hit asks are, or count as changes.
///
/// To change what one machine does, change that machine. To change which of them learn of something, change its route here.
struct EntryStateMachine {
    let key: ResourceKey
    let environment: EntryEnvironment
    /// Nothing of it may be stored or shared.
    let isPrivate: Bool

    // The machines. Each keeps its state to itself.
    var lifecycle: EntryLifecycle
    var readers = ReaderTable()
    var selector: ResponseSelector
    var revalidation = Revalidation()
    var representations = RepresentationTable()
    var buffers = FillBufferTable()
    var index = IndexReads()
    var transfers = IDTable<TransferState>()
    var backoff = OriginBackoff()
    var restarts = RestartLimit()
    var renewal = URLRefresh()
    var origins = DifferingOrigins()
    var deferred: DeferredWork
    var watchers = StorageWatchers()
    var syncing = SyncSchedule()
    var timer = EntryTimer()
    var use: EntryUse

    /// Where the newest caller's requests go.
    var url: OriginURL
    /// The newest caller.
    var caller: Caller
    /// Nanoseconds, of the input that is being handled.
    private(set) var now: Int64 = 0
    private var lastNumber = 1
    private var needsPlan = false
    /// Whether it is to be told when all entries together have fewer bytes waiting for the disk.
    private var awaitsMemory = false
    /// Whether something was planned that slots and the timer have to follow.
    private var isPlanned = false
    private var output = EntryOutput()
    /// What `EntryOutput.unwritten` told of, in all.
    private var toldUnwritten: Int64 = 0

    init(key: ResourceKey, url: OriginURL, fields: HTTPFields, isPrivate: Bool, environment: EntryEnvironment) {
        self.key = key
        self.url = environment.freshURLs?.newest(url) ?? url
        self.isPrivate = isPrivate
        self.environment = environment
        caller = Caller(fields, for: url)
        selector = ResponseSelector(
            policy: environment.freshness, isPrivate: isPrivate, isOfVariant: key != key.primary)
        deferred = DeferredWork(isSuspended: !environment.access.isOpen)
        lifecycle = EntryLifecycle(now: environment.queues.now())
        use = EntryUse()
    }

    var tuning: TransferTuning { environment.tuning }
    /// Seconds since 1970.
    var wallClock: Int64 { environment.queues.wallClock() }

    // MARK: Inputs and what they leave

    /// Something happened.
    mutating func handle(_ input: EntryInput, now: Int64) {
        begin(now: now)
        route(input)
        complete()
    }

    /// Before an input that is answered at once (`attach`, `read`, `info`).
    mutating func begin(now: Int64) { self.now = now }

    /// After such an input. Nothing is planned where it did not ask for that: a hit costs no planning.
    mutating func endAnswer() { if needsPlan || isPlanned { complete() } }

    /// Has readers, transfers and what is stored looked at once this input was routed.
    mutating func replan() { needsPlan = true }

    /// A transfer takes nothing more before other entries' bytes are on the disk.
    mutating func awaitMemory() {
        guard !awaitsMemory else { return }
        awaitsMemory = true
        leave(.awaitMemory)
    }

    /// Plans at once, for an input whose answer depends on it; again where a representation was given up meanwhile.
    mutating func planNow() {
        repeat {
            needsPlan = false
            isPlanned = true
            doWhatIsDue()
            nameWhatIsDue()
            plan()
        } while needsPlan
    }

    mutating func leave(_ action: consuming EntryAction) { output.actions.append(action) }

    mutating func tell(_ event: consuming CacheEvent) { leave(.event(event)) }

    /// Counts what a reader was served.
    mutating func count(_ change: (inout ServedCounts) -> Void) { change(&output.served) }

    mutating func makeNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    mutating func makeID<ID: EntryID>() -> ID { ID(number: makeNumber()) }

    /// What was left since the last call.
    mutating func takeOutput() -> EntryOutput {
        if watchers.followsWriting, watchers.writingChanged(representations.filter { hasUnwritten($0) }.map(\.id)) {
            tellWatchers()
        }
        let unwritten = buffers.unwritten
        output.unwritten = unwritten - toldUnwritten
        toldUnwritten = unwritten
        var taken = EntryOutput()
        swap(&taken, &output)
        return taken
    }

    private mutating func complete() {
        if needsPlan { planNow() }
        isPlanned = false
        returnUnusedSlots()
        closeIfIdleForLong()
        setTimer()
        guard let tell = environment.onBrokenInvariant else {
            // Not `assert`, which optimised tests would leave out.
            #if DEBUG
                precondition(brokenInvariant == nil, brokenInvariant ?? "")
            #endif
            return
        }
        if let broken = brokenInvariant { tell("\(key.text): \(broken)") }
    }

    /// The page that says which subject an input belongs to.
    private mutating func route(_ input: EntryInput) {
        switch input {
        case .detach(let id): detach(id)
        case .seek(let id, let position, let end): seek(id, to: position, end: end)
        case .pause(let id, let isPaused): pause(id, isPaused)
        case .putBack(let id, let range): putBack(id, range)
        case .watchStorage(let tell): watchers.add(tell)

        case .slotGranted(let ticket, let slot): slotGranted(ticket, slot)
        case .hostContended: replan()
        case .memoryFreed:
            awaitsMemory = false
            replan()
        case .started(let id, let exchange): started(id, exchange)
        case .received(let id, let event): received(id, event)
        case .urlRenewed(let id, let answer): urlRenewed(id, answer)
        case .networkPathReturned: if backoff.networkPathReturned(now: now) { replan() }

        case .opened(let entry, let error): opened(entry, error: error)
        case .indexRead(let id, let range, let damaged, let error): indexRead(id, range, damaged: damaged, error: error)
        case .overlapRead(let transfer, let id, let bytes): overlapRead(transfer, id, bytes)
        case .leaseLate(let generation): if let id = owner(of: generation) { diskSilent(id) }
        case .leaseAnswered(let generation): if let id = owner(of: generation) { diskAnswered(id) }
        case .admitted(let id, let isAdmitted): admitted(id, isAdmitted)
        case .staged(let id, let entry, let isCommitted, let error): staged(id, entry, isCommitted: isCommitted, error)
        case .committed(let id, let error): committed(id, error)
        case .wrote(let ticket, let damaged, let error): wrote(ticket, damaged: damaged, error: error)
        case .notWritten(let ticket): notWritten(ticket)
        case .placeTaken(let id): placeTaken(id)
        case .descriptionDeleted(let id, let number): descriptionDeleted(of: id, number)
        case .filesDeleted(let id, let generation): filesDeleted(id, generation)
        case .deferred(let action): deferWork(action)

        case .pinned(let isPinned): representations.pin(isPinned)
        case .invalidated: invalidate()
        case .answeredHead(let head, let sent, let sentAt): answeredHead(head, to: sent, sentAt: sentAt)
        case .removed: removed()
        case .spaceLookedFor: spaceLookedFor()
        case .trimmed: trimmed()
        case .suspend: suspend()
        case .resume: resume()
        case .resumeWithoutStore: resumeWithoutStore()
        case .filesLeft(let id, let isReadable, let reason): leaveDisk(id, isReadable: isReadable, reason)
        case .sync: syncAll()
        case .announceStorage: tellWatchers()

        case .closeIfUnopened: if lifecycle.isClosed { close() }
        case .closeIfIdle: closeIfIdle()
        case .shutDown: shutDown()
        case .abandonUnwritten: abandonUnwritten()

        case .timer(let time): if timer.fired(time), !deferred.isSuspended { replan() }
        }
    }
}
