import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// Work on files: on the read pool, the write lanes and the janitor. What cannot be done while the store is given away is put
/// aside.
extension ActiveEntry {
    /// - Returns: What comes of it where no file is looked for: there is none, or not now.
    func openFiles() -> EntryInput? {
        guard environment.access.isOpen else { return .deferred(.open) }
        guard let store = environment.store, !look({ $0.isPrivate }) else { return .opened(nil, nil) }
        onReadPool(.open) { self.opened(in: store) }
        return nil
    }

    /// What there is of the entry: nothing where its files are another's by now. Opening may remove what is damaged beyond use.
    private func opened(in store: Store) -> EntryInput {
        lease.join()
        do throws(StoreError) {
            guard !lease.isOver, let entry = try store.open(key: key.text) else { return .opened(nil, nil) }
            // What has no byte yet is replaced by the next answer, which makes files of its own.
            return .opened(entry.mayGetOthersBytes ? nil : entry, nil)
        } catch {
            return .opened(nil, error)
        }
    }

    // MARK: Reading

    /// Runs work on files on the read pool; puts `action` aside where that must not be done now. The machine is told before the
    /// work counts as ended: who takes the store back looks after what is open.
    private func onReadPool(
        _ action: @autoclosure @escaping @Sendable () -> EntryAction, _ work: @escaping @Sendable () -> EntryInput
    ) {
        environment.queues.read {
            guard self.environment.access.enter() else { return self.handle(.deferred(action())) }
            let input = work()
            self.handle(input)
            self.environment.access.leave()
        }
    }

    func load(_ id: RepresentationID, _ generation: Generation, _ range: ByteRange) {
        onReadPool(.load(id, generation, range)) {
            let error = Self.message { () throws(FileError) in try generation.load(range) }
            return .indexRead(id, range, damaged: 0, error: error)
        }
    }

    func verify(_ id: RepresentationID, _ generation: Generation, _ range: ByteRange) {
        onReadPool(.verify(id, generation, range)) {
            var damaged: Int64 = 0
            let error = Self.message { () throws(FileError) in damaged = try generation.verify(range) }
            return .indexRead(id, range, damaged: damaged, error: error)
        }
    }

    func withdraw(_ id: RepresentationID, _ generation: Generation) {
        onReadPool(.withdraw(id, generation)) {
            generation.acceptDisturbance()
            let error = Self.message { () throws(FileError) in try generation.withdrawVerification() }
            return .indexRead(id, ByteRange(0, 0), damaged: 0, error: error)
        }
    }

    func readOverlap(
        _ transfer: TransferID, _ id: RepresentationID, _ generation: Generation, _ range: ByteRange
    ) {
        onReadPool(.readOverlap(transfer, id, generation, range)) {
            var bytes: [UInt8]?
            _ = Self.message { () throws(FileError) in
                try generation.verify(range)
                if let lease = generation.lease(range), lease.range == range { bytes = try lease.read() }
            }
            return .overlapRead(transfer, id, bytes)
        }
    }

    // MARK: Files by their names

    func stage(_ id: RepresentationID, _ info: EntryInfo, _ naming: EntryAction.NamingOfMade) {
        environment.queues.read {
            switch self.naming({ store throws(StoreError) -> StoredEntry? in
                if naming == .again, try store.namesAnother(than: info) { return nil }
                let entry = try store.stage(info)
                guard naming != .later else { return entry }
                try self.lease.check()
                try store.commit(entry.info)
                return entry
            }) {
            case nil: self.handle(.deferred(.stage(id, info, naming)))
            case .success(nil): self.handle(.placeTaken(id))
            case .success(let entry?): self.handle(.staged(id, entry, isCommitted: naming != .later, nil))
            case .failure(let error): self.handle(.staged(id, nil, isCommitted: false, error))
            }
        }
    }

    func commit(_ id: RepresentationID, _ info: EntryInfo, syncing generation: Generation?) {
        // One lane for all descriptions, so that they are written in the order they were decided.
        environment.queues.write(lane: 0) {
            let answer = self.naming { store throws(StoreError) in
                try store.commit(info, syncing: generation, isRewrite: generation == nil)
            }
            switch answer {
            case nil: self.handle(.deferred(.commit(id, info, syncing: generation)))
            case .failure(let error): self.handle(.committed(id, error))
            case .success: self.handle(.committed(id, nil))
            }
        }
    }

    func abandon(_ info: EntryInfo) {
        environment.queues.upkeep {
            let answer = self.naming { store throws(StoreError) in try store.abandon(info) }
            if answer == nil { return self.handle(.deferred(.abandon(info))) }
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
                try lease.use { () throws(StoreError) in try work(store) }
            }.map { .success($0) }
        } catch {
            return .failure(error)
        }
    }

    // MARK: Writing

    func write(_ order: WriteOrder, lane: Int) {
        environment.queues.write(lane: lane) {
            guard self.environment.access.enter() else { return self.handle(.notWritten(order.ticket)) }
            var isLost = false
            let error = Self.message { () throws(FileError) in
                // Bytes written to a file without a name would be gone with it.
                if try order.writer.isUnlinked() { isLost = self.answer { $0.foundUnlinked(order.ticket) } }
                if !isLost { try order.writer.write(order.chunks, at: order.ticket.range.lowerBound) }
            }
            let damaged = order.writer.takeDamagedBlocks()
            self.environment.access.leave()
            if isLost { return }
            // Counted first: what is written next goes by it.
            if error == nil { self.environment.quota.stored(order.ticket.range.count) }
            self.handle(.wrote(order.ticket, damaged: damaged, error: error))
        }
    }

    func sync(_ id: RepresentationID, _ generation: Generation, _ summary: EntrySummary) {
        environment.queues.upkeep {
            guard self.environment.access.enter() else {
                // The store is being let go, and its index has not what is told here.
                self.environment.store?.distrustIndex()
                return
            }
            defer { self.environment.access.leave() }
            guard let store = self.environment.store else { return }
            let error = Self.message { () throws(FileError) in
                // What had to wait for a lease; before the summary, which tells what is taken.
                try generation.punchPending()
                try store.write(summary, to: generation)
                try generation.sync()
            }
            if let error { self.environment.hub.send(.degraded(key: self.key.text, reason: error)) }
            self.lookForDeletion(id, generation)
            self.environment.quota.synced()
        }
    }

    /// Whether others deleted the entry's description, or files that `fstat` does not tell of.
    private func lookForDeletion(_ id: RepresentationID, _ generation: Generation) {
        let filled = look { machine in machine.fillable(id, generation).map { ($0.info, machine.named) } }
        guard let store = environment.store, let (info, named) = filled else { return }
        do throws(StoreError) {
            let (isDescribed, isThere) = try lease.use { () throws(StoreError) in
                // By any description: one of our own may be on its way.
                (try store.hasEntry(key: info.key), try store.stillNames(info, generation, isCommitted: false))
            }
            if let named, !isDescribed { handle(.descriptionDeleted(of: named.id, number: named.number)) }
            if !isThere { handle(.filesDeleted(id, generation)) }
        } catch {
            // Removed by its owner, or not to be looked at now: neither is a deletion by others.
            if error.code != .gone { environment.hub.send(.degraded(key: key.text, reason: error.description)) }
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
