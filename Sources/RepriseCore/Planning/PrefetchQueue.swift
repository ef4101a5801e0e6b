import ReprisePlatform
import RepriseRanges

/// What comes first where many things are fetched ahead. Whatever is played comes before all of them.
public enum PrefetchPriority: Int, Sendable, Hashable, Comparable {
    case low, normal, high

    /// Whether one comes after another.
    public static func < (left: PrefetchPriority, right: PrefetchPriority) -> Bool { left.rawValue < right.rawValue }
}

/// What fetching ahead may take.
public struct PrefetchLimits: Sendable, Hashable {
    /// How many fetch at a time; the others wait, by priority and in the order they came. At least 1. (Of the six
    /// requests a host is sent at once three are left for what is played.)
    public var parallel: Int
    /// Bytes a second from origins for all of them together; `nil` for as fast as they come.
    public var bytesPerSecond: Int64?

    /// Makes limits.
    public init(parallel: Int = 3, bytesPerSecond: Int64? = nil) {
        self.parallel = parallel
        self.bytesPerSecond = bytesPerSecond
    }
}

/// When the bytes that came are paid for. Nanoseconds of any clock that only runs forwards. No I/O.
package struct PrefetchPace: Sendable, Hashable {
    private let rate: Int64?
    private var paidUntil: Int64 = .min

    /// - Parameter bytesPerSecond: The rate, at least 1; `nil` where nothing is to be paid.
    package init(bytesPerSecond: Int64?) { rate = bytesPerSecond.map { max(1, $0) } }

    /// When the next bytes may come, after so many came now.
    package mutating func due(after bytes: Int, now: Int64) -> Int64 {
        guard let rate else { return now }
        let time = Double(bytes) * Double(TransferTuning.second) / Double(rate)
        paidUntil = max(now, paidUntil).adding(Int64(min(time, 0x1p60)))
        return paidUntil
    }
}

/// Lets fetches ahead through, few at a time and no faster than they may. Its lock is a leaf.
final class PrefetchQueue: Sendable {
    private struct Waiting {
        let serial: Int
        let priority: PrefetchPriority
        let waker: Waker
    }

    private struct State {
        var running = 0
        var nextSerial = 0
        var waiting: [Waiting] = []
        var pace: PrefetchPace
    }

    private let limits: PrefetchLimits
    private let queues: any WorkQueues
    private let state: Lock<State>

    init(_ limits: PrefetchLimits, queues: any WorkQueues) {
        self.limits = limits
        self.queues = queues
        state = Lock(State(pace: PrefetchPace(bytesPerSecond: limits.bytesPerSecond)))
    }

    /// How many wait for their turn.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// A place in the queue; `nil` where it is the caller's turn at once.
    struct Place: Sendable {
        fileprivate let serial: Int
        fileprivate let waker: Waker
    }

    /// Takes a place. `wait`, and after that `leave`, have to follow.
    func enter(_ priority: PrefetchPriority) -> Place? {
        state.withLock { state in
            if state.running < max(1, limits.parallel) {
                state.running += 1
                return nil
            }
            state.nextSerial += 1
            let waiting = Waiting(serial: state.nextSerial, priority: priority, waker: Waker())
            let index = state.waiting.firstIndex { $0.priority < priority } ?? state.waiting.count
            state.waiting.insert(waiting, at: index)
            return Place(serial: waiting.serial, waker: waiting.waker)
        }
    }

    /// Returns when it is the turn of a place.
    /// - Throws: `CancellationError`; then `leave` must not follow.
    func wait(_ place: Place?) async throws {
        guard let place else { return }
        do { try await place.waker.wait() } catch {
            let wasWaiting = state.withLock { state in
                let index = state.waiting.firstIndex { $0.serial == place.serial }
                if let index { state.waiting.remove(at: index) }
                return index != nil
            }
            // Its turn came while it was cancelled.
            if !wasWaiting { leave() }
            throw error
        }
    }

    /// Ends a turn.
    func leave() {
        let next = state.withLock { state -> Waker? in
            if state.waiting.isEmpty {
                state.running -= 1
                return nil
            }
            return state.waiting.removeFirst().waker
        }
        next?.wake()
    }

    /// Waits as long as so many bytes from the origin have to take.
    /// - Throws: `CancellationError`.
    func pay(_ bytes: Int) async throws {
        let now = queues.now()
        let due = state.withLock { $0.pace.due(after: bytes, now: now) }
        // So small debts are let stand: timers cost more.
        guard due - now > TransferTuning.millisecond.multiplied(by: 5) else { return }
        let waker = Waker()
        queues.after(due - now) { waker.wake() }
        try await waker.wait()
    }
}
