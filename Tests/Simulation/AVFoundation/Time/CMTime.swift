/// The numerator of a ``CMTime``.
public typealias CMTimeValue = Int64
/// The denominator of a ``CMTime``: units a second.
public typealias CMTimeScale = Int32
/// Tells apart timelines that begin again at zero.
public typealias CMTimeEpoch = Int64

/// What kind of time a ``CMTime`` is.
public struct CMTimeFlags: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt32
    /// Flags of these bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// The time means something; without it the time is invalid.
    public static let valid = CMTimeFlags(rawValue: 1)
    /// The value was rounded to its timescale.
    public static let hasBeenRounded = CMTimeFlags(rawValue: 2)
    /// After every number.
    public static let positiveInfinity = CMTimeFlags(rawValue: 4)
    /// Before every number.
    public static let negativeInfinity = CMTimeFlags(rawValue: 8)
    /// Not known yet, like the duration of an asset that is not loaded.
    public static let indefinite = CMTimeFlags(rawValue: 16)
    static let implied: CMTimeFlags = [.positiveInfinity, .negativeInfinity, .indefinite]
}

/// A time as a fraction of whole numbers; equality and order compare the moment, not the fraction.
public struct CMTime: Sendable {
    /// The numerator.
    public var value: CMTimeValue
    /// The denominator.
    public var timescale: CMTimeScale
    /// Whether and what it is.
    public var flags: CMTimeFlags
    /// The timeline.
    public var epoch: CMTimeEpoch

    /// A time of exactly these parts.
    public init(value: CMTimeValue, timescale: CMTimeScale, flags: CMTimeFlags, epoch: CMTimeEpoch) {
        self.value = value
        self.timescale = timescale
        self.flags = flags
        self.epoch = epoch
    }

    /// The invalid time.
    public init() { self.init(value: 0, timescale: 0, flags: [], epoch: 0) }

    /// A numeric time; invalid if the timescale is not positive.
    public init(value: CMTimeValue, timescale: CMTimeScale) {
        self.init(value: value, timescale: timescale, flags: timescale > 0 ? .valid : [], epoch: 0)
    }

    /// The time of so many seconds, cut to the timescale; invalid for not-a-number, infinite for an infinity.
    public init(seconds: Double, preferredTimescale: CMTimeScale) {
        guard !seconds.isNaN, preferredTimescale > 0 else {
            self.init()
            return
        }
        guard seconds.isFinite, abs(seconds * Double(preferredTimescale)) < 9.2e18 else {
            self = seconds > 0 ? .positiveInfinity : .negativeInfinity
            return
        }
        let exact = seconds * Double(preferredTimescale)
        self.init(value: CMTimeValue(exact), timescale: preferredTimescale)
        if Double(value) != exact { flags.insert(.hasBeenRounded) }
    }

    /// Zero seconds.
    public static let zero = CMTime(value: 0, timescale: 1)
    /// No time at all.
    public static let invalid = CMTime()
    /// A time not known yet.
    public static let indefinite = CMTime(value: 0, timescale: 0, flags: [.valid, .indefinite], epoch: 0)
    /// After every number.
    public static let positiveInfinity = CMTime(value: 0, timescale: 0, flags: [.valid, .positiveInfinity], epoch: 0)
    /// Before every number.
    public static let negativeInfinity = CMTime(value: 0, timescale: 0, flags: [.valid, .negativeInfinity], epoch: 0)

    /// Whether it is anything but invalid.
    public var isValid: Bool { flags.contains(.valid) }
    /// Whether it is after every number.
    public var isPositiveInfinity: Bool { isValid && flags.contains(.positiveInfinity) }
    /// Whether it is before every number.
    public var isNegativeInfinity: Bool { isValid && flags.contains(.negativeInfinity) }
    /// Whether it is not known yet.
    public var isIndefinite: Bool { isValid && flags.contains(.indefinite) }
    /// Whether it is a number of seconds.
    public var isNumeric: Bool { isValid && flags.isDisjoint(with: .implied) }
    /// Whether a number was rounded on the way.
    public var hasBeenRounded: Bool { isNumeric && flags.contains(.hasBeenRounded) }

    /// The time in seconds; not-a-number if invalid or indefinite.
    public var seconds: Double {
        if isNumeric { return Double(value) / Double(timescale) }
        if isPositiveInfinity { return .infinity }
        return isNegativeInfinity ? -.infinity : .nan
    }

    // Ordered as the C function orders them: numbers between the infinities, then indefinite, then invalid.
    private var rank: Int {
        if isNegativeInfinity { return 0 }
        if isNumeric { return 1 }
        if isPositiveInfinity { return 2 }
        return isIndefinite ? 3 : 4
    }

    private static func combine(
        _ first: CMTime, _ second: CMTime, _ operation: (CMTimeValue, CMTimeValue) -> CMTimeValue
    ) -> CMTime {
        let (a, b) = (Int64(first.timescale), Int64(second.timescale))
        var (x, y) = (b, a)
        while y != 0 { (x, y) = (y, x % y) }
        let common = a / x * b
        let scale = common <= Int64(Int32.max) ? common : max(a, b)
        func rescaled(_ time: CMTime) -> CMTimeValue {
            CMTimeValue(Int128(time.value) * Int128(scale) / Int128(time.timescale))
        }
        var sum = CMTime(value: operation(rescaled(first), rescaled(second)), timescale: CMTimeScale(scale))
        if scale != common || first.hasBeenRounded || second.hasBeenRounded { sum.flags.insert(.hasBeenRounded) }
        return sum
    }

    /// The sum; what is not a number wins over what is.
    public static func + (first: CMTime, second: CMTime) -> CMTime {
        guard first.isNumeric, second.isNumeric else { return first.rank == 1 ? second : first }
        return combine(first, second, &+)
    }

    /// The difference; what is not a number wins over what is.
    public static func - (first: CMTime, second: CMTime) -> CMTime {
        guard first.isNumeric, second.isNumeric else {
            if first.rank != 1 { return first }
            if second.isPositiveInfinity { return .negativeInfinity }
            return second.isNegativeInfinity ? .positiveInfinity : second
        }
        return combine(first, second, &-)
    }
}

extension CMTime: Comparable, Hashable {
    /// Whether both are the same moment.
    public static func == (first: CMTime, second: CMTime) -> Bool {
        first.rank == second.rank && !(first < second) && !(second < first)
    }

    /// Whether the first is the earlier moment.
    public static func < (first: CMTime, second: CMTime) -> Bool {
        guard first.isNumeric, second.isNumeric else { return first.rank < second.rank }
        return Int128(first.value) * Int128(second.timescale) < Int128(second.value) * Int128(first.timescale)
    }

    /// Equal moments hash alike.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(rank)
        if isNumeric { hasher.combine(seconds) }
    }
}

/// The time of so many units.
public func CMTimeMake(value: Int64, timescale: Int32) -> CMTime { CMTime(value: value, timescale: timescale) }
/// The time of so many seconds.
public func CMTimeMakeWithSeconds(_ seconds: Double, preferredTimescale: Int32) -> CMTime {
    CMTime(seconds: seconds, preferredTimescale: preferredTimescale)
}
/// The time in seconds.
public func CMTimeGetSeconds(_ time: CMTime) -> Double { time.seconds }
