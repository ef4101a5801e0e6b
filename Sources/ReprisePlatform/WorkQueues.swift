import Dispatch
import RepriseRanges

/// Where work runs and what time it is: the seam between the engine and threads, so that a simulation can run
/// the whole engine on one thread under one seed.
///
///     event loops   sockets, parsing, decisions under a lock       never a blocking file call
///     read pool     opens, cold reads, verification                4 threads
///     write lanes   body, then slots; stored checksums that are    2 threads
///                   passed; a generation stays on one lane
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
    /// Runs what follows from the caller's work, on its stack; another thread's may come in between, so a simulation has it do so.
    func next(_ work: @escaping @Sendable () -> Void)
    /// What tasks that the engine begins by itself run on; `nil` for the system's threads.
    var executor: (any TaskExecutor)? { get }
}

extension WorkQueues {
    package var executor: (any TaskExecutor)? { nil }

    package func next(_ work: @escaping @Sendable () -> Void) { work() }
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
        timers.after(nanoseconds, work)
    }

    package func soon(_ work: @escaping @Sendable () -> Void) { timers.queue.async(execute: work) }
}

/// Work for later, by one timer of the system's: setting one costs a call to the kernel and another thread's turn, which a
/// request's first byte waits for, and most work is for later than what waits already.
private final class TimerQueue: Sendable {
    private struct State {
        var waiting = TimedQueue()
        /// The system's timer, and when it is due; it is set whenever something waits, and for nothing later than that.
        var timer: (source: any DispatchSourceTimer, due: Int64)?
    }

    /// What a timer may be late by. All have the same: what waits for another's would be as late as that.
    private static let leeway = DispatchTimeInterval.milliseconds(1)
    /// Nothing is later than in some 36 years, which no clock's sums pass their end with.
    private static let longest: Int64 = 1 << 60

    let queue = DispatchQueue(label: "reprise.timers", qos: .userInitiated)
    private let state = Lock(State())

    /// By the clock that the system's timers go by: on Apple's systems it stops while the device sleeps.
    private static func now() -> Int64 { Int64(clamping: DispatchTime.now().uptimeNanoseconds) }

    func after(_ nanoseconds: Int64, _ work: @escaping @Sendable () -> Void) {
        let due = TimerQueue.now().adding(min(max(0, nanoseconds), TimerQueue.longest))
        state.withLock { state in
            state.waiting.add(due: due, work)
            setTimer(&state)
        }
    }

    /// Sets the system's timer for what is due first, where it is not set for that or before.
    private func setTimer(_ state: inout State) {
        guard let due = state.waiting.earliest, state.timer.map({ due < $0.due }) ?? true else { return }
        state.timer?.source.cancel()
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler { self.fired(due) }
        source.schedule(deadline: DispatchTime(uptimeNanoseconds: UInt64(due)), leeway: TimerQueue.leeway)
        source.activate()
        state.timer = (source, due)
    }

    private func fired(_ due: Int64) {
        let now = TimerQueue.now()
        let works = state.withLock { state -> [@Sendable () -> Void] in
            // One that was cancelled may have been on its way.
            guard let timer = state.timer, timer.due == due else { return [] }
            timer.source.cancel()
            state.timer = nil
            var works: [@Sendable () -> Void] = []
            while let item = state.waiting.popFirst(by: now) { works.append(item.work) }
            setTimer(&state)
            return works
        }
        for work in works { work() }
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
