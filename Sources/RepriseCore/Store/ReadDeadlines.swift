import ReprisePlatform
import RepriseRanges

/// Reads of leased bytes that are under way, each with a time after which its reader goes on without it.
///
///     begun --end in time--> answered
///       \--its time is over--> late --end--> answered late
///
/// One timer for all of them, as nearly every read ends long before its time. Safe to use from any thread; its lock is a leaf.
final class ReadDeadlines: Sendable {
    private enum Phase {
        case begun(due: Int64, onLate: @Sendable () -> Void)
        /// It is just being told that it is late.
        case telling
        case late
        /// It ended while it was told that it is late.
        case ended(onAnswer: @Sendable () -> Void)
    }

    private struct State {
        var reads: [Int: Phase] = [:]
        var lastNumber = 0
        /// When the timer goes off; `nil` where none is set.
        var timer: Int64?
    }

    private let queues: any WorkQueues
    private let state = Lock(State())

    init(_ queues: any WorkQueues) { self.queues = queues }

    /// A read begins.
    /// - Parameters:
    ///   - timeout: Nanoseconds.
    ///   - onLate: Called once where the read has not ended within `timeout`; on any thread, it must be quick.
    /// - Returns: The number `end` wants.
    func begin(_ timeout: Int64, onLate: @escaping @Sendable () -> Void) -> Int {
        let due = queues.now().adding(timeout)
        let (number, setsTimer) = state.withLock { state in
            state.lastNumber += 1
            state.reads[state.lastNumber] = .begun(due: due, onLate: onLate)
            guard due < state.timer ?? .max else { return (state.lastNumber, false) }
            state.timer = due
            return (state.lastNumber, true)
        }
        if setsTimer { setTimer(due) }
        return number
    }

    /// A read ended. `true` where that was in time; else `onAnswer` is called, after all that `onLate` did.
    func end(_ number: Int, onAnswer: @escaping @Sendable () -> Void) -> Bool {
        let (isInTime, isTold) = state.withLock { state in
            switch state.reads[number] {
            case .begun:
                state.reads[number] = nil
                return (true, false)
            case .telling:
                state.reads[number] = .ended(onAnswer: onAnswer)
                return (false, false)
            case .late, .ended, nil:
                state.reads[number] = nil
                return (false, true)
            }
        }
        if isTold { onAnswer() }
        return isInTime
    }

    private func setTimer(_ time: Int64) {
        queues.after(max(0, time - queues.now())) { [weak self] in self?.look(time) }
    }

    /// Tells of those that are late, and sets the timer for the next.
    private func look(_ time: Int64) {
        let now = queues.now()
        let (late, next) = state.withLock { state -> ([(Int, @Sendable () -> Void)], Int64?) in
            // One for an earlier time was set since.
            guard state.timer == time else { return ([], nil) }
            var late: [(Int, @Sendable () -> Void)] = []
            var next: Int64?
            for (number, phase) in state.reads {
                guard case .begun(let due, let onLate) = phase else { continue }
                if due <= now {
                    late.append((number, onLate))
                    state.reads[number] = .telling
                } else {
                    next = min(next ?? due, due)
                }
            }
            state.timer = next
            return (late.sorted { $0.0 < $1.0 }, next)
        }
        if let next { setTimer(next) }
        for (number, onLate) in late {
            onLate()
            told(number)
        }
    }

    private func told(_ number: Int) {
        let onAnswer = state.withLock { state -> (@Sendable () -> Void)? in
            if case .ended(let onAnswer) = state.reads[number] {
                state.reads[number] = nil
                return onAnswer
            }
            state.reads[number] = .late
            return nil
        }
        onAnswer?()
    }
}
