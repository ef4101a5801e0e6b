public import Dispatch
public import Foundation

/// Plays one item at a time.
@MainActor open class AVPlayer: NSObject {
    nonisolated let core: SimulatedPlayer

    /// Whether a player can play.
    public enum Status: Int, Sendable {
        /// Not known yet.
        case unknown = 0
        /// It can.
        case readyToPlay = 1
        /// It never will.
        case failed = 2
    }

    /// Whether it plays.
    public enum TimeControlStatus: Int, Sendable {
        /// It does not.
        case paused = 0
        /// It will, when it can.
        case waitingToPlayAtSpecifiedRate = 1
        /// It does.
        case playing = 2
    }

    /// What to do at the end of an item.
    public enum ActionAtItemEnd: Int, Sendable {
        /// Go on with the next; queues only.
        case advance = 0
        /// Pause.
        case pause = 1
        /// Nothing.
        case none = 2
    }

    /// Why a player waits.
    public struct WaitingReason: RawRepresentable, Hashable, Sendable {
        /// The reason's name.
        public let rawValue: String
        /// The reason of this name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// For more bytes.
        public static let toMinimizeStalls = WaitingReason(rawValue: "AVPlayerWaitingToMinimizeStallsReason")
        /// For an idea of how fast they come.
        public static let evaluatingBufferingRate = WaitingReason(
            rawValue: "AVPlayerWaitingWhileEvaluatingBufferingRateReason")
        /// For an item.
        public static let noItemToPlay = WaitingReason(rawValue: "AVPlayerWaitingWithNoItemToPlayReason")
    }

    nonisolated init(isQueue: Bool) {
        core = SimulatedPlayer(isQueue: isQueue)
        super.init()
        core.owner = self
    }

    /// A player without an item.
    public nonisolated convenience override init() { self.init(isQueue: false) }
    /// A player of a new item of this URL.
    public nonisolated convenience init(url URL: URL) { self.init(playerItem: AVPlayerItem(url: URL)) }
    /// A player of this item.
    public nonisolated convenience init(playerItem item: AVPlayerItem?) {
        self.init(isQueue: false)
        replaceCurrentItem(with: item)
    }

    deinit {
        core.clock.remove(core)
        SimulatedTurn.take { turn in
            let (observers, onItemEnd) = (core.timeObservers, core.onItemEnd)
            (core.timeObservers, core.onItemEnd) = ([:], nil)
            turn.then { withExtendedLifetime((observers, onItemEnd)) {} }
            core.setItems([], &turn)
        }
    }

    nonisolated func read<Value>(_ body: (SimulatedPlayer) -> Value) -> Value {
        SimulatedTurn.take { _ in body(core) }
    }

    nonisolated func change(_ body: (SimulatedPlayer, inout SimulatedTurn) -> Void) {
        SimulatedTurn.take { body(core, &$0) }
    }

    /// Whether it can play.
    public nonisolated var status: Status { read(\.status) }
    /// Whether it plays.
    public nonisolated var timeControlStatus: TimeControlStatus { read(\.timeControl) }
    /// Why it waits; nil unless it does.
    public nonisolated var reasonForWaitingToPlay: WaitingReason? { read(\.waitingReason) }
    /// What it plays.
    public nonisolated var currentItem: AVPlayerItem? { read(\.items.first) }
    /// How fast it is to play; zero pauses.
    public nonisolated var rate: Float {
        get { read(\.rate) }
        set { change { $0.start(newValue, &$1) } }
    }
    /// How fast ``play()`` plays.
    public nonisolated var defaultRate: Float {
        get { read(\.defaultRate) }
        set { change { core, _ in core.defaultRate = newValue } }
    }
    /// How loud it plays.
    public nonisolated var volume: Float {
        get { read(\.volume) }
        set { change { core, _ in core.volume = newValue } }
    }
    /// Whether it plays without sound.
    public nonisolated var isMuted: Bool {
        get { read(\.isMuted) }
        set { change { core, _ in core.isMuted = newValue } }
    }
    /// Whether another device may play in its place.
    public nonisolated var allowsExternalPlayback: Bool {
        get { read(\.allowsExternalPlayback) }
        set { change { core, _ in core.allowsExternalPlayback = newValue } }
    }
    /// Whether another device plays in its place.
    public nonisolated var isExternalPlaybackActive: Bool { read(\.isExternalPlaybackActive) }
    /// Whether it waits for enough bytes before it plays. With a loader it waits for most of the file; without waiting a
    /// stall ends the playing.
    public nonisolated var automaticallyWaitsToMinimizeStalling: Bool {
        get { read(\.automaticallyWaits) }
        set {
            change { core, turn in
                core.automaticallyWaits = newValue
                core.review(&turn)
            }
        }
    }
    /// What to do at the end of an item; to advance is an exception outside a queue.
    public nonisolated var actionAtItemEnd: ActionAtItemEnd {
        get { read(\.actionAtItemEnd) }
        set {
            change { core, _ in
                guard newValue != .advance || core.isQueue else { return core.trap("only a queue advances") }
                core.actionAtItemEnd = newValue
            }
        }
    }

