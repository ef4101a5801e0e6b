import RepriseHTTP
import ReprisePlatform

/// Where a request goes: to which of several origins that serve the same, and by which URL where one has expired. Slots, pauses,
/// measures and trust belong to the origin that is asked.
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
        guard let outcome = request.hasHead ? .troubled : CircuitBreaker.Outcome(failure.kind) else { return }
        note(outcome, of: request, failure.message)
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

    // MARK: Expired URLs

    /// Whether what was refused, at the byte `offset`, is asked for again by another URL: readers wait for that. `false` where
    /// the refusal stands.
    /// - Parameter isLaterTry: Whether another request for it was sent before, and brought nothing.
    mutating func renews(
        after status: Int, _ request: OriginRequestState, at offset: Int64? = nil, isLaterTry: Bool = false
    ) -> Bool {
        guard environment.freshURLs != nil else { return false }
        let isPaced: Bool
        switch renewal.refused(
            status, request.url, to: request.callerFields, at: offset, current: url, key: key.primary, makeID(),
            now: now)
        {
        case .stands: return false
        case .renewing: isPaced = isLaterTry
        case .ask(let id, let refused, let isRepeated):
            isPaced = isLaterTry || isRepeated
            leave(.renewURL(id, refused))
        }
        // What a refusal ends may begin anew under each fresh URL, and be refused again. Readers are told of what was in the way
        // before: the URL was made good.
        if isPaced {
            let before = backoff.error.flatMap { $0.retryAfter == nil ? $0 : nil }
            backOff(after: before ?? CacheError(answered: status), at: offset)
        }
        return true
    }

    /// There is a fresh URL, or none.
    mutating func urlRenewed(_ id: RequestID, _ answer: Result<OriginURL?, any Error>) {
        var fresh: OriginURL?
        var reason: String?
        switch answer {
        case .success(let found):
            fresh = found
            if found == nil { reason = "no fresh URL was given" }
        case .failure(let error): reason = "no fresh URL could be had: \(error)"
        }
        guard let (refused, use) = renewal.renewed(id, fresh, current: url) else { return }
        if let use { url = use }
        if let reason { failRefused(refused, reason) }
        replan()
    }

    /// No fresh URL took the place of one that was refused: readers that wait for it with the fields that were refused are told,
    /// unless one of them came with another.
    mutating func failRefused(_ refused: URLRefresh.Refused, _ reason: String) {
        for fields in refused.callers {
            selector.refused(fields)
            selector.refused(Caller(fields, for: refused.url.url))
        }
        if goOnOtherwise(than: refused.url.url) { return replan() }
        let status = refused.url.status
        let served = Set(transfers.filter { $0.request != nil }.flatMap(\.readers))
        let error = CacheError(.originRefused(status: status), "the origin answered \(status); \(reason)")
        for reader in readers
        where refused.callers.contains(reader.fields) && !served.contains(reader.id) && !reader.hasEnded {
            if reader.isAwaiting, isStarving(reader) {
                reader.note { $0.forwardStatus = status }
                fail(reader, error)
            } else {
                reader.waitForNeed()
            }
        }
    }
}
