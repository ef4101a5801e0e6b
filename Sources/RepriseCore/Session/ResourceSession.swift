import RepriseHTTP
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
    let environment: SessionEnvironment
    let state: Lock<SessionState>
    let onDeparture: @Sendable (ResourceSession, EntryLifecycle.Departure) -> Void
    /// What the session may do with the entry's files by their names.
    let tenure = EntryTenure()

    init(
        key: ResourceKey, url: OriginURL, fields: HTTPFields, isPrivate: Bool, environment: SessionEnvironment,
        onDeparture: @escaping @Sendable (ResourceSession, EntryLifecycle.Departure) -> Void
    ) {
        self.key = key
        self.environment = environment
        self.onDeparture = onDeparture
        state = Lock(
            SessionState(key: key, url: url, fields: fields, isPrivate: isPrivate, environment: environment))
        state.withLock { state in
            // Later: the session that releases a slot is in the middle of its own effects.
            state.onPlaceFree = { [weak self, queues = environment.queues] in
                queues.soon { [weak self] in self?.perform { $0.placeIsFree() } }
            }
        }
    }

    /// Takes an input to the state, then carries out what it decided.
    @discardableResult
    func perform<Result>(_ input: (inout sending SessionState) -> Result) -> Result {
        var effects: [SessionState.Effect] = []
        var unwritten: Int64 = 0
        let result = state.withLock { state in
            let result = input(&state)
            effects = state.takeEffects()
            unwritten = state.takeUnwrittenChange()
            return result
        }
        if unwritten != 0 { environment.unwritten.add(unwritten) }
        for effect in effects { carryOut(effect) }
        return result
    }

    // MARK: For readers

    /// Adds a reader; `nil` where the session was closed meanwhile.
    func attach(
        url: OriginURL, fields: HTTPFields, position: Int64, end: Int64, priority: TransferPlanner.Priority,
        isKept: Bool = true
    ) -> Int? {
        perform { state in
            guard state.lifecycle.isListed else { return nil }
            state.url = environment.freshURLs?.newest(url) ?? url
            state.caller = Caller(fields, for: url)
            environment.hub.count { $0.readers += 1 }
            return state.attach(position: position, end: end, priority: priority, isKept: isKept)
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

    /// How a reader's request was handled, as far as that is known now.
    func outcome(of reader: Int) -> CacheStatus? { state.withLock { $0.outcome(of: reader) } }

    /// The variant a reader that failed with `otherVariant` is to be given.
    func variant(of reader: Int) -> Variant? { state.withLock { $0.readers[reader]?.variant } }

    /// Whether it has no reader, no transfer and nothing to write.
    var isIdle: Bool { state.withLock { $0.isIdle } }

    /// Since when it is idle, in nanoseconds; `nil` where it is not.
    var idleSince: Int64? { state.withLock { $0.isIdle ? $0.lifecycle.idleSince : nil } }

    /// Leaves the table of open resources where nothing was ever opened and no reader is left.
    func leaveIfUnopened() { perform { if $0.lifecycle.isClosed { $0.close() } } }

    /// Closes the files now if nobody reads; `false` where somebody does.
    @discardableResult
    package func closeIfIdle() -> Bool {
        perform { state in
            for id in state.transfers.ids where state.readers.isEmpty { state.finish(id) }
            state.close()
            return state.lifecycle.isGone
        }
    }

    /// Closes the files after `shutDown`, whether or not the disk has taken all.
    func closeForGood() { perform { $0.abandonUnwritten() } }

    /// Tries at once what waits for the origin to be reached again.
    func networkPathReturned() { perform { $0.networkPathReturned() } }

    /// Ends every reader with an error and lets transfers go; for shutting down.
    package func shutDown() {
        perform { $0.shutDown() }
    }

    /// The bytes stored or in memory, as far as slots have been read.
    package var storedRanges: ByteRangeSet {
        state.withLock { state in
            state.current.flatMap { state.representations[$0]?.generation?.claimed } ?? ByteRangeSet()
        }
    }

    /// What the entry has brought, as far as is known before it is open.
    package var statistics: EntryStatistics { state.withLock { $0.sums } }

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
            let readers = state.readers.map { reader in
                "reader \(reader.id) at \(reader.position) of \(reader.end) in \(reader.representation ?? 0)"
                    + (reader.isWaiting ? " waiting" : "") + (reader.isBound ? " bound" : "")
                    + (reader.failure.map { " failed: \($0)" } ?? "")
            }
            let transfers = state.transfers.map { transfer in
                "transfer \(transfer.id) of \(transfer.representation ?? 0) at \(state.head(of: transfer)) "
                    + "goal \(transfer.goal) asked \(transfer.lastAsked)"
                    + (transfer.request == nil ? "" : " requesting") + (transfer.isSequential ? " sequential" : "")
            }
            let buffers = state.representations.ids.flatMap { state.buffers.of($0) }.map { buffer in
                "buffer \(buffer.id.number) of \(buffer.representation) \(buffer.range) drained \(buffer.drained)"
                    + (buffer.isReleased ? " released" : "") + (buffer.isWriting ? " writing" : "")
            }
            let representations = state.representations.map { representation in
                "representation \(representation.id) length \(representation.info.length ?? -1)"
                    + (representation.isCommitted ? " committed" : "")
                    + (representation.isSuperseded ? " superseded" : "")
                    + " \(representation.storage.destination)".prefix(12)
                    + " \(representation.generation?.claimed.description ?? "")"
            }
            let trouble = state.trouble.map { ["trouble: \($0.error), \($0.attempts) attempts"] } ?? []
            return (readers + transfers + buffers + representations + trouble).joined(separator: "\n")
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
        tenure.end()
        perform { $0.retire() }
    }

    /// Whether bytes are on their way to the disk.
    package var isWriting: Bool { state.withLock { $0.buffers.isWriting } }

    /// Bytes held in memory, for tests of the bound.
    package var bytesInMemory: Int64 { state.withLock { $0.buffers.bytesInMemory } }
}
