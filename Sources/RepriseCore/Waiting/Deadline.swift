import ReprisePlatform

/// A bound for a number of waits taken together: when it has passed none of them waits any longer.
final class Deadline: Sendable {
    private struct State {
        var hasPassed = false
        var next = 0
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
    }

    private let state = Lock(State())

    /// - Parameter limit: Nanoseconds from now on.
    init(_ limit: Int64, on queues: any WorkQueues) {
        queues.after(limit) { [weak self] in self?.pass() }
    }

    /// Ends all waits, those to come too.
    func pass() {
        let waiting = state.withLock { state in
            state.hasPassed = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(returning: false) }
    }

    /// Whether none waits any longer.
    var hasPassed: Bool { state.withLock(\.hasPassed) }

    /// Calls `begin` and waits until what it was given is called, or the deadline passes: then it is `false`.
    func wait(for begin: (@escaping @Sendable () -> Void) -> Void) async -> Bool {
        await withCheckedContinuation { continuation in
            let number = state.withLock { state -> Int? in
                if state.hasPassed { return nil }
                state.next += 1
                state.waiting[state.next] = continuation
                return state.next
            }
            guard let number else {
                begin {}
                return continuation.resume(returning: false)
            }
            begin { self.state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: true) }
        }
    }
}
