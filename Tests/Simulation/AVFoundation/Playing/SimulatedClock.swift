internal import Dispatch

/// The time of simulated players: it stands still until a test moves it.
public final class SimulatedClock: Sendable {
    /// The clock of players made here. A test gives its own to whatever it starts, with `$shared.withValue`.
    @TaskLocal public static var shared = SimulatedClock()

    /// The longest step in seconds; it has no rounding error.
    public static let tick = 1.0 / 16

    private let players = Guarded<[() -> SimulatedPlayer?]>([])

    /// A clock without players.
    public init() {}

    /// Lets time pass for all its players, tick by tick. Nothing is waited for: a player whose bytes have not come stalls.
    public func advance(seconds: Double) {
        var left = seconds
        while left > 0 {
            let step = min(left, Self.tick)
            left -= step
            for player in players.withLock({ $0 }) { player()?.tick(step) }
        }
    }

    /// Waits until every notification that is due has been posted.
    public func settle() async {
        await withCheckedContinuation { continuation in SimulatedTurn.notifications.async { continuation.resume() } }
    }

    func add(_ player: SimulatedPlayer) {
        players.withLock { $0.append { [weak player] in player } }
    }

    func remove(_ player: SimulatedPlayer) {
        players.withLock { $0.removeAll { $0() === player || $0() == nil } }
    }
}
