import ReprisePlatform

/// A bound for a number of waits taken together: when it has run out none of them waits any longer.
final class Patience: Sendable {
    private struct State {
        var isOut = false
        var next = 0
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
    }

    private let state = Lock(State())

    /// - Parameter limit: Nanoseconds from now on.
    init(_ limit: Int64, on queues: any WorkQueues) {
        queues.after(limit) { [weak self] in self?.runOut() }
    }

    /// Ends all waits, those to come too.
    func runOut() {
        let waiting = state.withLock { state in
            state.isOut = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(returning: false) }
    }

    /// Calls `begin` and waits until what it was given is called; `false` where patience ran out before.
    func wait(for begin: (@escaping @Sendable () -> Void) -> Void) async -> Bool {
        await withCheckedContinuation { continuation in
            let number = state.withLock { state -> Int? in
                if state.isOut { return nil }
                state.next += 1
                state.waiting[state.next] = continuation
                return state.next
            }
            guard let number else { return continuation.resume(returning: false) }
            begin { self.state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: true) }
        }
    }
}
