package import RepriseHTTP

/// How sure the engine wants to be that bytes asked for later belong to the representation already held.
public enum SamenessPolicy: Sendable, Hashable {
    /// The strongest validator the origin offers; a host whose nodes disagree about entity tags is judged by
    /// length, date and an overlap of stored bytes for a day; without any validator, by length and overlap.
    case automatic
    /// Only a strong validator will do; without one a partial entry is never extended but fetched anew.
    case strict
    /// Length alone.
    case lengthOnly
}

/// The policy, and hosts for which it is another one.
public struct SamenessRules: Sendable, Hashable {
    /// For hosts that are not named.
    public var standard: SamenessPolicy
    /// By host name in lower case: stricter or laxer.
    public var byHost: [String: SamenessPolicy]

    /// Makes rules.
    public init(_ standard: SamenessPolicy = .automatic, byHost: [String: SamenessPolicy] = [:]) {
        self.standard = standard
        self.byHost = byHost
    }

    /// The policy for `host`.
    public func policy(for host: String) -> SamenessPolicy {
        byHost.first { $0.key.octets == host.octets }?.value ?? standard
    }
}

/// How one continuation is guarded.
package struct ContinuationGuard: Sendable, Hashable {
    /// `If-Range` to send.
    package var ifRange: String?
    /// Whether stored bytes are to be asked for again and compared.
    package var comparesOverlap: Bool

    package init(ifRange: String?, comparesOverlap: Bool) {
        self.ifRange = ifRange
        self.comparesOverlap = comparesOverlap
    }

    /// The guard for a held validator; `nil` where the policy forbids to continue. A date that is not strong is no condition
    /// (RFC 9110 §13.1.5).
    package init?(
        policy: SamenessPolicy, validator: Validator, trustsEntityTags: Bool, trustsDates: Bool = true,
        isDateStrong: Bool = true
    ) {
        switch policy {
        case .lengthOnly: self.init(ifRange: nil, comparesOverlap: false)
        case .strict:
            guard let tag = validator.entityTag, !tag.isWeak else { return nil }
            self.init(ifRange: tag.field, comparesOverlap: false)
        case .automatic:
            if trustsEntityTags, validator.entityTag != nil || isDateStrong, let ifRange = validator.ifRange {
                self.init(ifRange: ifRange, comparesOverlap: false)
            } else {
                // A weak tag or a demoted host: the date still tells most changes, the overlap the rest.
                let date = validator.entityTag == nil || !trustsEntityTags ? validator.lastModified : nil
                let isCondition = trustsEntityTags && trustsDates && isDateStrong
                self.init(ifRange: isCondition ? date : nil, comparesOverlap: true)
            }
        }
    }
}
