/// The numerator of a ``CMTime``.
public typealias CMTimeValue = Int64
/// The denominator of a ``CMTime``: units a second.
public typealias CMTimeScale = Int32

/// A time as a fraction of whole numbers; equality and order compare the moment, not the fraction.
public struct CMTime: Sendable {
    /// The numerator.
    public var value: CMTimeValue
    /// The denominator.
    public var timescale: CMTimeScale
    /// Whether a number was rounded on the way.
    public var hasBeenRounded: Bool { wasRounded }
    private var wasRounded = false
    var kind: Kind

    // In the order of the C function: numbers between the infinities, then indefinite, then invalid.
    enum Kind: Int { case negativeInfinity, number, positiveInfinity, indefinite, invalid }

    init(value: CMTimeValue = 0, timescale: CMTimeScale = 0, kind: Kind) {
        self.value = value
        self.timescale = timescale
        self.kind = kind
    }

    /// The invalid time.
    public init() { self.init(kind: .invalid) }

    /// A numeric time; invalid if the timescale is not positive.
    public init(value: CMTimeValue, timescale: CMTimeScale) {
        self.init(value: value, timescale: timescale, kind: timescale > 0 ? .number : .invalid)
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
        wasRounded = Double(value) != exact
    }

    /// Zero seconds.
    public static let zero = CMTime(value: 0, timescale: 1)
    /// No time at all.
    public static let invalid = CMTime()
    /// A time not known yet.
    public static let indefinite = CMTime(kind: .indefinite)
    /// After every number.
    public static let positiveInfinity = CMTime(kind: .positiveInfinity)
    /// Before every number.
    public static let negativeInfinity = CMTime(kind: .negativeInfinity)

    /// Whether it is anything but invalid.
    public var isValid: Bool { kind != .invalid }
    /// Whether it is after every number.
    public var isPositiveInfinity: Bool { kind == .positiveInfinity }
    /// Whether it is before every number.
    public var isNegativeInfinity: Bool { kind == .negativeInfinity }
    /// Whether it is not known yet.
    public var isIndefinite: Bool { kind == .indefinite }
    /// Whether it is a number of seconds.
    public var isNumeric: Bool { kind == .number }

    /// The time in seconds; not-a-number if invalid or indefinite.
    public var seconds: Double {
        if isNumeric { return Double(value) / Double(timescale) }
        if isPositiveInfinity { return .infinity }
        return isNegativeInfinity ? -.infinity : .nan
    }

    private var negated: CMTime {
        if isNumeric { return CMTime(value: -value, timescale: timescale) }
        return isPositiveInfinity ? .negativeInfinity : isNegativeInfinity ? .positiveInfinity : self
    }

    /// The sum; what is not a number wins over what is.
    public static func + (first: CMTime, second: CMTime) -> CMTime {
        guard first.isNumeric, second.isNumeric else { return first.isNumeric ? second : first }
        let (a, b) = (Int64(first.timescale), Int64(second.timescale))
        var (x, y) = (b, a)
        while y != 0 { (x, y) = (y, x % y) }
        let common = a / x * b
        let scale = common <= Int64(Int32.max) ? common : max(a, b)
        let values = [first, second].map { Int128($0.value) * Int128(scale) / Int128($0.timescale) }
        var sum = CMTime(value: CMTimeValue(values[0] + values[1]), timescale: CMTimeScale(scale))
        sum.wasRounded = scale != common || first.wasRounded || second.wasRounded
        return sum
    }

    /// The difference; what is not a number wins over what is.
    public static func - (first: CMTime, second: CMTime) -> CMTime { first + second.negated }
}

extension CMTime: Comparable, Hashable {
    /// Whether both are the same moment.
    public static func == (first: CMTime, second: CMTime) -> Bool {
        first.kind == second.kind && !(first < second) && !(second < first)
    }

    /// Whether the first is the earlier moment.
    public static func < (first: CMTime, second: CMTime) -> Bool {
        guard first.isNumeric, second.isNumeric else { return first.kind.rawValue < second.kind.rawValue }
        return Int128(first.value) * Int128(second.timescale) < Int128(second.value) * Int128(first.timescale)
    }

    /// Equal moments hash alike.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        if isNumeric { hasher.combine(seconds) }
    }
}
