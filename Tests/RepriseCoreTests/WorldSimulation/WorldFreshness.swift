import ReprisePlatform
import RepriseTesting

/// Which versions a request may be given that says nothing of freshness, where that is HTTP's (RFC 9111 §4.2): none that was replaced
/// longer ago than its origin ever let an answer be used.
///
/// Tells nothing where that has no bound (heuristics, a clock that is set), nor of an origin in trouble, which what is stale may stand
/// in for (§4.2.4).
struct WorldFreshness {
    /// A date tells whole seconds; answers are under way for less than one.
    private static let rounding: Int64 = 3 * second
    /// What an origin in trouble has asked for, or was asked, lasts no longer.
    private static let aftermath: Int64 = 400 * second

    /// By objects, in nanoseconds; `nil` where there is no bound.
    private let lifetimes: [Int64?]
    /// When each version of an object came, in nanoseconds.
    private var published: [[Int64]]
    /// Objects that are not answered as they should be.
    private var unsound = Set<Int>()
    private var isDown = false
    /// Until when trouble that is over may have consequences for an object, in nanoseconds.
    private var aftermathEnds: [Int64]

    init(_ plan: WorldPlan) {
        let isClockSet = plan.steps.contains { if case .clock = $0.action { true } else { false } }
        lifetimes = plan.objects.indices.map { object in
            guard plan.isShared, !isClockSet else { return nil }
            let later = plan.steps.compactMap { step in
                if case .behave(object, let behaviour) = step.action { behaviour } else { nil }
            }
            let lifetimes = ([plan.objects[object].behaviour] + later).map(WorldFreshness.lifetime)
            return lifetimes.reduce(0) { longest, lifetime in longest.flatMap { a in lifetime.map { max(a, $0) } } }
        }
        published = plan.objects.map { _ in [] }
        aftermathEnds = plan.objects.map { _ in 0 }
    }

    /// All the seconds that an origin's answers name; `nil` where they leave it to heuristics.
    private static func lifetime(_ behaviour: OriginBehaviour) -> Int64? {
        behaviour.extraFields["Cache-Control"].map { control in
            control.split { !$0.isNumber }.reduce(0) { $0 + Int64($1)! * second }
        }
    }

    mutating func publish(_ object: Int, at time: Int64) { published[object].append(time) }

    mutating func behave(_ object: Int, _ behaviour: OriginBehaviour, at time: Int64) {
        let isSound =
            behaviour.body == .none && behaviour.status == nil && behaviour.contentRange == .none
            && behaviour.redirect == nil && !behaviour.loginPage && behaviour.firstByteDelay < second
        if isSound, !unsound.contains(object) { return }
        if isSound { unsound.remove(object) } else { unsound.insert(object) }
        aftermathEnds[object] = time + WorldFreshness.aftermath
    }

    mutating func setDown(_ isDown: Bool, at time: Int64) {
        guard isDown || self.isDown else { return }
        self.isDown = isDown
        for object in aftermathEnds.indices { aftermathEnds[object] = time + WorldFreshness.aftermath }
    }

    /// How many of an object's versions are too old; `nil` where that is not known.
    func outdated(_ object: Int, at time: Int64) -> Int? {
        guard let lifetime = lifetimes[object], !isTroubled(object, at: time) else { return nil }
        return published[object].dropFirst().prefix { $0 + lifetime + WorldFreshness.rounding < time }.count
    }

    func isTroubled(_ object: Int, at time: Int64) -> Bool {
        isDown || unsound.contains(object) || time < aftermathEnds[object]
    }
}
