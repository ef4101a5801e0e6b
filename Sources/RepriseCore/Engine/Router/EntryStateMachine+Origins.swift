import RepriseHTTP
import ReprisePlatform

/// Several origins that serve the same: which of them a request goes to, and what it tells of them. Slots, pauses, measures and
/// trust belong to the one that is asked.
extension EntryStateMachine {
    /// Where a request goes that was sent to some of the resource's places in vain; `nil` where it was sent to all of them.
    func nextOrigin(besides tried: [Int]) -> (place: Int, location: OriginURL)? {
        guard let places = environment.mirrors.places(of: url) else { return tried.isEmpty ? (0, url) : nil }
        let candidates = places.locations.map { location in
            OriginSelector.Candidate(
                location, breaker: environment.hosts.breaker(of: location.origin),
                isHeldOff: holdOff(at: location) != nil)
        }
        return OriginSelector(candidates, home: places.home).next(besides: tried, now: now)
    }

    /// The wait that a place asked for; `nil` where it may be asked for this now.
    func holdOff(at location: OriginURL) -> HostTable.HoldOff? {
        environment.hosts.holdOff(of: location.origin, for: key, now: now)
    }

    /// Where a request goes: where it is bound to, where it was not sent yet, or anywhere where it was sent to all of them.
    func origin(besides tried: [Int] = [], bound place: Int? = nil) -> (place: Int, location: OriginURL) {
        if let place, !tried.contains(place), let places = environment.mirrors.places(of: url),
            places.locations.indices.contains(place), holdOff(at: places.locations[place]) == nil
        {
            return (place, places.locations[place])
        }
        return nextOrigin(besides: tried) ?? nextOrigin(besides: []) ?? (0, url)
    }

    /// Whether several origins serve it.
    var hasMirrors: Bool { environment.mirrors.places(of: url) != nil }

    /// When the host asked not to be asked for this, and for how long; `nil` where one of them may be.
    var holdOff: HostTable.HoldOff? {
        guard let places = environment.mirrors.places(of: url) else {
            return holdOff(at: url)
        }
        var earliest: HostTable.HoldOff?
        for location in places.locations {
            guard let holdOff = holdOff(at: location) else { return nil }
            if holdOff.until < earliest?.until ?? .max { earliest = holdOff }
        }
        return earliest
    }

    /// How long an answer's head may take: less where another origin can be asked.
    func headTimeout(of request: OriginRequestState, besides tried: [Int]) -> Int64 {
        hasAnother(than: request, besides: tried) ? tuning.oneOfSeveralTimeout : tuning.headTimeout
    }

    /// Whether another origin can be asked for what a request has not brought.
    func hasAnother(than request: OriginRequestState, besides tried: [Int]) -> Bool {
        request.isOneOfSeveral && nextOrigin(besides: tried + [request.place]) != nil
    }

    /// A request goes to one of several origins: to find out whether it is back, where it had failed.
    mutating func noteAsked(_ request: OriginRequestState) {
        guard request.isOneOfSeveral else { return }
        leave(.note(.asked, origin: request.slot.origin))
    }

    /// A request came to something. What is told of one of several counts for where the next goes.
    mutating func note(_ outcome: CircuitBreaker.Outcome, of request: OriginRequestState, _ reason: String) {
        guard request.isOneOfSeveral else { return }
        request.noteOutcome()
        leave(.note(.outcome(outcome), origin: request.slot.origin))
        if outcome != .answered { tell(.originFailed(origin: request.slot.origin, reason: reason)) }
    }

    mutating func noteFailure(of request: OriginRequestState, _ failure: OriginFailure) {
        note(request.hasHead ? .troubled : .init(failure.kind), of: request, failure.message)
    }

    /// A head came: whether another origin is to be asked instead. What this one asked for, to be left alone, is kept.
    mutating func passesOn(_ request: OriginRequestState, _ head: OriginResponseHead, besides tried: [Int]) -> Bool {
        let outcome = CircuitBreaker.Outcome(status: head.status)
        note(outcome, of: request, "status \(head.status)")
        guard outcome == .troubled, hasAnother(than: request, besides: tried) else { return false }
        if case .busy(let status, let retryAfter?) = judge(for: request, nil, trial: nil).verdict(head) {
            noteHoldOff(request, status, retryAfter: retryAfter)
        }
        return true
    }
}
