import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// The same resource at another place: tags and dates are one host's own, so where a key's new URL leads elsewhere they
/// prove nothing against it. Length and an overlap of stored bytes decide then.
extension SessionState {
    /// Whose word counts for a transfer's next request.
    struct Trust {
        var entityTags: Bool
        var dates: Bool
    }

    func trust(_ transfer: Transfer, at origin: String) -> Trust {
        let trial = transfer.continuation.trial
        let isLoose = looseOrigins.contains(origin) || trial == .otherHost
        return Trust(
            entityTags: !isLoose && trial == nil && environment.hosts.trustsEntityTags(of: origin, now: wallClock),
            dates: !isLoose)
    }

    /// Whether a representation that seems to be another one is to be tried by an overlap of bytes instead.
    func isWorthTrial(_ id: Int, _ held: Representation, _ new: Validator, length: Int64?) -> Bool {
        guard environment.sameness.policy(for: url.host) == .automatic, let transfer = transfers[id],
            transfer.continuation.trial == nil, length == nil || held.info.length == nil || length == held.info.length,
            held.generation?.askClaimed({ $0.isEmpty }) == false
                || buffers.of(held.id).contains(where: { !$0.range.isEmpty })
        else { return false }
        if isElsewhere(held) { return true }
        // Only the tag differs: nodes of one CDN often disagree about tags. HTTP's own rules take tags as they are.
        guard environment.freshness == .immutable || isPrivate || held.info.validator.entityTag?.isWeak == true else {
            return false
        }
        guard let old = held.info.validator.entityTag, let tag = new.entityTag, old != tag else { return false }
        return held.info.validator.lastModified == new.lastModified
    }

    /// Whether what answers may be another host than the one whose validators are held. HTTP's own rules know no other
    /// place (RFC 9111 §3.4).
    func isElsewhere(_ held: Representation) -> Bool {
        guard environment.freshness == .immutable, !looseOrigins.contains(url.origin) else { return false }
        if environment.hostGroups.group(of: url) != nil { return true }
        return OriginURL(held.info.url).map { $0.authority != url.authority } ?? false
    }

    /// Asks again without a condition: the bytes shall decide.
    mutating func tryByOverlap(_ id: Int, _ held: Representation) {
        endRequest(id)
        let trial: RangeContinuation.Trial = isElsewhere(held) ? .otherHost : .entityTags
        transfers[id]?.continuation.begin(trial)
        ask(id)
    }

    /// The bytes are the same though the validators of a host differ.
    mutating func passed(_ trial: RangeContinuation.Trial?, at origin: String) {
        switch trial {
        case .otherHost: looseOrigins.insert(origin)
        case .entityTags:
            environment.hosts.distrustEntityTags(of: origin, now: wallClock)
            effects.append(.event(.demotedEntityTags(host: origin)))
        case .noValidator, nil: break
        }
    }
}
