import Dispatch
import RepriseRanges

/// Where work runs and what time it is: the seam between the engine and threads, so that a simulation can run
/// the whole engine on one thread under one seed.
///
///     event loops   sockets, parsing, decisions under a lock       never a blocking file call
///     read pool     opens, cold reads, verification                4 threads
///     write lanes   body, then slots; one lane a generation        2 threads
///     janitor       sync, punch, unlink, scan                      1 thread
package protocol WorkQueues: Sendable {
    /// Nanoseconds of a clock that only runs forwards.
    func now() -> Int64
    /// Seconds since 1970.
    func wallClock() -> Int64
    /// A number from 0 up to, not including, 1; for spreading retries.
    func randomFraction() -> Double
    /// Runs a blocking read, in no order.
    func read(_ work: @escaping @Sendable () -> Void)
    /// Runs a blocking write; work of one lane runs in order, one at a time.
    func write(lane: Int, _ work: @escaping @Sendable () -> Void)
    /// Runs upkeep, in order, one at a time.
    func upkeep(_ work: @escaping @Sendable () -> Void)
    /// Runs short work after `nanoseconds`; it must not block.
    func after(_ nanoseconds: Int64, _ work: @escaping @Sendable () -> Void)
    /// Runs short work soon, not on the caller's stack; it must not block.
    func soon(_ work: @escaping @Sendable () -> Void)
    /// What tasks that the engine begins by itself run on; `nil` for the system's threads.
    var executor: (any TaskExecutor)? { get }
}

extension WorkQueues {
    package var executor: (any TaskExecutor)? { nil }
}

/// Threads of the system's own pool: four to read, two to write, one janitor, one for timers.
package final class SystemWorkQueues: WorkQueues {
    private let readers: ReadPool
    private let writers: [DispatchQueue]
    private let janitor = DispatchQueue(label: "reprise.janitor", qos: .utility)
    private let timers = TimerQueue()

    package init(readers: Int = 4, writers: Int = 2) {
        self.readers = ReadPool(width: readers)
        self.writers = (0..<writers).map { DispatchQueue(label: "reprise.write.\($0)", qos: .userInitiated) }
    }

    package func now() -> Int64 { SystemCalls.monotonicNanoseconds() }

    package func wallClock() -> Int64 { SystemCalls.wallClock() }

    package func randomFraction() -> Double { Double.random(in: 0..<1) }

    package func read(_ work: @escaping @Sendable () -> Void) { readers.run(work) }

    package func write(lane: Int, _ work: @escaping @Sendable () -> Void) {
        writers[Int(UInt(bitPattern: lane) % UInt(writers.count))].async(execute: work)
    }

    package func upkeep(_ work: @escaping @Sendable () -> Void) { janitor.async(execute: work) }

    package func after(_ nanoseconds: Int64, _ work: @escaping @Sendable () -> Void) {
        timers.add(due: now().adding(nanoseconds), work)
    }

    package func soon(_ work: @escaping @Sendable () -> Void) { timers.queue.async(execute: work) }
}

/// Work for later, by one timer of the system's at a time: setting one costs a call to the kernel and another thread's turn, which
/// a request's first byte waits for, and most work is for later than what waits already.
private final class TimerQueue: Sendable {
    private struct State {
        var waiting = TimedQueue()
        /// What the system's timer is set for, in nanoseconds; `.max` for nothing. One that was overtaken fires and does nothing.
        var set = Int64.max

        /// When the system's timer has to be set for; `nil` where it is set early enough.
        mutating func setEarliest() -> Int64? {
            guard let earliest = waiting.earliest, earliest < set else { return nil }
            set = earliest
            return earliest
        }
    }

    let queue = DispatchQueue(label: "reprise.timers", qos: .userInitiated)
    private let state = Lock(State())

    func add(due: Int64, _ work: @escaping @Sendable () -> Void) {
        let time = state.withLock { state in
            state.waiting.add(due: due, work)
            return state.setEarliest()
        }
        if let time { set(for: time) }
    }

    private func set(for time: Int64) {
        let left = max(0, time.adding(-SystemCalls.monotonicNanoseconds()))
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(left))) { self.fired(time) }
    }

    private func fired(_ time: Int64) {
        let now = SystemCalls.monotonicNanoseconds()
        let (due, next) = state.withLock { state -> ([@Sendable () -> Void], Int64?) in
            guard state.set == time else { return ([], nil) }
            state.set = .max
            var due: [@Sendable () -> Void] = []
            while let item = state.waiting.popFirst(by: now) { due.append(item.work) }
            return (due, state.setEarliest())
        }
        if let next { set(for: next) }
        for work in due { work() }
    }
}

/// A few threads on one queue of work, so that one slow read delays only itself.
///
/// Each has a serial queue of its own: those get a thread at once, while a concurrent queue gets its next one only
/// when the system has noticed that the others are blocked (on Linux once a second: measured, 2 s for four threads).
private final class ReadPool: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var next = 0
        var idle: [DispatchQueue]
    }

    private let state: Lock<State>

    init(width: Int) {
        let threads = (0..<width).map { DispatchQueue(label: "reprise.read.\($0)", qos: .userInitiated) }
        state = Lock(State(idle: threads))
    }

    func run(_ work: @escaping @Sendable () -> Void) {
        let thread = state.withLock { state in
            state.waiting.append(work)
            return state.idle.popLast()
        }
        if let thread { thread.async { self.drain(on: thread) } }
    }

    private func drain(on thread: DispatchQueue) {
        while let work = take(for: thread) { work() }
    }

    private func take(for thread: DispatchQueue) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard state.next < state.waiting.count else {
                state.waiting.removeAll(keepingCapacity: true)
                state.next = 0
                state.idle.append(thread)
                return nil
            }
            let work = state.waiting[state.next]
            // What was taken is let go of, also in a queue that never runs empty.
            state.waiting[state.next] = {}
            state.next += 1
            if state.next >= 64, state.next * 2 >= state.waiting.count {
                state.waiting.removeFirst(state.next)
                state.next = 0
            }
            return work
        }
    }
}
