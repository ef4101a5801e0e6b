package import RepriseHTTP
import RepriseRanges

/// How old a stored answer is and how long it is fresh, for a shared cache (RFC 9111 §4.2). No I/O, no clock: times are
/// passed in, in seconds since 1970.
package struct Freshness: Sendable {
    /// What the answer's `Cache-Control` says.
    package let control: CacheControl
    private let fields: HTTPFields
    private let status: Int
    private let checked: Int64
    /// Whether it is stale whatever its age: it was invalidated, or the origin had another version since.
    private let isOutdated: Bool

    /// The longest time a guess makes an answer fresh: a day, as RFC 9111 §4.2.2 leaves it to the cache.
    package static let longestGuess: Int64 = 86_400
    /// Statuses that may be fresh though they do not say so (RFC 9110 §15.1), 206 as a part of 200.
    package static let guessed: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]
    /// Instead of the time of confirmation: what is stored was invalidated (RFC 9111 §4.4) and must be confirmed first.
    package static let invalidated: Int64 = -1
    /// The same for what was confirmed at `time`, where the origin had another version since: it is stale, but may stand in for
    /// an origin that is gone, as long as it could have otherwise.
    package static func outdated(_ time: Int64) -> Int64 { Int64(-2).subtracting(time) }

    /// When the answer was received or last confirmed; `nil` where it was invalidated.
    package static func confirmed(_ checked: Int64) -> Int64? {
        if checked >= 0 { return checked }
        return checked == invalidated ? nil : outdated(checked)
    }

    /// - Parameter checked: When the answer was received or last confirmed, `invalidated`, or what `outdated` gives.
    package init(fields: HTTPFields, status: Int = 200, checked: Int64) {
        self.fields = fields
        self.status = status
        self.checked = Freshness.confirmed(checked) ?? Freshness.invalidated
        isOutdated = checked < 0
        control = CacheControl(answer: fields)
    }

    /// Seconds the answer is fresh: what it says itself, else a guess.
    package var lifetime: Int64 { explicitLifetime ?? guessedLifetime }

    /// `s-maxage`, `max-age`, `Expires`, in that order (RFC 9111 §4.2.1); `nil` where none is there.
    package var explicitLifetime: Int64? {
        if let age = control.sharedMaxAge ?? control.maxAge { return age }
        guard !control.isTargeted, let expires = fields["Expires"] else { return nil }
        // An unreadable date, "0" above all, has passed (§5.3).
        return HTTPDate.parseStrictly(expires).map { max(0, $0.subtracting(date)) } ?? 0
    }

    /// A tenth of what it had gone unchanged, at most a day (RFC 9111 §4.2.2).
    private var guessedLifetime: Int64 {
        guard Freshness.guessed.contains(status) || control.isPublic else { return 0 }
        guard let modified = fields["Last-Modified"].flatMap(HTTPDate.parse), modified < date else { return 0 }
        return min(date.subtracting(modified) / 10, Freshness.longestGuess)
    }

    private var date: Int64 { dateField ?? max(0, checked) }

    private var dateField: Int64? { fields["Date"].flatMap(HTTPDate.parse) }

    /// Seconds since the origin made or confirmed it (RFC 9111 §4.2.3).
    package func age(now: Int64) -> Int64 {
        // When it came is not known any more: it is as old as it says.
        let checked = checked < 0 ? now : checked
        let apparent = max(0, checked.subtracting(dateField ?? checked))
        let resident = max(0, now.subtracting(checked))
        return max(apparent, Freshness.givenAge(fields)).adding(resident)
    }

    /// The `Age` an answer came with: the first of a list, 0 for what is no number (RFC 9111 §5.1). One too large to
    /// hold is "very long" (§1.2.2), and never more than a sum can carry.
    private static func givenAge(_ fields: HTTPFields) -> Int64 {
        guard let first = fields["Age"]?.listMembers.first,
            first.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
        else { return 0 }
        return min(Int64(first) ?? .max, CacheDirectives.longest)
    }

    /// Seconds it stays fresh, zero or less once it is stale.
    package func timeLeft(now: Int64) -> Int64 {
        let left = lifetime.subtracting(age(now: now))
        return isOutdated ? min(0, left) : left
    }

    /// Whether no use may be made of it before the origin has confirmed it, however young it is.
    package var mustBeConfirmed: Bool { control.noCache || checked < 0 }

    /// Whether the clock was put back since the answer came: its age is not known. Clocks differ by up to a minute.
    package func isFromFuture(now: Int64) -> Bool { checked.subtracting(now) > 60 }

    /// Whether it may be used now without asking, as far as it is up to the answer.
    package func isFresh(now: Int64) -> Bool {
        !mustBeConfirmed && !isFromFuture(now: now) && timeLeft(now: now) > 0
    }
}
