public import Foundation

/// Plays copies of an item over and over; the item itself is never played.
open class AVPlayerLooper: NSObject {
    private let core: SimulatedLooper
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
        let core = SimulatedLooper()
        self.core = core
        super.init()
        let asset = SimulatedTurn.take { _ in itemToLoop.core.asset }
        asset.simulatedMedia?.prepare { [weak player] result in
            guard let player else { return }
            switch result {
            case .failure(let error): core.state.withLock { ($0.status, $0.error) = (.failed, error) }
            case .success(let facts) where facts.length == 0:
                core.state.withLock { $0.status = .failed }
                player.change { core, _ in core.trap("an item without a duration cannot be looped") }
            case .success: core.begin(itemToLoop, player)
            }
        }
    }

    deinit {
        // The items' end takes a turn, so they leave the lock first.
        let items = core.state.withLock { state in
            defer { state.items = [] }
            return state.items
        }
        withExtendedLifetime(items) {}
    }

    /// Whether it loops.
    open var status: Status { core.state.withLock { $0.status } }
    /// Why it failed.
    open var error: (any Error)? { core.state.withLock { $0.error } }
    /// How often the item has been played.
    open var loopCount: Int { core.state.withLock { $0.loopCount } }
    /// The copies that are played in turn.
    open var loopingPlayerItems: [AVPlayerItem] { core.state.withLock { $0.items } }
    /// What is in the queue is played to its end, and no more.
    open func disableLooping() { core.state.withLock { $0.status = .cancelled } }
}

final class SimulatedLooper: Sendable {
    struct State {
        var status = AVPlayerLooper.Status.unknown
        var error: (any Error)?
        var loopCount = 0
        var items: [AVPlayerItem] = []
    }

    let state = Guarded(State())

    func begin(_ template: AVPlayerItem, _ player: AVQueuePlayer) {
        // Apple makes three copies at least; they share the asset, and with it the loader.
        let items = (0..<3).compactMap { _ in template.copy() as? AVPlayerItem }
        state.withLock { ($0.status, $0.items) = (.ready, items) }
        player.change { core, turn in
            core.onItemEnd = { [weak self] item in
                self?.state.withLock { state in
                    guard state.status == .ready, state.items.contains(where: { $0.core === item }) else {
                        return false
                    }
                    state.loopCount += 1
                    return true
                } ?? false
            }
            core.setItems(items + core.items, &turn)
        }
    }
}
