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

    func trust(_ transfer: Transfer) -> Trust {
        let isLoose = looseOrigins.contains(url.origin) || transfer.isTrialElsewhere
        return Trust(
            entityTags: !isLoose && !transfer.isTrial
                && environment.hosts.trustsEntityTags(of: url.origin, now: wallClock),
            dates: !isLoose)
    }

    /// Whether a representation that seems to be another one is to be tried by an overlap of bytes instead.
    func isWorthTrial(_ id: Int, _ held: Representation, _ new: Validator, length: Int64?) -> Bool {
        guard environment.sameness.policy(for: url.host) == .automatic, !(transfers[id]?.isTrial ?? true),
            held.info.length != nil, length == held.info.length, held.generation?.claimed.isEmpty == false
        else { return false }
        if isElsewhere(held) { return true }
        // Only the tag differs: nodes of one CDN often disagree about tags.
        guard let old = held.info.validator.entityTag, let tag = new.entityTag, old != tag else { return false }
        return held.info.validator.lastModified != nil && held.info.validator.lastModified == new.lastModified
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
        let isElsewhere = isElsewhere(held)
        transfers[id]?.isTrial = true
        transfers[id]?.isTrialElsewhere = isElsewhere
        transfers[id]?.requestIndex -= 1
        ask(id)
    }

    /// The bytes are the same though the validators differ.
    mutating func passedTrial(_ id: Int) {
        guard transfers[id]?.isTrial == true else { return }
        transfers[id]?.isTrial = false
        if transfers[id]?.isTrialElsewhere == true {
            looseOrigins.insert(url.origin)
        } else {
            environment.hosts.distrustEntityTags(of: url.origin, now: wallClock)
            effects.append(.event(.demotedEntityTags(host: url.origin)))
        }
    }
}
