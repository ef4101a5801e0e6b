import ReprisePlatform

@testable import RepriseCore

/// Real threads on which the time to close or to give a store away never runs out: what a busy machine does not finish within it
/// stays in memory, and that is another test's matter.
final class UnhurriedQueues: WorkQueues {
    private let system = SystemWorkQueues()
    private let passed = Lock<Int64>(0)

    /// Sets the wall clock ahead.
    func pass(seconds: Int64) { passed.withLock { $0 += seconds } }

    func after(_ nanoseconds: Int64, _ work: @escaping @Sendable () -> Void) {
        let limits = [MediaCache.suspensionLimit, MediaCache.closingLimit]
        if !limits.contains(nanoseconds) { system.after(nanoseconds, work) }
    }

    func now() -> Int64 { system.now() }
    func wallClock() -> Int64 { system.wallClock() + passed.withLock { $0 } }
    func randomFraction() -> Double { system.randomFraction() }
    func read(_ work: @escaping @Sendable () -> Void) { system.read(work) }
    func write(lane: Int, _ work: @escaping @Sendable () -> Void) { system.write(lane: lane, work) }
    func upkeep(_ work: @escaping @Sendable () -> Void) { system.upkeep(work) }
    func soon(_ work: @escaping @Sendable () -> Void) { system.soon(work) }
}
