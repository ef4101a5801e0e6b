import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Everything a session knows and decides. Its methods take what happened, change the state and leave effects to be
/// carried out after the lock is released; none of them does I/O.
struct SessionState {
    /// What has to be done outside the lock, in order.
    enum Effect {
        case open
        case wake(@Sendable () -> Void)
        case send(transfer: Int, serial: Int, OriginRequest)
        case demand(any OriginExchange)
        case cancel(any OriginExchange)
        case leaveHost(String)
        case holdOff(String, HostBook.HoldOff.Scope, until: Int64, CacheError)
        case load(representation: Int, Generation, ByteRange)
        case verify(representation: Int, Generation, ByteRange)
        case withdraw(representation: Int, Generation)
        case readOverlap(transfer: Int, Generation, ByteRange)
        case stage(representation: Int, EntryInfo, commit: Bool)
        /// - Parameter syncing: Files that have to be on the disk before the description that names them.
        case commit(representation: Int, EntryInfo, syncing: Generation?)
        case abandon(EntryInfo)
        case write(WriteOrder, lane: Int)
        case sync(representation: Int, Generation, EntrySummary)
        case makeRoom
        case tick(at: Int64)
        case event(CacheEvent)
        case count(@Sendable (inout CacheStatistics) -> Void)
        case refresh(serial: Int, RefusedURL)
        /// The entry's files are not this one's any more.
        case endTenure
        case depart(EntryLifecycle.Departure)
    }

    /// A run of failures: since when, how often, and when to try again.
    struct Trouble {
        var since: Int64
        var attempts: Int
        var notBefore: Int64
        var error: CacheError
        /// The byte that could not be had; only its coming ends the run. An origin that breaks off at the same place
        /// every time makes no progress, however many bytes it repeats before. `nil`: any byte does.
        var offset: Int64?
    }

    let key: ResourceKey
    /// Whether it has its key for what its requests say, beside the URL.
    let isOfVariant: Bool
    let environment: SessionEnvironment
    var url: OriginURL
    /// The newest caller.
    var caller: Caller
    /// The caller's own fields, from the newest request.
    var fields: HTTPFields { caller.fields }
    /// Fields the origin refused lately: another caller's may still do.
    var refusedFields: [HTTPFields] = []
    static let refusedFieldsLimit = 4
    /// Nothing of it may be stored or shared.
    let isPrivate: Bool
    var lifecycle: EntryLifecycle
    var representations = IDTable<Representation>()
    /// The representation new readers get.
    var current: Int?
    var readers = IDTable<Reader>()
    var transfers = IDTable<Transfer>()
    /// Received bytes, of transfers under way and on their way to the disk.
    var buffers = FillBufferTable()
    var trouble: Trouble?
    /// Where readers ended lately, for players that reopen at every jump.
    var recentEnds: [(position: Int64, requestIndex: Int, at: Int64)] = []
    /// Ranges whose slots or proofs are being read.
    var reading = ByteRangeSet()
    var nextID = 1
    var effects: [Effect] = []
    var nextTick: Int64?
    /// When what was written since the last sync has to be on the disk.
    var syncDue: Int64?
    /// The store was given away: nothing is asked for, nothing handed out, until it is back or known to be lost.
    var isSuspended: Bool
    /// Work the store could not take meanwhile.
    var held: [Effect] = []
    /// What the entry was set to last while it was open; also what files that are just being made are.
    var pinnedLast: Bool?
    /// To be told of the next change in what is stored.
    var watchers: [@Sendable () -> Void] = []
    var lastUsed: Int64 = 0
    /// What the entry has brought, since it was made: once it is open, with what its files say.
    var sums = EntryStatistics()
    /// A stale representation was handed out and is to be confirmed though nobody waits for it: by a request with these
    /// fields.
    var confirmationFields: HTTPFields?
    /// Callers whose fields the origin answered for them alone while they read what is shared; the newest few.
    var ownCallers: [HTTPFields] = []
    static let ownCallersLimit = 16
    /// Somebody who reads or read said that nothing is to be stored for it.
    var mayBeUnkept = false
    /// The one question for a fresh URL that is under way.
    var refreshing: Refreshing?
    /// A fresh URL no answer has come for yet.
    var provisionalURL: OriginURL?
    /// Origins whose tags and dates differ from what is held though an overlap showed the same bytes.
    var looseOrigins: Set<String> = []
    /// A representation was given up while its readers were planned for.
    var hasGivenUp = false
    /// A revalidation waits for a place at the host.
    var isRevalidationQueued = false
    /// Whether bytes were on their way to the disk when the watchers were told last.
    private var toldWriting = false
    /// What `takeUnwrittenChange` told of, in all.
    private var toldUnwritten: Int64 = 0
    /// Called when the host has a place again, after none was free.
    var onPlaceFree: @Sendable () -> Void = {}

