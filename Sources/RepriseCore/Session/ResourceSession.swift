package import RepriseHTTP
import ReprisePlatform
package import RepriseRanges
package import RepriseStorage

/// One open resource: its representations, readers and transfers, shared by everybody who reads it.
///
///     reader --step--> [ lock: SessionState decides ] --effects--> origin, read pool, write lane, janitor
///                                   ^                                   |
///                                   +------------- results -------------+
///
/// Lock order: session, then generation or host book (both leaves). Effects run after the lock is released.
package final class ResourceSession: Sendable {
    package let key: ResourceKey
    private let environment: SessionEnvironment
    private let state: Lock<SessionState>
    private let onForget: @Sendable (ResourceSession) -> Void
    /// What the session may do with the entry's files by their names.
    private let tenure = EntryTenure()

    package init(
        key: ResourceKey, url: OriginURL, fields: HTTPFields, isPrivate: Bool, environment: SessionEnvironment,
        onForget: @escaping @Sendable (ResourceSession) -> Void
    ) {
        self.key = key
        self.environment = environment
        self.onForget = onForget
        state = Lock(
            SessionState(key: key, url: url, fields: fields, isPrivate: isPrivate, environment: environment))
        state.withLock { state in
            state.onPlaceFree = { [weak self] in self?.perform { $0.placeIsFree() } }
        }
    }

    /// Takes an input to the state, then carries out what it decided.
    @discardableResult
    private func perform<Result>(_ input: (inout sending SessionState) -> Result) -> Result {
        var effects: [SessionState.Effect] = []
        let result = state.withLock { state in
            let result = input(&state)
            effects = state.takeEffects()
            return result
        }
        for effect in effects { carryOut(effect) }
        return result
    }

    // MARK: For readers

    /// Adds a reader; `nil` where the session was closed meanwhile.
    func attach(
        url: OriginURL, fields: HTTPFields, position: Int64, end: Int64, priority: TransferPlanner.Priority
    ) -> Int? {
        perform { state in
            guard !state.isForgotten else { return nil }
            state.url = url
            state.fields = fields
            environment.hub.count { $0.readers += 1 }
            return state.attach(position: position, end: end, priority: priority)
        }
    }

    func detach(_ reader: Int) { perform { $0.detach(reader) } }
    func seek(_ reader: Int, to position: Int64) { perform { $0.seek(reader, to: position) } }
    func setPaused(_ reader: Int, _ isPaused: Bool) { perform { $0.setPaused(reader, isPaused) } }
    func unread(_ reader: Int, to position: Int64) { perform { $0.unread(reader, to: position) } }

    func setRange(_ reader: Int, position: Int64, end: Int64) {
        perform { state in
            state.readers[reader]?.end = end
            state.seek(reader, to: position)
        }
    }

    func step(_ reader: Int, limit: Int, wake: @escaping @Sendable () -> Void) -> SessionState.Step {
        perform { $0.step(reader, limit: limit, wake: wake) }
    }

    func info(_ reader: Int, wake: @escaping @Sendable () -> Void) -> Result<ContentInfo?, CacheError> {
        perform { $0.info(reader, wake: wake) }
    }

    /// Closes the files now if nobody reads; `false` where somebody does.
    @discardableResult
    package func closeIfIdle() -> Bool {
        perform { state in
            for id in state.transfers.keys.sorted() where state.readers.isEmpty { state.finish(id) }
            state.close()
            return state.phase == .closed
        }
    }

    /// Tries at once what waits for the origin to be reached again.
    func networkPathReturned() { perform { $0.networkPathReturned() } }

    /// Ends every reader with an error and lets transfers go; for shutting down.
    package func shutDown() {
        perform { state in
            for id in state.readers.keys.sorted() { state.fail(id, CacheError(.closed, "the cache was closed")) }
            for id in state.transfers.keys.sorted() { state.finish(id) }
            state.syncAll()
        }
    }

    /// The bytes stored or in memory, as far as slots have been read.
    package var storedRanges: ByteRangeSet {
        state.withLock { state in
            state.current.flatMap { state.representations[$0]?.generation?.claimed } ?? ByteRangeSet()
        }
    }

    /// Length in bytes, `nil` while it is not known.
    package var length: Int64? {
        state.withLock { state in state.current.flatMap { state.representations[$0]?.info.length } }
    }

    /// Readers and transfers now, for display and tests.
    package var activity: (readers: Int, transfers: Int) {
        state.withLock { ($0.readers.count, $0.transfers.count) }
    }

    /// Readers, transfers and representations in words, for whoever has to find out why somebody waits.
    package var explanation: String {
        state.withLock { state in
            let readers = state.readers.values.sorted { $0.id < $1.id }.map { reader in
                "reader \(reader.id) at \(reader.position) of \(reader.end) in \(reader.representation ?? 0)"
                    + (reader.isWaiting ? " waiting" : "") + (reader.isBound ? " bound" : "")
                    + (reader.failure.map { " failed: \($0)" } ?? "")
            }
            let transfers = state.transfers.values.sorted { $0.id < $1.id }.map { transfer in
                "transfer \(transfer.id) of \(transfer.representation ?? 0) \(transfer.window.range) drained "
                    + "\(transfer.window.drained) goal \(transfer.goal) asked \(transfer.lastAsked)"
                    + (transfer.request == nil ? "" : " requesting") + (transfer.isFinished ? " finished" : "")
                    + (transfer.isWriting ? " writing" : "") + (transfer.isSequential ? " sequential" : "")
            }
            let representations = state.representations.values.sorted { $0.id < $1.id }.map { representation in
                "representation \(representation.id) length \(representation.info.length ?? -1)"
                    + (representation.isCommitted ? " committed" : "")
                    + (representation.isSuperseded ? " superseded" : "")
                    + " \(representation.storing)".prefix(12)
                    + " \(representation.generation?.claimed.description ?? "")"
            }
            let trouble = state.trouble.map { ["trouble: \($0.error), \($0.attempts) attempts"] } ?? []
            return (readers + transfers + representations + trouble).joined(separator: "\n")
        }
    }

    /// Whether bytes are in memory that the disk will have.
    var hasUnwritten: Bool { state.withLock { $0.hasUnwritten } }

    /// Stops transfers and lets readers wait; what is in memory goes to the disk still.
    func suspend() { perform { $0.suspend() } }

    /// Makes what was written durable, as far as the disk does it.
    func sync() { perform { $0.syncAll() } }

    /// The root was taken back: looks after the files, which others may have changed. I/O.
    func lookAfter(_ store: Store) {
        let open = state.withLock { $0.openGenerations }
        var isLost = false
        do throws(StoreError) {
            // Others may have made the entry that we only had in memory.
            if !open.contains(where: \.isCommitted) { isLost = try store.hasEntry(key: key.text) }
            for (number, info, generation, isCommitted) in open {
                let isSame = try store.stillNames(info, generation, isCommitted: isCommitted)
                if let error = Self.message({ () throws(FileError) in try generation.startOver() }) {
                    throw StoreError(.unavailable, "looking after an entry", cause: error)
                }
                guard !isSame, isCommitted else { continue }
                perform { $0.stopFilling(number, "its files were removed or replaced meanwhile") }
                isLost = true
            }
        } catch {
            for (number, _, _, _) in open { perform { $0.stopReading(number, error.description) } }
            isLost = true
        }
        if isLost { endTenure() }
    }

    /// The store is there again: transfers begin, readers go on.
    func resume() { perform { $0.resume() } }

    /// The root belongs to another process now: readers go on with bytes from the origin.
    func resumeWithoutStore() {
        endTenure()
        perform { $0.resumeWithoutStore() }
    }

    /// From now on the session names no files, and whoever comes gets another one.
    func endTenure() {
        do throws(StoreError) { try tenure.end {} } catch { preconditionFailure("nothing was done: \(error)") }
        perform { $0.retire() }
    }

    /// Whether bytes are on their way to the disk.
    package var isWriting: Bool { state.withLock { $0.transfers.values.contains(where: \.isWriting) } }

    /// Bytes held in memory by all windows, for tests of the bound.
    package var bytesInMemory: Int64 {
        state.withLock { state in state.transfers.values.reduce(0) { $0 + $1.window.count } }
    }

    // MARK: Effects

    private func carryOut(_ effect: SessionState.Effect) {
        switch effect {
        case .open: openEntry()
        case .wake(let wake): wake()
        case .send(let transfer, let serial, let request): send(transfer, serial, request)
        case .demand(let exchange): exchange.demand()
        case .cancel(let exchange): exchange.cancel()
        case .leaveHost(let origin): environment.hosts.leave(origin)
        case .load(let number, let generation, let range): load(number, generation, range)
        case .verify(let number, let generation, let range): verify(number, generation, range)
        case .withdraw(let number, let generation): withdraw(number, generation)
        case .readOverlap(let transfer, let generation, let range): readOverlap(transfer, generation, range)
        case .stage(let number, let info, let commit): stage(number, info, commit: commit)
        case .commit(let number, let info): commit(number, info)
        case .abandon(let info): abandon(info)
        case .write(let transfer, let writer, let lane, let pieces, let offset, let count):
            write(transfer, writer, lane, pieces, offset, count)
        case .sync(let number, let generation, let summary): sync(number, generation, summary)
        case .tick(let time):
            environment.queues.after(max(0, time - environment.queues.now())) { [weak self] in
                self?.perform { $0.tick(time) }
            }
        case .event(let event): environment.hub.send(event)
        case .count(let change): environment.hub.count(change)
        case .forget: onForget(self)
        }
    }

    private func send(_ transfer: Int, _ serial: Int, _ request: OriginRequest) {
        let exchange = environment.client.start(request) { [weak self] event in
            self?.perform { $0.received(transfer, serial, event) }
        }
        perform { $0.started(transfer, serial, exchange) }
    }

    private func openEntry() {
        guard environment.access.isOpen else { return hold(.open) }
        guard let store = environment.store, !state.withLock({ $0.isPrivate }) else {
            environment.queues.soon { self.perform { $0.opened(nil, error: nil) } }
            return
        }
        environment.queues.read {
            do throws(StoreError) {
                // Opening may remove what is damaged beyond use.
                guard
                    let entry = try self.environment.access.use({ () throws(StoreError) in
                        try store.open(key: self.key.text)
                    })
                else { return self.hold(.open) }
                self.perform { $0.opened(entry, error: nil) }
            } catch {
                self.perform { $0.opened(nil, error: error) }
            }
        }
    }

    /// Puts work aside that the store cannot take now: it is done when the store is there again.
    private func hold(_ effect: SessionState.Effect) { perform { $0.hold(effect) } }

    /// Runs work on an open generation; holds `effect` where that must not be done now. I/O.
    private func whileOpen(_ effect: SessionState.Effect, _ work: () -> Void) {
        guard environment.access.enter() else { return hold(effect) }
        defer { environment.access.leave() }
        work()
    }

    private func load(_ number: Int, _ generation: Generation, _ range: ByteRange) {
        environment.queues.read {
            self.whileOpen(.load(representation: number, generation, range)) {
                let error = Self.message { () throws(FileError) in try generation.load(range) }
                self.perform { $0.read(number, range, damaged: 0, error: error) }
            }
        }
    }

    private func verify(_ number: Int, _ generation: Generation, _ range: ByteRange) {
        environment.queues.read {
            self.whileOpen(.verify(representation: number, generation, range)) {
                let before = generation.damagedBlocks
                let error = Self.message { () throws(FileError) in try generation.verify(range) }
                self.perform { $0.read(number, range, damaged: generation.damagedBlocks - before, error: error) }
            }
        }
    }

    private func withdraw(_ number: Int, _ generation: Generation) {
        environment.queues.read {
            self.whileOpen(.withdraw(representation: number, generation)) {
                generation.acceptDisturbance()
                let error = Self.message { () throws(FileError) in try generation.withdrawVerification() }
                self.perform { $0.read(number, ByteRange(0, 0), damaged: 0, error: error) }
            }
        }
    }

    private func readOverlap(_ transfer: Int, _ generation: Generation, _ range: ByteRange) {
        environment.queues.read {
            self.whileOpen(.readOverlap(transfer: transfer, generation, range)) {
                var bytes: [UInt8]?
                _ = Self.message { () throws(FileError) in
                    try generation.verify(range)
                    if let lease = generation.lease(range), lease.range == range { bytes = try lease.read() }
                }
                let found = bytes
                self.perform { $0.overlapRead(transfer, found) }
            }
        }
    }

    private func stage(_ number: Int, _ info: EntryInfo, commit: Bool) {
        environment.queues.read {
            switch self.naming({ store throws(StoreError) in
                let entry = try store.stage(info)
                if commit { try store.commit(entry.info) }
                return entry
            }) {
            case nil: self.hold(.stage(representation: number, info, commit: commit))
            case .success(let entry): self.perform { $0.staged(number, entry, isCommitted: commit, error: nil) }
            case .failure(let error): self.perform { $0.staged(number, nil, isCommitted: false, error: error) }
            }
        }
    }

    private func commit(_ number: Int, _ info: EntryInfo) {
        // One lane for all descriptions, so that they are written in the order they were decided.
        environment.queues.write(lane: 0) {
            let answer = self.naming { store throws(StoreError) in try store.commit(info) }
            switch answer {
            case nil: self.hold(.commit(representation: number, info))
            case .failure(let error): self.perform { $0.commitFailed(number, error) }
            case .success: break
            }
        }
    }

    private func abandon(_ info: EntryInfo) {
        environment.queues.upkeep {
            let answer = self.naming { store throws(StoreError) in try store.abandon(info) }
            if answer == nil { return self.hold(.abandon(info)) }
            if case .failure(let error)? = answer, error.code != .gone {
                self.environment.hub.send(.degraded(key: info.key, reason: error.description))
            }
        }
    }

    /// Runs work on the entry's files by their names; `nil` where that must not be done now. I/O.
    private func naming<Value: Sendable>(
        _ work: (Store) throws(StoreError) -> Value
    ) -> Result<Value, StoreError>? {
        guard let store = environment.store else { return .failure(StoreError(.unavailable, "there is no store")) }
        do throws(StoreError) {
            return try environment.access.use { () throws(StoreError) in
                try tenure.use { () throws(StoreError) in try work(store) }
            }.map { .success($0) }
        } catch {
            return .failure(error)
        }
    }

    /// Removes the entry. Readers go on with what they have open; whoever comes later gets a new session. I/O.
    package func removeEntry() throws(StoreError) {
        guard let store = environment.store else { return }
        try tenure.end { () throws(StoreError) in try store.remove(key: key.text) }
        perform { $0.retire() }
    }

    /// Pins the entry, or lets it go; `false` where there is none. I/O.
    package func setPinned(_ isPinned: Bool) throws(StoreError) -> Bool {
        guard let store = environment.store else { return false }
        let isFound = try tenure.use { () throws(StoreError) in try store.setPinned(isPinned, key: key.text) }
        if isFound { perform { $0.notePinned(isPinned) } }
        return isFound
    }

    /// Calls `tell` once, at the next change in what is stored or in whether it can be.
    func whenStoredChanges(_ tell: @escaping @Sendable () -> Void) { perform { $0.whenStoredChanges(tell) } }

    /// Tells those who watch what is stored to look again.
    func announce() { perform { $0.storedChanged() } }

    func standing(of reader: Int) -> EntryStanding { state.withLock { $0.standing(of: reader) } }

    private func write(
        _ transfer: Int, _ writer: FillWriter, _ lane: Int, _ pieces: [ArraySlice<UInt8>], _ offset: Int64,
        _ count: Int64
    ) {
        environment.queues.write(lane: lane) {
            guard self.environment.access.enter() else { return self.perform { $0.notWritten(transfer) } }
            var isLost = false
            let error = Self.message { () throws(FileError) in
                // Bytes written to a file without a name would be gone with it.
                if try writer.isUnlinked() { isLost = self.perform { $0.purged(transfer: transfer) } }
                if !isLost { try writer.write(pieces, at: offset) }
            }
            self.environment.access.leave()
            if isLost { return }
            self.perform { $0.wrote(transfer, count: count, error: error) }
        }
    }

    /// Whether others deleted files that `fstat` does not tell of.
    private func lookForPurge(_ number: Int, _ generation: Generation) {
        guard let store = environment.store, let info = state.withLock({ $0.fillable(number, generation) }) else {
            return
        }
        do throws(StoreError) {
            let isPurged = try tenure.use { () throws(StoreError) in try store.isPurged(info, generation) }
            if isPurged { perform { $0.purged(number, generation) } }
        } catch {
            // Removed by its owner, or not to be looked at now: neither is a purge.
            if error.code != .gone { environment.hub.send(.degraded(key: key.text, reason: error.description)) }
        }
    }

    private func sync(_ number: Int, _ generation: Generation, _ summary: EntrySummary) {
        let hub = environment.hub
        let key = key.text
        environment.queues.upkeep {
            guard self.environment.access.enter() else { return }
            defer { self.environment.access.leave() }
            let error = Self.message { () throws(FileError) in
                try generation.write(summary)
                try generation.sync()
            }
            if let error { hub.send(.degraded(key: key, reason: error)) }
            self.lookForPurge(number, generation)
        }
    }

    /// What went wrong in a file call, in words; `nil` where nothing did.
    private static func message(_ work: () throws(FileError) -> Void) -> String? {
        do throws(FileError) {
            try work()
            return nil
        } catch {
            return error.description
        }
    }
}
