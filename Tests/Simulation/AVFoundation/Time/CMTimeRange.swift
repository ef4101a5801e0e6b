/// A range of time: a start and a duration.
public struct CMTimeRange: Sendable, Hashable {
    /// Where it begins.
    public var start: CMTime
    /// How long it is.
    public var duration: CMTime

    /// The invalid range.
    public init() { self.init(start: .invalid, duration: .invalid) }

    /// So much time from the start.
    public init(start: CMTime, duration: CMTime) {
        self.start = start
        self.duration = duration
    }

    /// The time from the start to the end.
    public init(start: CMTime, end: CMTime) { self.init(start: start, duration: end - start) }

    /// No time at zero.
    public static let zero = CMTimeRange(start: .zero, duration: .zero)
    /// No range.
    public static let invalid = CMTimeRange()

    /// Where it ends; not part of it.
    public var end: CMTime { start + duration }
    /// Whether both parts are valid and the duration is not negative.
    public var isValid: Bool { start.isValid && duration.isValid && duration >= .zero }
    /// Whether it is valid and without length.
    public var isEmpty: Bool { isValid && duration == .zero }
    /// Whether the moment lies in it.
    public func containsTime(_ time: CMTime) -> Bool { isValid && time >= start && time < end }
    /// Whether the other lies in it whole.
    public func containsTimeRange(_ other: CMTimeRange) -> Bool {
        isValid && other.isValid && other.start >= start && other.end <= end
    }
}
