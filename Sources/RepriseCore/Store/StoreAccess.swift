import ReprisePlatform
package import RepriseStorage

/// The store as entries reach it: there, being left, or out of reach for now.
///
///     open --beginLeaving--> leaving --shut--> shut --reopen--> open
///
/// Work that may change files under the root is counted, so that whoever gives the root's lock away knows when none
/// runs any more. Its lock is a leaf.
package final class StoreAccess: Sendable {
    private enum Phase { case open, leaving, shut }

    private struct State {
        var store: Store?
        var phase = Phase.open
        var running = 0
        /// When work was noticed to take too long, and none has ended since; nanoseconds.
        var silentSince: Int64?
        var whenStill: [@Sendable () -> Void] = []
    }

    private let state: Lock<State>

    package init(_ store: Store?) { state = Lock(State(store: store)) }

    /// The store; `nil` where nothing can be stored and bytes pass through.
    package var store: Store? { state.withLock { $0.store } }

    /// Whether entries may be opened now. Where not, whoever wants to waits for `reopen`.
    package var isOpen: Bool { state.withLock { $0.phase == .open } }

    /// Begins work that may change files; `false` where none may now, or nothing can be stored. Each `true` wants a `leave`.
    package func enter() -> Bool {
        state.withLock { state in
            guard state.phase != .shut, state.store != nil else { return false }
            state.running += 1
            return true
        }
    }

    /// Ends work that was begun by `enter`.
    package func leave() {
        let still = state.withLock { state -> [@Sendable () -> Void] in
            state.silentSince = nil
            state.running -= 1
            guard state.running == 0 else { return [] }
            defer { state.whenStill = [] }
            return state.whenStill
        }
        for tell in still { tell() }
    }

    /// Runs work that may change files; `nil` where none may now.
    package func use<Value>(_ work: () throws(StoreError) -> Value) throws(StoreError) -> Value? {
        guard enter() else { return nil }
        defer { leave() }
        return try work()
    }

    /// Whether work was noticed to take too long within the last `time` nanoseconds, and none has ended since.
    package func isSilent(within time: Int64, now: Int64) -> Bool {
        state.withLock { $0.silentSince.map { now - $0 < time } ?? false }
    }

    /// Work takes too long.
    package func noteSilence(now: Int64) { state.withLock { $0.silentSince = now } }

    /// Work that was begun without `enter` has ended.
    package func noteAnswer() { state.withLock { $0.silentSince = nil } }

    // MARK: Giving the root away

    /// No entry is opened any more; writes under way go on.
    package func beginLeaving() { state.withLock { $0.phase = .leaving } }

    /// No more work begins; calls `tell` once what runs has ended.
    package func shut(_ tell: @escaping @Sendable () -> Void) {
        let isStill = state.withLock { state in
            state.phase = .shut
            if state.running > 0 { state.whenStill.append(tell) }
            return state.running == 0
        }
        if isStill { tell() }
    }

    /// Whether none runs any more, and none begins.
    package var isStill: Bool { state.withLock { $0.phase == .shut && $0.running == 0 } }

    /// Lets work begin again, in `store`, or without one.
    package func reopen(_ store: Store?) {
        state.withLock { state in
            state.store = store
            state.phase = .open
        }
    }
}
