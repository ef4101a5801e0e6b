internal import Dispatch

/// The time of simulated players: it stands still until a test moves it.
public final class SimulatedClock: Sendable {
    /// The clock of players made here. A test gives its own to whatever it starts, with `$shared.withValue`.
    @TaskLocal public static var shared = SimulatedClock()

    /// The longest step in seconds; it has no rounding error.
    public static let tick = 1.0 / 16

    private struct State {
        var now = 0.0
        var players: [() -> SimulatedPlayer?] = []
    }

    private let state = Guarded(State())

    /// A clock at zero, without players.
    public init() {}

    /// Seconds since it was made.
    public var now: Double { state.withLock { $0.now } }

    /// Lets time pass for all its players, tick by tick. Nothing is waited for: a player whose bytes have not come stalls.
    public func advance(seconds: Double) {
        var left = seconds
        while left > 0 {
            let step = min(left, Self.tick)
            left -= step
            let players = state.withLock { state in
                state.now += step
                return state.players
            }
            for player in players { player()?.tick(step) }
        }
    }

    /// Waits until every notification that is due has been posted.
    public func settle() async {
        await withCheckedContinuation { continuation in SimulatedTurn.notifications.async { continuation.resume() } }
    }

    func add(_ player: SimulatedPlayer) {
        state.withLock { $0.players.append { [weak player] in player } }
    }

    func remove(_ player: SimulatedPlayer) {
        state.withLock { $0.players.removeAll { $0() === player || $0() == nil } }
    }
}
