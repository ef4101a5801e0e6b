public import Foundation

/// One asset's turn in a player. Nothing is loaded before it is in a player.
@MainActor open class AVPlayerItem: NSObject, nonisolated NSCopying {
    nonisolated let core: SimulatedItem

    /// Whether an item can be played.
    public enum Status: Int, Sendable {
        /// Not known yet.
        case unknown = 0
        /// It can.
        case readyToPlay = 1
        /// It never will.
        case failed = 2
    }

    private nonisolated init(making core: SimulatedItem) {
        self.core = core
        super.init()
        core.owner = self
    }

    /// The item of an asset that may be used anywhere, like an ``AVURLAsset``.
    public nonisolated convenience init(asset: any AVAsset & Sendable) { self.init(making: SimulatedItem(asset)) }
    /// The item of an asset.
    public convenience init(asset: AVAsset) { self.init(making: SimulatedItem(asset)) }
    /// The item of a new asset of this URL.
    public nonisolated convenience init(url URL: URL) { self.init(making: SimulatedItem(AVURLAsset(url: URL))) }

    deinit { SimulatedTurn.take { core.end(&$0) } }

    /// Another item of the same asset.
    open nonisolated func copy(with zone: NSZone? = nil) -> Any { AVPlayerItem(making: SimulatedItem(core.asset)) }

    nonisolated func read<Value>(_ body: (SimulatedItem) -> Value) -> Value { SimulatedTurn.take { _ in body(core) } }

    /// What is played.
    public var asset: AVAsset { core.asset }
    /// Whether it can be played.
    public nonisolated var status: Status { read(\.status) }
    /// Why it failed.
    public nonisolated var error: (any Error)? { read(\.error) }
    /// How long it is; indefinite until it is known.
    public nonisolated var duration: CMTime { read(\.duration) }
    /// What has come and was not played yet.
    public nonisolated var loadedTimeRanges: [NSValue] {
        read { item in
            let (start, end) = (item.time(item.buffer.lowerBound), item.time(item.buffer.upperBound))
            return item.buffer.isEmpty ? [] : [NSValue(timeRange: CMTimeRange(start: start, end: end))]
        }
    }
    /// Whether enough has come to play on.
    public nonisolated var isPlaybackLikelyToKeepUp: Bool { read(\.keepsUp) }
    /// Whether nothing more is asked for.
    public nonisolated var isPlaybackBufferFull: Bool { read(\.isFull) }
    /// Whether there is nothing to play.
    public nonisolated var isPlaybackBufferEmpty: Bool { read(\.isEmpty) }
    /// How many seconds are to be read ahead; zero leaves it to the player.
    public nonisolated var preferredForwardBufferDuration: TimeInterval {
        get { read(\.preferredForwardBufferDuration) }
        set { SimulatedTurn.take { _ in core.preferredForwardBufferDuration = newValue } }
    }

    /// Where it plays.
    open nonisolated func currentTime() -> CMTime { read(\.currentTime) }
    /// Goes there; the handler hears false where another seek or a failure came before.
    open nonisolated func seek(to time: CMTime, completionHandler: (@Sendable (Bool) -> Void)?) {
        SimulatedTurn.take { core.seek(to: time, &$0, completionHandler) }
    }
    /// Goes there; false where another seek or a failure came before.
    @discardableResult
    open nonisolated func seek(to time: CMTime) async -> Bool {
        await withCheckedContinuation { continuation in seek(to: time) { continuation.resume(returning: $0) } }
    }
    /// Goes there, exactly.
    open nonisolated func seek(
        to time: CMTime, toleranceBefore: CMTime, toleranceAfter: CMTime, completionHandler: (@Sendable (Bool) -> Void)?
    ) { seek(to: time, completionHandler: completionHandler) }

    /// It played to its end.
    public nonisolated static let didPlayToEndTimeNotification = Notification.Name(
        "AVPlayerItemDidPlayToEndTimeNotification")
    /// It could not play to its end.
    public nonisolated static let failedToPlayToEndTimeNotification = Notification.Name(
        "AVPlayerItemFailedToPlayToEndTimeNotification")
    /// Nothing was left to play.
    public nonisolated static let playbackStalledNotification = Notification.Name(
        "AVPlayerItemPlaybackStalledNotification")
    /// Its time jumped.
    public nonisolated static let timeJumpedNotification = Notification.Name("AVPlayerItemTimeJumpedNotification")
}

/// The key of the error of ``AVPlayerItem/failedToPlayToEndTimeNotification``.
public let AVPlayerItemFailedToPlayToEndTimeErrorKey = "AVPlayerItemFailedToPlayToEndTimeErrorKey"

extension AVPlayerItem {
    /// Stands for key-value observing: names what changed, after the change and on its thread, until the token is let go.
    public nonisolated func simulatedObservation(
        _ handler: @escaping @Sendable (_ property: String) -> Void
    ) -> SimulatedObservation { core.observe(handler) }

    /// Where Apple would have thrown, in order.
    public nonisolated var simulationTraps: [SimulatedTrap] { read(\.traps) }

    /// Waits until the bytes up to this offset have come, or to the end of a shorter resource.
    public nonisolated func simulationReached(bytes: Int64) async throws {
        try await core.reached { read { $0.facts != nil && $0.buffer.upperBound >= min(bytes, $0.length) } }
    }

    /// Waits for changes of the item until the condition holds.
    public nonisolated func simulationReached(_ condition: @Sendable (AVPlayerItem) -> Bool) async throws {
        try await core.reached { condition(self) }
    }
}

extension NSValue {
    // The library here keeps no structures of ours: the numbers travel in the shape of a rectangle.
    private static let shape = "{CGRect={CGPoint=dd}{CGSize=dd}}"

    /// A time range in a box.
    public convenience init(timeRange: CMTimeRange) {
        var parts = [timeRange.start, timeRange.duration].flatMap { time in
            [time.value, Int64(time.timescale) << 8 | Int64(time.kind.rawValue)]
        }
        unsafe self.init(bytes: &parts, objCType: Self.shape)
    }

    /// The time range in the box.
    public var timeRangeValue: CMTimeRange {
        var parts: [Int64] = [0, 0, 0, 0]
        unsafe getValue(&parts)
        func time(_ value: Int64, _ scale: Int64) -> CMTime {
            let kind = CMTime.Kind(rawValue: Int(scale & 0xFF)) ?? .invalid
            return CMTime(value: value, timescale: CMTimeScale(scale >> 8), kind: kind)
        }
        return CMTimeRange(start: time(parts[0], parts[1]), duration: time(parts[2], parts[3]))
    }
}
