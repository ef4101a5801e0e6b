import RepriseHTTP
import ReprisePlatform
import RepriseRanges
package import RepriseStorage

/// Carrying out what the state decided: the origin, the read pool, the write lanes, the janitor. Results come back as
/// inputs.
extension ResourceSession {
    func carryOut(_ effect: SessionState.Effect) {
        switch effect {
        case .open: openEntry()
        case .wake(let wake): wake()
        case .send(let transfer, let serial, let request): send(transfer, serial, request)
        case .demand(let exchange): exchange.demand()
        case .cancel(let exchange): exchange.cancel()
        case .leaveHost(let origin): environment.hosts.leave(origin)
        case .holdOff(let origin, let scope, let until, let error):
            environment.hosts.holdOff(origin, scope, until: until, error, now: environment.queues.now())
        case .load(let number, let generation, let range): load(number, generation, range)
        case .verify(let number, let generation, let range): verify(number, generation, range)
        case .withdraw(let number, let generation): withdraw(number, generation)
        case .readOverlap(let transfer, let generation, let range): readOverlap(transfer, generation, range)
        case .stage(let number, let info, let commit): stage(number, info, commit: commit)
        case .commit(let number, let info, let generation): commit(number, info, syncing: generation)
        case .abandon(let info): abandon(info)
        case .write(let order, let lane): write(order, lane: lane)
        case .sync(let number, let generation, let summary): sync(number, generation, summary)
        case .makeRoom: environment.quota.call()
        case .tick(let time):
            environment.queues.after(max(0, time - environment.queues.now())) { [weak self] in
                self?.perform { $0.tick(time) }
            }
        case .event(let event): environment.hub.send(event)
        case .count(let change): environment.hub.count(change)
        case .refresh(let serial, let refused):
            environment.freshURLs?.ask(refused) { [weak self] answer in
                self?.perform { $0.refreshed(serial, answer) }
            }
        case .endTenure: tenure.end()
        case .depart(let departure): onDeparture(self, departure)
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
                var damaged: Int64 = 0
                let error = Self.message { () throws(FileError) in damaged = try generation.verify(range) }
                let dropped = damaged
                self.perform { $0.read(number, range, damaged: dropped, error: error) }
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

    private func commit(_ number: Int, _ info: EntryInfo, syncing generation: Generation?) {
        // One lane for all descriptions, so that they are written in the order they were decided.
        environment.queues.write(lane: 0) {
            let answer = self.naming { store throws(StoreError) in try store.commit(info, syncing: generation) }
            switch answer {
            case nil: self.hold(.commit(representation: number, info, syncing: generation))
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

    /// Has the entry confirmed before it is used again. I/O.
    package func invalidate() throws(StoreError) {
        if let store = environment.store {
            do throws(StoreError) {
                _ = try tenure.use { () throws(StoreError) in
                    try store.setChecked(Freshness.invalidated, key: key.text)
                }
            } catch {
                // The entry is not this session's any more; whose it is, is told by itself.
                if error.code != .gone { throw error }
            }
        }
        perform { $0.invalidate() }
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

    private func write(_ order: WriteOrder, lane: Int) {
        environment.queues.write(lane: lane) {
            guard self.environment.access.enter() else { return self.perform { $0.notWritten(order.ticket) } }
            var isLost = false
            let error = Self.message { () throws(FileError) in
                // Bytes written to a file without a name would be gone with it.
                if try order.writer.isUnlinked() { isLost = self.perform { $0.purged(order.ticket) } }
                if !isLost { try order.writer.write(order.chunks, at: order.ticket.range.lowerBound) }
            }
            self.environment.access.leave()
            if isLost { return }
            self.perform { $0.wrote(order.ticket, error: error) }
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
                // What had to wait for a lease; before the summary, which tells what is taken.
                try generation.punchPending()
                try generation.write(summary)
                try generation.sync()
            }
            if let error { hub.send(.degraded(key: key, reason: error)) }
            self.lookForPurge(number, generation)
            self.environment.quota.synced()
        }
    }

    /// What went wrong in a file call, in words; `nil` where nothing did.
    static func message(_ work: () throws(FileError) -> Void) -> String? {
        do throws(FileError) {
            try work()
            return nil
        } catch {
            return error.description
        }
    }
}