    init(key: ResourceKey, url: OriginURL, fields: HTTPFields, isPrivate: Bool, environment: SessionEnvironment) {
        self.key = key
        isOfVariant = key != key.primary
        self.url = environment.freshURLs?.newest(url) ?? url
        caller = Caller(fields, for: url)
        self.isPrivate = isPrivate
        self.environment = environment
        isSuspended = !environment.access.isOpen
        lifecycle = EntryLifecycle(now: environment.queues.now())
    }

    var tuning: TransferTuning { environment.tuning }
    var now: Int64 { environment.queues.now() }
    var wallClock: Int64 { environment.queues.wallClock() }

    mutating func makeID() -> Int {
        nextID += 1
        return nextID
    }

    mutating func takeEffects() -> [Effect] {
        tellWritten()
        var taken: [Effect] = []
        swap(&taken, &effects)
        return taken
    }

    /// Watchers that wait for the disk are told when no byte is on its way there any more, written or dropped.
    private mutating func tellWritten() {
        guard toldWriting || !watchers.isEmpty else { return }
        let isWriting = hasUnwritten
        if toldWriting, !isWriting { storedChanged() }
        toldWriting = isWriting
    }

    /// How much more or less waits for the disk than was told last, in bytes.
    mutating func takeUnwrittenChange() -> Int64 {
        let unwritten = buffers.unwritten
        defer { toldUnwritten = unwritten }
        return unwritten - toldUnwritten
    }

    // MARK: Opening

    /// The store answered whether it has an entry.
    mutating func opened(_ entry: StoredEntry?, error: StoreError?) {
        let opened = lifecycle.opened(error == nil ? .readable : .unreadable)
        if opened == .tooLate { return }
        if let error {
            effects.append(.event(.degraded(key: key.text, reason: error.description)))
        }
        if let entry {
            let id = makeID()
            representations[id] = Representation(
                id: id, info: entry.info, storage: .storing(in: entry.generation), isCommitted: true,
                needsSniffing: false)
            current = id
            if let representation = representations[id] { expectTrimming(representation) }
            countUse(id, entry.summary.logUseCount)
            sums.add(entry.summary.statistics)
            if mayBeUnkept { storeOrNot() }
            if opened == .invalidated { representations[id]?.info.checked = Freshness.invalidated }
        }
        for reader in readers.ids {
            bind(reader)
            // Readers without a representation are not woken: they have nothing to read.
            if readers[reader]?.representation != nil { wake(reader) }
        }
        plan()
    }

    /// The representation that readers who have none are given, if they may have it; also the one that is confirmed for
    /// them.
    var offered: Int? {
        // What could not be stored, or not yet, is shared; what is never stored is not: a later request is answered anew.
        if let current, representations[current]?.isSuperseded == false { return current }
        if let newest, representations[newest]?.isPrivate == false, representations[newest]?.isTransient == false {
            return newest
        }
        // A superseded representation is used only if it is complete.
        return current.flatMap { representations[$0]?.isComplete == true ? $0 : nil }
    }

    /// Gives a reader the current representation, or lets it wait for the origin's word on it.
    mutating func bind(_ id: Int) {
        guard readers[id]?.representation == nil else { return }
        guard let shared = offered, let representation = representations[shared] else {
            if readers[id]?.demands.onlyIfCached == true { fail(id, .onlyIfCached) }
            return
        }
        if environment.freshness == .http, !isPrivate {
            guard let reader = readers[id], !ownCallers.contains(reader.fields) else {
                return fail(id, .mustBePrivate)
            }
            guard admit(id, to: representation) else { return }
        } else {
            readers[id]?.outcome = CacheStatus()
        }
        readers[id]?.representation = shared
    }

