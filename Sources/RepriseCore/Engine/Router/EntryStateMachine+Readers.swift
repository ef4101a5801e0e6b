import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Readers: they come, ask for bytes, wait, are told, and leave.
extension EntryStateMachine {
    /// One failed read is no reason to do without what is stored for as long as there are readers: after a while new ones get another
    /// entry, which opens the files again. Not where another version is being stored.
    private mutating func leaveWhatIsUnreadable() {
        guard lifecycle.isWorthReopening(now: now, after: tuning.longestStoreRetry),
            !representations.contains(where: { $0.storage.target != nil || $0.awaitsFiles })
        else { return }
        leaveTable()
    }

    /// A reader comes; `nil` where new readers get another entry.
    mutating func attach(
        url: OriginURL, fields: HTTPFields, position: Int64, end: Int64, priority: TransferPlanner.Priority,
        mayStore: Bool, answers: ResourceRequest.Answers = .resource
    ) -> ReaderID? {
        leaveWhatIsUnreadable()
        guard lifecycle.isListed else { return nil }
        caller = Caller(fields, for: url)
        let newest = newest(url)
        // One that was refused takes no other's place.
        if readers.isEmpty || !selector.hasRefused(fields, at: newest) { self.url = newest }
        let id: ReaderID = makeID()
        let requestIndex = readers.inheritedRequestIndex(
            at: position, distance: tuning.inheritDistance, time: tuning.inheritTime, now: now)
        let isHTTP = environment.freshness == .http
        let reader = Reader(
            id: id, caller: caller, position: position, end: end, priority: priority, mayStore: mayStore,
            answers: answers, cacheControl: isHTTP ? RequestCacheControl(fields) : RequestCacheControl(),
            outcome: CacheStatus(forward: selector.reason(fields)),
            requestIndex: requestIndex, now: now)
        if readers.isEmpty { beginAnew() }
        demandCame(besides: nil)
        // As `bind` would, without more: the origin need not be asked about it.
        let isBound = lifecycle.isOpen && (isPrivate || !isHTTP)
        if isBound, let offered = representations.offered {
            reader.bind(to: offered.id)
            reader.handle(as: CacheStatus())
        }
        readers.insert(reader)
        count { $0.readers += 1 }
        use.readerCame(mayStore: mayStore, at: wallClock)
        if use.hasUnstored { storeOrNot() }
        if lifecycle.readerCame(now: now) {
            leave(.open)
        } else if lifecycle.isOpen {
            if reader.isUnbound { bind(reader) }
            if revalidation.background != nil { replan() }
        }
        return id
    }

    mutating func detach(_ id: ReaderID) {
        guard let leaving = readers[id], readers.remove(id, requestIndex: requestIndex(of: leaving), now: now) != nil
        else {
            return
        }
        dropTransient()
        if readers.isEmpty { lifecycle.becameIdle(now) }
        // Nothing is fetched, and readers that stay need what they needed before: a hit that ends costs no planning.
        let isAtRest =
            lifecycle.isOpen && !deferred.isSuspended && isAtRest && revalidation.background == nil
            && !representations.contains { $0.isSuperseded }
        if !isAtRest { replan() }
    }

    /// Whether nothing is fetched or on its way to the disk.
    var isAtRest: Bool { transfers.isEmpty && buffers.isEmpty && revalidation.isIdle }

    @inline(__always)
    private func requestIndex(of reader: Reader) -> Int {
        if transfers.isEmpty { return 0 }
        return transfers.filter { $0.readers.contains(reader.id) }.map(\.requestIndex).max() ?? 0
    }

    /// The first reader after none: what went wrong before is tried again.
    private mutating func beginAnew() {
        guard representations.contains(where: { $0.mayBeginAnew }) else { return }
        for representation in representations {
            // An end that only a closed connection told is not taken for granted by readers that come later.
            representation.forgetInferredEnd()
            // A disk that took nothing then may do so now.
            guard representation.mayReopen, changeStorage(of: representation.id, { $0.reopen() }) == true else {
                continue
            }
            dropTransfers(of: representation.id)
        }
    }

    /// What is never stored goes with its last reader: nothing of it is replayed.
    private mutating func dropTransient() {
        for representation in representations where representation.isTransient && !readers.reads(representation.id) {
            dropTransfers(of: representation.id)
            representations.remove(representation.id)
        }
    }

    /// A reader that comes, or asks for another place, does not inherit the pause of those that failed.
    private mutating func demandCame(besides id: ReaderID?) {
        guard backoff.error != nil || renewal.awaitsByte else { return }
        let othersWait = readers.contains { $0.id != id && $0.isAwaiting }
        if !othersWait { renewal.reset() }
        if backoff.error != nil { backoff.demandCame(othersWait: othersWait, now: now) }
    }

    mutating func seek(_ id: ReaderID, to position: Int64, end: Int64?) {
        guard let reader = readers[id] else { return }
        reader.seek(to: position, end: end, now: now)
        // A reader of what was answered instead of the resource asks for no other place of the resource.
        if representations[reader.representation]?.isHandedOn != true { demandCame(besides: id) }
        replan()
    }