    /// Plays at the default rate, as soon as it can.
    open nonisolated func play() { change { $0.start($0.defaultRate, &$1) } }
    /// Plays what there is, without waiting for more.
    open nonisolated func playImmediately(atRate rate: Float) { change { $0.start(rate, isImmediate: true, &$1) } }
    /// Stops where it is; loading goes on.
    open nonisolated func pause() { change { $0.start(0, &$1) } }

    /// Plays another item; no request of the old one is cancelled while that lives.
    open nonisolated func replaceCurrentItem(with item: AVPlayerItem?) {
        change { core, turn in
            guard item !== core.items.first, item.map(core.admits) ?? true else { return }
            core.setItems((item.map { [$0] } ?? []) + core.items.dropFirst(), &turn)
        }
    }

    /// Where the current item plays.
    open nonisolated func currentTime() -> CMTime { read { $0.current?.currentTime ?? .zero } }
    /// Goes there; the handler hears false where another seek or a failure came before.
    open nonisolated func seek(to time: CMTime, completionHandler: @escaping @Sendable (Bool) -> Void) {
        change { core, turn in
            if let item = core.current { return item.seek(to: time, &turn, completionHandler) }
            turn.then { completionHandler(false) }
        }
    }
    /// Goes there; false where another seek or a failure came before.
    @discardableResult
    open nonisolated func seek(to time: CMTime) async -> Bool {
        await withCheckedContinuation { continuation in seek(to: time) { continuation.resume(returning: $0) } }
    }

    /// Tells the time on the queue, or on the main one: at each multiple of the interval, at jumps, starts and stops.
    open nonisolated func addPeriodicTimeObserver(
        forInterval interval: CMTime, queue: DispatchQueue?, using block: @escaping @Sendable (CMTime) -> Void
    ) -> Any {
        SimulatedTurn.take { _ in
            core.lastTimeObserver += 1
            core.timeObservers[core.lastTimeObserver] = SimulatedPlayer.TimeObserver(
                interval: interval.seconds, queue: queue ?? .main, block: block)
            return core.lastTimeObserver
        }
    }

    /// Ends an observation of the time; one that is not this player's is an exception.
    open nonisolated func removeTimeObserver(_ observer: Any) {
        let old = SimulatedTurn.take { _ in
            let old = (observer as? Int).flatMap { core.timeObservers.removeValue(forKey: $0) }
            if old == nil { core.trap("not an observer of this player") }
            return old
        }
        withExtendedLifetime(old) {}
    }
}

extension AVPlayer {
    /// Stands for key-value observing: names what changed, after the change and on its thread, until the token is let go.
    public nonisolated func simulatedObservation(
        _ handler: @escaping @Sendable (_ property: String) -> Void
    ) -> SimulatedObservation { core.observe(handler) }

    /// Where Apple would have thrown, in order.
    public nonisolated var simulationTraps: [SimulatedTrap] { read(\.traps) }

    /// Another device takes over, or gives back.
    public nonisolated func simulateExternalPlayback(_ isActive: Bool) {
        change { core, turn in
            core.isExternalPlaybackActive = isActive && core.allowsExternalPlayback
            core.changed(&turn, "isExternalPlaybackActive")
        }
    }

    /// Waits for changes of the player until the condition holds.
    public nonisolated func simulationReached(_ condition: @Sendable (AVPlayer) -> Bool) async throws {
        try await core.reached { condition(self) }
    }

    /// Lets so much time pass, but before each tick waits for the bytes that it plays, so that nothing stalls. Returns
    /// early once nothing is to be played.
    public nonisolated func simulatePlaying(seconds: Double) async throws {
        var left = seconds
        while left > 0, let item = currentItem, rate != 0 {
            try await item.core.reached(also: core) { self.read { $0.canTick(item.core) } }
            core.clock.advance(seconds: min(left, SimulatedClock.tick))
            left -= SimulatedClock.tick
        }
    }
}