    // MARK: Readers

    mutating func attach(
        position: Int64, end: Int64, priority: TransferPlanner.Priority, isKept: Bool = true
    ) -> Int {
        let id = makeID()
        let now = now
        let reader = Reader(
            id: id, caller: caller, position: position, end: end, priority: priority, now: now)
        let inheritTime = tuning.inheritTime
        recentEnds.removeAll { now - $0.at > inheritTime }
        reader.isKept = isKept
        if environment.freshness == .http { reader.demands = RequestCacheControl(fields) }
        reader.outcome = CacheStatus(forward: firstReason)
        if let ended = recentEnds.last(where: { abs($0.position - position) <= tuning.inheritDistance }) {
            reader.requestIndex = ended.requestIndex
        }
        if readers.isEmpty {
            beginAnew()
        }
        forgiveTrouble()
        // As `bind` would, without looking the reader up: the origin need not be asked about it.
        let isBound = lifecycle.isOpen && (isPrivate || environment.freshness != .http) && offered != nil
        if isBound {
            reader.representation = offered
            reader.outcome = CacheStatus()
        }
        readers[id] = reader
        if !isKept { mayBeUnkept = true }
        if mayBeUnkept { storeOrNot() }
        lastUsed = wallClock
        if lifecycle.readerCame() {
            effects.append(.open)
        } else if lifecycle.isOpen {
            if !isBound { bind(id) }
            if confirmationFields != nil { plan() }
        }
        return id
    }

    mutating func detach(_ id: Int) {
        guard let reader = readers.remove(id) else { return }
        recentEnds.append((reader.position, currentRequestIndex(of: reader), now))
        if recentEnds.count > 16 { recentEnds.removeFirst() }
        dropTransient()
        if readers.isEmpty { lifecycle.becameIdle(now) }
        // Nothing is fetched, and who is left needs what it needed before: a hit that ends costs no planning.
        let isAtRest =
            lifecycle.isOpen && !isSuspended && transfers.isEmpty && buffers.isEmpty && confirmationFields == nil
        guard isAtRest, !representations.contains(where: \.isSuperseded) else { return plan() }
        scheduleTick()
    }

    /// The first reader after none: what went wrong for those before is tried again.
    private mutating func beginAnew() {
        guard representations.contains(where: \.mayBeginAnew) else { return }
        for number in representations.ids {
            // An end that only a closed connection told is not taken for granted by those who come later.
            representations[number]?.softEnd = nil
            // A disk that took nothing then may do so now.
            guard let representation = representations[number], representation.isCommitted,
                !representation.isSuperseded, representation.storage.isOff
            else { continue }
            guard changeStorage(of: number, { $0.reopen() }) == true else { continue }
            dropTransfers(of: number)
        }
    }

    /// Ends transfers that stored nothing: those that follow begin where a block can be filled.
    mutating func dropTransfers(of number: Int) {
        for id in transfers.ids where transfers[id]?.representation == number {
            endRequest(id)
            transfers[id] = nil
        }
        buffers.drop(number)
    }

    /// What is never stored goes with its last reader: nothing of it is replayed.
    private mutating func dropTransient() {
        guard representations.contains(where: \.isTransient) else { return }
        for number in representations.ids where representations[number]?.isTransient == true {
            guard !readers.contains(where: { $0.representation == number }) else { continue }
            dropTransfers(of: number)
            representations[number] = nil
        }
    }

    /// Whoever comes anew, or to another place, does not inherit the pause of those who failed: it tries at once.
    private mutating func forgiveTrouble(of id: Int? = nil) {
        guard trouble != nil else { return }
        guard readers.contains(where: { $0.id != id && $0.isWaiting && $0.failure == nil }) else {
            trouble = nil
            return
        }
        let now = now
        trouble?.since = now
        trouble?.notBefore = now
    }

    private func currentRequestIndex(of reader: Reader) -> Int {
        if transfers.isEmpty { return reader.requestIndex }
        let serving = transfers.filter { $0.readers.contains(reader.id) }.map(\.requestIndex).max()
        return max(reader.requestIndex, serving ?? 0)
    }

