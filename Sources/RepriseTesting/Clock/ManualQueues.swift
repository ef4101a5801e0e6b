import ReprisePlatform

/// Work queues on one thread and a clock that stands still until it is told to go on: the same seed gives the same run.
///
/// Work that is due runs in an order drawn from the seed (lanes keep theirs), so that a test meets the interleavings
/// that threads would have made, and can meet them again.
public final class ManualQueues: Sendable {
    fileprivate struct State {
        var now: Int64 = 1_000_000_000
        /// Work for later.
        var later = TimedQueue()
        /// Work that is due, in order.
        var ready: [TimedQueue.Item] = []
        /// The latest due time of each lane: nothing overtakes what was given before.
        var laneDue: [Int: Int64] = [:]
        /// Pieces of work run since the clock last moved.
        var runsAtThisTime = 0
        /// Most of them; what goes beyond asks for itself again and again.
        var mostRuns = 1_000_000
        /// Pieces of work run, and most of them.
        var runs = 0
        var mostRunsInAll = Int.max
        /// Whether that is told by `goesInCircles`; else it traps.
        var tellsCircles = false
        var goesInCircles = false
        var random: SeededGenerator
        /// Seconds the clock on the wall is ahead of its usual time.
        var wallOffset: Int64 = 0
        var readDelay: Int64 = 0
        var writeDelay: Int64 = 0
        var upkeepDelay: Int64 = 0
        var isDelayUneven = false

        /// How long a piece of work takes that takes `delay` nanoseconds on average.
        mutating func drawn(_ delay: Int64) -> Int64 {
            isDelayUneven && delay > 0 ? Int64.random(in: 0...2 * delay, using: &random) : delay
        }
    }

    private let state: Lock<State>
    private let isOrdered: Bool

    /// - Parameters:
    ///   - seed: Draws the order of work that is due at once, and `randomFraction`.
    ///   - isOrdered: Keeps the order in which work was given, for tests that are not about interleaving.
    public init(seed: UInt64 = 1, isOrdered: Bool = true) {
        self.isOrdered = isOrdered
        state = Lock(State(random: SeededGenerator(seed: seed)))
    }

    /// How long each piece of disk work takes, in nanoseconds: a slow disk.
    /// - Parameter isUneven: Whether it is from nothing to twice as long, so that what began first may end last.
    public func setDiskDelay(read: Int64, write: Int64, upkeep: Int64 = 0, isUneven: Bool = false) {
        state.withLock { state in
            state.readDelay = read
            state.writeDelay = write
            state.upkeepDelay = upkeep
            state.isDelayUneven = isUneven
        }
    }

    /// Sets the clock on the wall forwards or back by so many seconds, as a user or a time server does.
    public func jumpWallClock(by seconds: Int64) { state.withLock { $0.wallOffset += seconds } }

    /// Has work that goes in circles told of by `goesInCircles`, once so many pieces ran at one time, instead of trapping; and
    /// once so many ran in all, for circles in which a little time passes.
    public func tellCircles(after runs: Int, inAll: Int = .max) {
        state.withLock { state in
            state.mostRuns = runs
            state.mostRunsInAll = inAll
            state.tellsCircles = true
        }
    }

    /// Whether work went in circles; nothing runs any more then.
    public var goesInCircles: Bool { state.withLock { $0.goesInCircles } }

    /// Nanoseconds since an arbitrary start.
    public var time: Int64 { state.withLock { $0.now } }

    /// How much waits for its time or its turn.
    public var waitingCount: Int { state.withLock { $0.later.count + $0.ready.count } }

    /// Whether nothing waits to be run, now or later.
    public var isIdle: Bool { waitingCount == 0 }

    /// Runs all work that is due now, and what it leads to, without letting time pass.
    public func settle() { while runOne(until: time) {} }

    /// Lets time pass by `nanoseconds`, running work as it becomes due.
    public func advance(_ nanoseconds: Int64) {
        let end = time + nanoseconds
        while runOne(until: end) {}
        state.withLock { $0.now = max($0.now, end) }
    }

    /// Lets time pass in which nothing runs, as where a machine is busy: what becomes due by then is late.
    public func stall(_ nanoseconds: Int64) { state.withLock { $0.now += nanoseconds } }

    /// Runs one piece of work that is due by `end`; moves the clock to it. `false` where there is none.
    ///
    /// Traps after a million pieces of work without the clock moving: something asks for itself again and again.
    @discardableResult
    public func runOne(until end: Int64) -> Bool {
        let work = state.withLock { state -> (@Sendable () -> Void)? in
            if state.goesInCircles { return nil }
            if state.ready.isEmpty, let due = state.later.earliest, due <= end, due > state.now {
                state.now = due
                state.runsAtThisTime = 0
            }
            while let item = state.later.popFirst(by: state.now) { state.ready.append(item) }
            guard !state.ready.isEmpty else { return nil }
            state.runsAtThisTime += 1
            state.runs += 1
            if state.runsAtThisTime >= state.mostRuns || state.runs >= state.mostRunsInAll {
                precondition(state.tellsCircles, "work goes in circles without time passing")
                state.goesInCircles = true
                return nil
            }
            var lanes = Set<Int>()
            let candidates = state.ready.indices.filter { index in
                state.ready[index].lane.map { lanes.insert($0).inserted } ?? true
            }
            let choice =
                isOrdered ? candidates[0] : candidates[Int.random(in: 0..<candidates.count, using: &state.random)]
            return state.ready.remove(at: choice).work
        }
        work?()
        return work != nil
    }

    private func add(_ delay: Int64, lane: Int?, _ work: @escaping @Sendable () -> Void) {
        state.withLock { state in
            var due = state.now + max(0, delay)
            if let lane {
                due = max(due, state.laneDue[lane] ?? 0)
                state.laneDue[lane] = due
            }
            state.later.add(due: due, lane: lane, work)
        }
    }
}

extension ManualQueues: WorkQueues {
    package func now() -> Int64 { time }

    package func wallClock() -> Int64 { state.withLock { 1_700_000_000 + $0.now / 1_000_000_000 + $0.wallOffset } }

    package func randomFraction() -> Double {
        state.withLock { Double.random(in: 0..<1, using: &$0.random) }
    }

    package func read(_ work: @escaping @Sendable () -> Void) {
        add(state.withLock { $0.drawn($0.readDelay) }, lane: nil, work)
    }

    package func write(lane: Int, _ work: @escaping @Sendable () -> Void) {
        add(state.withLock { $0.drawn($0.writeDelay) }, lane: lane & 1, work)
    }

    package func upkeep(_ work: @escaping @Sendable () -> Void) {
        add(state.withLock { $0.drawn($0.upkeepDelay) }, lane: 2, work)
    }

    package func after(_ nanoseconds: Int64, _ work: @escaping @Sendable () -> Void) {
        add(nanoseconds, lane: nil, work)
    }

    package var executor: (any TaskExecutor)? { self }

    package func soon(_ work: @escaping @Sendable () -> Void) { add(0, lane: nil, work) }

    package func next(_ work: @escaping @Sendable () -> Void) {
        let isOvertaken = !isOrdered && state.withLock { Bool.random(using: &$0.random) }
        if isOvertaken { soon(work) } else { work() }
    }
}

/// Runs tasks that prefer it, and the asynchronous functions they call, on the same thread and clock as all other work.
extension ManualQueues: TaskExecutor {
    /// Runs a task's next step among all other work that is due.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        add(0, lane: nil) { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
