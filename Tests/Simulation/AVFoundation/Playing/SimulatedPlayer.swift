internal import Dispatch
internal import Foundation

/// One player: its queue, of which a plain player has at most one item, and whether it rolls.
// @unchecked: its state is only touched in a turn.
final class SimulatedPlayer: SimulatedSubject, @unchecked Sendable {
    struct TimeObserver {
        let interval: Double
        let queue: DispatchQueue
        let block: @Sendable (CMTime) -> Void
        var count = 0
    }

    let isQueue: Bool
    /// The one that was ``SimulatedClock/shared`` where it was made.
    let clock = SimulatedClock.shared
    var items: [AVPlayerItem] = []
    var status = AVPlayer.Status.unknown
    var rate: Float = 0
    var defaultRate: Float = 1
    var volume: Float = 1
    var isMuted = false
    var allowsExternalPlayback = true
    var isExternalPlaybackActive = false
    var automaticallyWaits = true
    var actionAtItemEnd: AVPlayer.ActionAtItemEnd
    var timeControl = AVPlayer.TimeControlStatus.paused
    var waitingReason: AVPlayer.WaitingReason?
    var timeObservers: [Int: TimeObserver] = [:]
    var lastTimeObserver = 0
    /// Called for a queue's item that has ended; true where it goes to the end of the queue.
    var onItemEnd: (@Sendable (SimulatedItem) -> Bool)?
    private var isRolling = false
    private var isImmediate = false

    init(isQueue: Bool) {
        self.isQueue = isQueue
        actionAtItemEnd = isQueue ? .advance : .pause
        super.init()
        clock.add(self)
    }

    var current: SimulatedItem? { items.first?.core }

    func setItems(_ new: [AVPlayerItem], _ turn: inout SimulatedTurn) {
        let old = items
        turn.then { withExtendedLifetime(old) {} }
        items = new
        for item in old where !new.contains(where: { $0 === item }) { item.core.leave() }
        let isOther = old.first !== new.first
        if isOther {
            isRolling = false
            changed(&turn, "currentItem")
        }
        for (index, item) in new.enumerated() { item.core.enter(self, isCurrent: index == 0, &turn) }
        review(&turn)
    }

    /// Whether an item may come in: one that is in some player's queue already is an exception.
    func admits(_ item: AVPlayerItem) -> Bool {
        if item.core.player == nil { return true }
        trap("an item cannot be in a queue twice, nor in two players")
        return false
    }

    func start(_ rate: Float, isImmediate: Bool = false, _ turn: inout SimulatedTurn) {
        self.isImmediate = isImmediate
        setRate(rate, &turn)
        if rate != 0, let item = current, item.failure != nil {
            (item.failure, item.failureIsTold, item.retriedAt) = (nil, false, nil)
            item.review(&turn)
        }
    }

    func setRate(_ new: Float, _ turn: inout SimulatedTurn) {
        if new != rate {
            rate = new
            changed(&turn, "rate")
        }
        review(&turn)
    }

    /// A seek: rolling goes on once there are bytes.
    func jumped(_ item: SimulatedItem, _ turn: inout SimulatedTurn) {
        guard item === current else { return }
        isRolling = false
        tellTime(&turn) { _ in true }
    }

    /// Looks anew whether it rolls, and says so.
    func review(_ turn: inout SimulatedTurn) {
        if status == .unknown, current?.status == .readyToPlay {
            status = .readyToPlay
            changed(&turn, "status")
        }
        let isOver = current.map { $0.status == .failed || $0.hasEnded && actionAtItemEnd == .pause } ?? false
        if rate != 0, isOver { return setRate(0, &turn) }
        if rate == 0 {
            isRolling = false
        } else if let item = current, item.status == .readyToPlay, !item.isEmpty, !item.hasPendingSeek {
            let mayStart = isImmediate || !automaticallyWaits || item.keepsUp
            isRolling = isRolling || mayStart
        }
        let new: AVPlayer.TimeControlStatus =
            rate == 0 ? .paused : isRolling ? .playing : .waitingToPlayAtSpecifiedRate
        let reason: AVPlayer.WaitingReason? =
            new != .waitingToPlayAtSpecifiedRate
            ? nil : current == nil ? .noItemToPlay : status == .unknown ? .evaluatingBufferingRate : .toMinimizeStalls
        guard new != timeControl || reason != waitingReason else { return }
        if (new == .playing) != (timeControl == .playing) { tellTime(&turn) { _ in true } }
        (timeControl, waitingReason) = (new, reason)
        changed(&turn, "timeControlStatus", "reasonForWaitingToPlay")
    }

    func tick(_ seconds: Double) {
        SimulatedTurn.take { turn in
            var left = seconds
            while left > 1e-9, isRolling, rate > 0, let item = current, !item.hasEnded {
                left -= item.play(left, rate: Double(rate), &turn)
                tellTime(&turn) { Int(item.currentTime.seconds / $0.interval) != $0.count }
                if Int64(item.head) >= item.length {
                    ended(item, &turn)
                } else if item.isEmpty, left > 1e-9 {
                    stalled(item, &turn)
                }
            }
        }
    }

    /// Whether the next tick has bytes to play, or nothing will come of it.
    func canTick(_ item: SimulatedItem) -> Bool {
        let step = Int64(SimulatedClock.tick * Double(rate) * Double(item.behaviour.bytesPerSecond)) + 1
        let isOver = item !== current || rate == 0 || item.status == .failed || item.hasEnded
        return isOver || isRolling && item.ahead >= min(step, item.remaining)
    }

    private func stalled(_ item: SimulatedItem, _ turn: inout SimulatedTurn) {
        isRolling = false
        isImmediate = false
        guard !item.failureIsTold else { return }
        turn.post(AVPlayerItem.playbackStalledNotification, from: item)
        // Without waiting the app has to begin again itself.
        setRate(automaticallyWaits ? rate : 0, &turn)
    }

    private func ended(_ item: SimulatedItem, _ turn: inout SimulatedTurn) {
        item.hasEnded = true
        turn.post(AVPlayerItem.didPlayToEndTimeNotification, from: item)
        guard actionAtItemEnd == .advance else { return review(&turn) }
        let isKept = onItemEnd?(item) ?? false
        if isKept { item.seek(to: .zero, &turn, nil) }
        setItems(Array(items.dropFirst()) + (isKept ? [items[0]] : []), &turn)
        if items.isEmpty { setRate(0, &turn) }
    }

    private func tellTime(_ turn: inout SimulatedTurn, _ isDue: (TimeObserver) -> Bool) {
        let time = current?.currentTime ?? .zero
        for (key, observer) in timeObservers.sorted(by: { $0.key < $1.key }) where isDue(observer) {
            timeObservers[key]?.count = Int(time.seconds / observer.interval)
            turn.then { observer.queue.async { observer.block(time) } }
        }
    }
}
