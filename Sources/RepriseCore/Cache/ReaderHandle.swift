package import RepriseHTTP
package import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// A reader as the doors use it: no waiting inside, bytes as leases on the file or as memory.
///
/// Any thread may call it, one call at a time a handle; `leave` may come at any time.
package final class ReaderHandle: Sendable {
    package enum Step: Sendable {
        /// Bytes that are only in memory, or a transformed copy of them, and their offset.
        case memory(ArraySlice<UInt8>, at: Int64)
        /// Verified bytes in the body file.
        case lease(ReaderLease)
        /// Nothing yet: the waker given with the call is called once when it is worth asking again, which may be before the call
        /// returns.
        case pending
        /// The end of the range or of the resource.
        case end
        case failed(CacheError)
    }

    private struct State {
        var entry: ActiveEntry
        var id: ReaderID?
        var position: Int64
        var end: Int64
        var hasLeft = false
        var variants = 0
        /// What it reads is an answer instead of the resource: nothing is to be made of that.
        var isOther = false
    }

    /// A variant that leads to another and so on is an origin that does not know what it wants; beyond so many the
    /// reader asks for itself.
    private static let mostVariants = 3

    package let queues: any WorkQueues
    /// What makes the resource's bytes those a player is given: here, so that no door can forget it.
    private let resourceTransform: CheckedTransform?
    private let attach: @Sendable (Redirect, _ position: Int64, _ end: Int64) -> EntryTable.Attachment
    private let state: Lock<State>

    init(
        _ first: EntryTable.Attachment, position: Int64, end: Int64, queues: any WorkQueues,
        transform: CheckedTransform?,
        attach: @escaping @Sendable (Redirect, _ position: Int64, _ end: Int64) -> EntryTable.Attachment
    ) {
        self.queues = queues
        resourceTransform = transform
        self.attach = attach
        state = Lock(State(entry: first.entry, id: first.id, position: position, end: end))
    }

    deinit { leave() }

    private var transform: CheckedTransform? {
        guard let resourceTransform else { return nil }
        return state.withLock { $0.isOther } ? nil : resourceTransform
    }

    private func current() -> (entry: ActiveEntry, id: ReaderID)? {
        state.withLock { state in state.id.map { (state.entry, $0) } }
    }

    /// Bytes from the reader's position on, at most `limit`.
    package func step(limit: Int, wake: @escaping @Sendable () -> Void) -> Step {
        guard let transform else { return stored(limit: limit, wake: wake) }
        let step = stored(limit: min(limit, CheckedTransform.mostAtOnce), wake: wake)
        guard case .memory(let bytes, let offset) = step else { return step }
        return .memory(transform.applied(to: bytes, at: offset), at: offset)
    }

    private func stored(limit: Int, wake: @escaping @Sendable () -> Void) -> Step {
        guard let (entry, id) = current() else { return .failed(CacheError(.closed, "the reader was closed")) }
        switch entry.read(id, limit: limit, wake: wake) {
        case .memory(let bytes, let offset): return .memory(bytes, at: offset)
        case .lease(let lease): return .lease(ReaderLease(lease, transform))
        case .pending: return .pending
        case .end: return .end
        case .failed(let error): return .failed(error)
        case .redirected(let redirect):
            goOn(with: redirect)
            return stored(limit: limit, wake: wake)
        }
    }

    /// Length, type and validators, once they are known; `nil` while they are not.
    /// - Parameter interim: Is told of each interim answer (1xx), at most once, from inside the call.
    package func info(
        interim: (OriginResponseHead) -> Void = { _ in }, wake: @escaping @Sendable () -> Void
    ) -> Result<ContentInfo?, CacheError> {
        guard let (entry, id) = current() else { return .failure(CacheError(.closed, "the reader was closed")) }
        switch entry.info(id, wake: wake) {
        case .known(let info):
            guard resourceTransform != nil else { return .success(info) }
            state.withLock { $0.isOther = !info.isResource }
            return .success(info.isResource ? info.withoutDigests() : info)
        case .interim(let head):
            interim(head)
            return info(interim: interim, wake: wake)
        case .pending: return .success(nil)
        case .failed(let error): return .failure(error)
        case .redirected(let redirect):
            goOn(with: redirect)
            return info(interim: interim, wake: wake)
        }
    }

    /// How the request was handled, for `Cache-Status`: a miss turns out once `info` or bytes are there. `nil` after
    /// leaving.
    package var outcome: CacheStatus? { current().flatMap { $0.entry.outcome(of: $0.id) } }

    /// Moves to `position`, and to another end.
    package func setRange(position: Int64, end: Int64) {
        state.withLock { state in
            state.position = position
            state.end = end
        }
        if let (entry, id) = current() { entry.handle(.seek(id, to: position, end: end)) }
    }

    /// Moves to `position`; the end stays.
    package func seek(to position: Int64) {
        state.withLock { $0.position = position }
        if let (entry, id) = current() { entry.handle(.seek(id, to: position, end: nil)) }
    }

    /// Puts leased bytes back that turned out to be disturbed on disk: they are verified again, or fetched.
    package func putBack(_ lease: ReaderLease) {
        if let (entry, id) = current() { entry.handle(.putBack(id, lease.range)) }
    }

    /// Reads leased bytes on the read pool and hands them over on another thread; `nil` where they were disturbed on disk, or the
    /// disk does not answer: the lease has been put back then, and it is worth asking again.
    package func read(_ lease: ReaderLease, then: @escaping @Sendable ([UInt8]?) -> Void) {
        let entry = state.withLock { $0.entry }
        let (reads, generation) = (entry.environment.reads, lease.generation)
        let number = reads.begin(entry.environment.diskTimeout) {
            entry.handle(.leaseLate(generation))
            self.putBack(lease)
            then(nil)
        }
        queues.read {
            var bytes: [UInt8]?
            if lease.isUndisturbed {
                do throws(FileError) { bytes = try lease.read() } catch { bytes = nil }
            }
            let isInTime = reads.end(number) {
                entry.environment.access.noteAnswer()
                entry.handle(.leaseAnswered(generation))
            }
            guard isInTime else { return }
            if bytes == nil { self.putBack(lease) }
            then(bytes)
        }
    }

    /// A paused reader asks for nothing ahead.
    package func setPaused(_ isPaused: Bool) {
        if let (entry, id) = current() { entry.handle(.pause(id, isPaused)) }
    }

    /// Calls `tell` at the next change in what is stored or in whether it can be; at once where the reader left, or goes on
    /// elsewhere meanwhile.
    func whenStoredChanges(_ tell: @escaping @Sendable () -> Void) {
        guard let (entry, _) = current() else { return tell() }
        entry.handle(.watchStorage(tell))
        if current()?.entry !== entry { tell() }
    }

    /// Tells those who watch what is stored to look again.
    func announce() { current()?.entry.handle(.announceStorage) }

    /// Whether anything comes from the origin for what it reads.
    var isFetching: Bool { (current()?.entry.activity.transfers ?? 0) > 0 }

    /// Where what it reads is stored; `nil` where it left, or its cache was closed.
    var storage: StorageStatus? { current().flatMap { $0.entry.status(of: $0.id) } }

    /// Whether there is an answer that may be the one for its request, fresh or stale.
    package var isKnown: Bool { current()?.entry.isKnown ?? false }

    /// Why a request with those fields goes on to the origin.
    package func forward(of fields: HTTPFields) -> CacheStatus.Forward {
        current()?.entry.forward(of: fields) ?? .uriMiss
    }

    /// What the origin has answered a HEAD for the same request confirms what is stored, or shows that it has to be confirmed
    /// (RFC 9111 §4.3.5).
    /// - Parameters:
    ///   - fields: What it was asked with.
    ///   - sentAt: When that was, in nanoseconds of `queues`.
    package func answeredHead(_ head: OriginResponseHead, to fields: HTTPFields, sentAt: Int64) {
        current()?.entry.handle(.answeredHead(head, fields, sentAt: sentAt))
    }

    /// Leaves; the planner sees one reader less.
    package func leave() {
        state.withLock { $0.hasLeft = true }
        detach()
    }

    private func detach() {
        let left = state.withLock { state in
            defer { state.id = nil }
            return state.id.map { (state.entry, $0) }
        }
        if let (entry, id) = left { entry.handle(.detach(id)) }
    }

    /// Goes on with another entry: this one's answer is not for this reader, which has had nothing of it.
    private func goOn(with redirect: Redirect) {
        let (position, end, next) = state.withLock { state in
            state.variants += 1
            return (state.position, state.end, state.variants <= ReaderHandle.mostVariants ? redirect : .alone)
        }
        let attachment = attach(next, position, end)
        // In one step: who looks meanwhile must not find that there is no reader.
        let (left, id, hasLeft) = state.withLock { state in
            defer { (state.entry, state.id) = (attachment.entry, attachment.id) }
            return (state.entry, state.id, state.hasLeft)
        }
        if let id { left.handle(.detach(id)) }
        if hasLeft { detach() }
        // Those who watch what is stored for this reader watch the entry that was left.
        left.handle(.announceStorage)
    }
}