    mutating func seek(_ id: Int, to position: Int64) {
        guard readers[id] != nil else { return }
        readers[id]?.position = position
        readers[id]?.holdsRegion = false
        readers[id]?.requestIndex = 0
        let now = now
        readers[id]?.lastStep = now
        forgiveTrouble(of: id)
        plan()
    }

    mutating func setPaused(_ id: Int, _ isPaused: Bool) {
        readers[id]?.isPaused = isPaused
        plan()
    }

    enum Step {
        case memory(ArraySlice<UInt8>, at: Int64)
        case lease(ExtentLease)
        case pending
        case end
        case failed(CacheError)
    }

    /// The next bytes of a reader, or what it has to wait for.
    mutating func step(_ id: Int, limit: Int, wake: @escaping @Sendable () -> Void) -> Step {
        guard let reader = readers[id] else {
            return .failed(CacheError(.closed, "the reader was closed"))
        }
        if let failure = reader.failure { return .failed(failure) }
        let (position, readerEnd) = (reader.position, reader.end)
        if position >= readerEnd { return .end }
        if reader.isBeyondAnyResource { return .failed(.beyondAnyResource) }
        guard lifecycle.isOpen, !isSuspended, let number = reader.representation,
            let home = representations[number]
        else {
            return wait(id, wake)
        }
        let length = home.info.length
        let end = min(readerEnd, length ?? home.softEnd ?? .max)
        guard position < end else {
            if let length, position > length, !reader.hasBytes {
                return .failed(
                    CacheError(.rangeNotSatisfiable(length: length), "the resource has only \(length) bytes"))
            }
            return .end
        }
        let wanted = ByteRange(position, min(end, ByteRange(offset: position, count: Int64(limit)).upperBound))
        let generation = home.generation
        if let lease = generation?.lease(wanted) {
            serve(reader, lease.range, isStored: true)
            if needsPlan(after: reader, generation, end) { plan() }
            return .lease(lease)
        }
        if let piece = buffers.slice(number, at: position, limit: Int(wanted.count)) {
            serve(reader, ByteRange(offset: position, count: Int64(piece.count)), isStored: false)
            if needsPlan(after: reader, generation, end) { plan() }
            return .memory(piece, at: position)
        }
        return wait(id, wake)
    }

    /// A reader is handed bytes.
    private mutating func serve(_ reader: Reader, _ range: ByteRange, isStored: Bool) {
        reader.served(upTo: range.upperBound, now)
        reader.holdsRegion = isStored && range.count > tuning.largestCopy
        noteServed(reader, range.count, isStored: isStored)
    }

    private mutating func wait(_ id: Int, _ wake: @escaping @Sendable () -> Void) -> Step {
        let now = now
        readers[id]?.waits(wake, now)
        plan()
        // Planning may have failed the reader; then nobody would wake it.
        if let failure = readers[id]?.failure { return .failed(failure) }
        return .pending
    }

    // A hit that stays a hit costs no planning.
    private func needsPlan(after reader: Reader, _ generation: Generation?, _ end: Int64) -> Bool {
        guard transfers.isEmpty, buffers.isEmpty, let generation else { return true }
        if reader.holdsRegion { return false }
        let position = reader.position
        let horizon = min(end, position + tuning.readAhead)
        if position >= horizon { return false }
        if case .verified(let verified) = generation.availability(at: position) { return verified < horizon }
        return true
    }

    /// What is known of the resource for a reader; binds it to its representation.
    mutating func info(_ id: Int, wake: @escaping @Sendable () -> Void) -> Result<ContentInfo?, CacheError> {
        guard let reader = readers[id] else { return .failure(CacheError(.closed, "the reader was closed")) }
        if let failure = reader.failure { return .failure(failure) }
        guard lifecycle.isOpen, let number = reader.representation, let representation = representations[number] else {
            if reader.isBeyondAnyResource { return .failure(.beyondAnyResource) }
            if case .failed(let failure) = wait(id, wake) { return .failure(failure) }
            return .success(nil)
        }
        if !reader.isBound { readers[id]?.isBound = true }
        if representation.description == nil { representations[number]?.describe() }
        return .success(representation.content(age: age(of: representation, for: reader)))
    }
}
