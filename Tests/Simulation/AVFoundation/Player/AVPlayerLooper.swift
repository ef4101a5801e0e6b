public import Foundation

/// Plays copies of an item over and over; the item itself is never played.
open class AVPlayerLooper: NSObject {
    private struct State {
        var status = Status.unknown
        var loopCount = 0
        var items: [SimulatedItem] = []
    }

    private let state = Guarded(State())
    private let player: AVQueuePlayer

    /// Whether it loops.
    public enum Status: Int, Sendable {
        /// The duration is not known yet.
        case unknown = 0
        /// It does.
        case ready = 1
        /// It never will.
        case failed = 2
        /// It was ended.
        case cancelled = 3
    }

    /// Loops the item once its duration is known; one without a duration is an exception.
    public init(player: AVQueuePlayer, templateItem itemToLoop: AVPlayerItem) {
        self.player = player
        super.init()
        let asset = SimulatedTurn.take { _ in itemToLoop.core.asset }
        asset.simulatedMedia?.prepare { [state, weak player] result in
            guard let player else { return }
            switch result {
            case .failure: state.withLock { $0.status = .failed }
            case .success(let facts) where facts.length == 0:
                state.withLock { $0.status = .failed }
                player.change { core, _ in core.trap("an item without a duration cannot be looped") }
            case .success: Self.begin(state, itemToLoop, player)
            }
        }
    }

    /// Whether it loops.
    open var status: Status { state.withLock { $0.status } }
    /// How often the item has been played.
    open var loopCount: Int { state.withLock { $0.loopCount } }
    /// What is in the queue is played to its end, and no more.
    open func disableLooping() { state.withLock { $0.status = .cancelled } }

    private static func begin(_ state: Guarded<State>, _ template: AVPlayerItem, _ player: AVQueuePlayer) {
        // Apple makes three copies at least; they share the asset, and with it the loader.
        let items = (0..<3).compactMap { _ in template.copy() as? AVPlayerItem }
        state.withLock { ($0.status, $0.items) = (.ready, items.map(\.core)) }
        player.change { core, turn in
            core.onItemEnd = { [weak state] item in
                state?.withLock { state in
                    guard state.status == .ready, state.items.contains(where: { $0 === item }) else { return false }
                    state.loopCount += 1
                    return true
                } ?? false
            }
            core.setItems(items + core.items, &turn)
        }
    }
}