    mutating func pause(_ id: ReaderID, _ isPaused: Bool) {
        readers[id]?.setPaused(isPaused)
        replan()
    }

    /// Bytes were withdrawn from under a reader: they are verified again or fetched.
    mutating func putBack(_ id: ReaderID, _ range: ByteRange) {
        guard let reader = readers[id] else { return }
        reader.putBack(range)
        guard let representation = representations[reader.representation], let generation = representation.generation
        else { return }
        if index.beginWithdrawal(of: representation.id, now: now) { leave(.withdraw(representation.id, generation)) }
    }

    // MARK: Bytes

    /// The next bytes of a reader, or what it has to wait for. The way of a hit: no planning, no allocation.
    mutating func read(_ id: ReaderID, limit: Int, wake: @escaping @Sendable () -> Void) -> ReadResult {
        guard let reader = readers[id] else { return .failed(CacheError(.closed, "the reader was closed")) }
        if let ending = reader.ending { return ReadResult(ending) }
        let (position, readerEnd) = (reader.position, reader.end)
        if position >= readerEnd { return .end }
        if reader.isBeyondAnyResource { return .failed(.beyondAnyResource) }
        guard lifecycle.isOpen, !deferred.isSuspended, let representation = representations[reader.representation]
        else {
            return wait(reader, wake)
        }
        let end = min(readerEnd, representation.end ?? .max)
        guard position < end else {
            if let length = representation.info.length, position > length, !reader.hasBytes {
                return .failed(
                    CacheError(.rangeNotSatisfiable(length: length), "the resource has only \(length) bytes"))
            }
            return .end
        }
        let wanted = ByteRange(position, min(end, ByteRange(offset: position, count: Int64(limit)).upperBound))
        let generation = index.isWithdrawing(representation.id) ? nil : representation.generation
        if let lease = generation?.lease(wanted) {
            serve(reader, lease.range, isStored: true)
            if needsPlan(after: reader, generation, end) { replan() }
            return .lease(lease)
        }
        if let chunk = buffers.slice(representation.id, at: position, limit: Int(wanted.count)) {
            serve(reader, ByteRange(offset: position, count: Int64(chunk.count)), isStored: false)
            if needsPlan(after: reader, generation, end) { replan() }
            return .memory(chunk, at: position)
        }
        return wait(reader, wake)
    }

    private mutating func serve(_ reader: Reader, _ range: ByteRange, isStored: Bool) {
        let count = range.count
        let result = reader.served(
            upTo: range.upperBound, isStored: isStored, holdsRegion: isStored && count > tuning.largestCopy, now: now)
        restarts.served()
        guard reader.priority != .prefetch else { return }
        use.served(count)
        self.count { $0.bytes += count }
        switch result {
        case .hit:
            self.count { $0.hits += 1 }
            tell(.hit(key: key.text))
        case .miss:
            self.count { $0.misses += 1 }
            tell(.miss(key: key.text))
        case nil: return
        }
        tellPartial(reader)
    }

    /// Something is fetched for a reader.
    mutating func noteFetching(_ reader: Reader) {
        reader.fetches()
        tellPartial(reader)
    }

    private mutating func tellPartial(_ reader: Reader) {
        guard reader.takePartial() else { return }
        count { $0.partials += 1 }
        tell(.partial(key: key.text))
    }

    private mutating func wait(_ reader: Reader, _ wake: @escaping @Sendable () -> Void) -> ReadResult {
        reader.wait(wake, now: now)
        // It may fail by that: then it is answered so.
        planNow()
        if let ending = reader.ending { return ReadResult(ending) }
        return .pending
    }

    @inline(__always)
    private func needsPlan(after reader: Reader, _ generation: Generation?, _ end: Int64) -> Bool {
        guard transfers.isEmpty, buffers.isEmpty, let generation else { return true }
        if reader.holdsRegion { return false }
        let position = reader.position
        let horizon = min(end, position.adding(tuning.readAhead))
        if position >= horizon { return false }
        if case .verified(let verified) = generation.availability(at: position) { return verified < horizon }
        return true
    }

    /// What is known of the resource for a reader, which is told of its representation by that.
    mutating func info(_ id: ReaderID, wake: @escaping @Sendable () -> Void) -> InfoResult {
        guard let reader = readers[id] else { return .failed(CacheError(.closed, "the reader was closed")) }
        if let interim = reader.takeInterim() { return .interim(interim) }
        if let ending = reader.ending { return InfoResult(ending) }
        guard lifecycle.isOpen, let representation = representations[reader.representation] else {
            if reader.isBeyondAnyResource { return .failed(.beyondAnyResource) }
            _ = wait(reader, wake)
            return reader.ending.map(InfoResult.init) ?? .pending
        }
        reader.announce()
        let age = selector.age(of: representation, for: reader, wallClock: wallClock)
        return .known(representation.content(for: id, age: age))
    }
}
