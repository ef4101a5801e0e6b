/// Which hosts and addresses may be asked: keeps who chooses URLs from leading a server to what only it can reach.
///
/// Refused unless allowed: link-local addresses, where clouds keep their machines' metadata and credentials, the other
/// addresses and names of such services, the unspecified address, multicast and broadcast. Loopback and private networks
/// are allowed unless denied. The order of decision:
///
/// 1. A host that is an address, in whatever spelling, is decided as an address (3).
/// 2. A name is decided by the narrowest pattern about it: the host itself, then the longest suffix, then `*`. An allowed
///    host is asked whatever address it has; for every other name that is not denied the address connected to is decided, too.
/// 3. An address is decided by the smallest block it is in, of the given rules and the refusals above together. An address
///    that carries another one (NAT64, 6to4) needs both to pass.
/// 4. Where two are equally narrow, a given rule goes before a refusal above, and a denial before an allowance.
///
/// So `--allow 169.254.0.0/16` opens link-local addresses but not 169.254.169.254, which must be named. No I/O.
public struct UpstreamRules: Hashable, Sendable {
    /// What may be asked although it would be refused.
    public var allowed: [UpstreamPattern]
    /// What may not be asked.
    public var denied: [UpstreamPattern]

    /// Rules besides the refusals that always hold.
    public init(allowed: [UpstreamPattern] = [], denied: [UpstreamPattern] = []) {
        self.allowed = allowed
        self.denied = denied
    }

    /// Why something may not be asked.
    package struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The host, and the address it leads to where that is another thing.
        package var target: String
        /// The rule, in words.
        package var rule: String
        /// What would have to be allowed.
        package var remedy: String

        package var description: String {
            "\(target) may not be asked: refused by the rule \(rule); to allow it: --allow \(remedy)"
        }
    }

    /// What is known before connecting.
    package enum Verdict: Hashable, Sendable {
        case refused(Refusal)
        /// Whatever its address is.
        case trusted
        /// The address that is connected to has to pass.
        case unlessAddressRefused
    }

    /// What is decided of a host as a URL has it.
    package func verdict(host: String) -> Verdict {
        let plain = UpstreamPattern.plainHost(host)
        if let address = IPAddress(plain) {
            if let refusal = refusal(of: address, host: nil) { return .refused(refusal) }
            return .unlessAddressRefused
        }
        let winner = UpstreamRules.narrowest(rules { $0.matches(name: plain) })
        switch winner {
        case let rule? where rule.isDenial:
            return .refused(Refusal(target: plain, rule: rule.text, remedy: plain))
        case let rule?: return rule.pattern.kind == .host(plain) ? .trusted : .unlessAddressRefused
        case nil: return .unlessAddressRefused
        }
    }

    /// Why this address may not be asked; `nil` where it may.
    /// - Parameter host: The name that led there; `nil` where the URL says the address itself.
    package func refusal(of address: IPAddress, host: String?) -> Refusal? {
        for candidate in [address, address.carried].compactMap(\.self) {
            let matching = rules { $0.matches(candidate, isNamed: host == nil) }
            guard let rule = UpstreamRules.narrowest(matching), rule.isDenial else { continue }
            let target = host.map { "\(UpstreamPattern.plainHost($0)), which leads to \(address)," } ?? "\(address)"
            return Refusal(target: target, rule: rule.text, remedy: "\(candidate)")
        }
        return nil
    }

    private struct Rule {
        var pattern: UpstreamPattern
        var isDenial: Bool
        var isGiven: Bool
        var text: String
    }

    private func rules(_ matches: (UpstreamPattern) -> Bool) -> [Rule] {
        denied.filter(matches).map { Rule(pattern: $0, isDenial: true, isGiven: true, text: "--deny \($0)") }
            + allowed.filter(matches).map { Rule(pattern: $0, isDenial: false, isGiven: true, text: "--allow \($0)") }
            + UpstreamRules.standing.filter { matches($0.0) }.map { pattern, reason in
                Rule(pattern: pattern, isDenial: true, isGiven: false, text: "\(reason) (\(pattern))")
            }
    }

    // The first of equals wins: denials come first, and given rules before those that always hold.
    private static func narrowest(_ rules: [Rule]) -> Rule? {
        var best: Rule?
        for rule in rules where rule.pattern.precision > best?.pattern.precision ?? Int.min { best = rule }
        return best
    }

    private static let standing: [(UpstreamPattern, String)] = [
        ("169.254.0.0/16", "link-local addresses"), ("fe80::/10", "link-local addresses"),
        ("169.254.169.254", "metadata of cloud machines"), ("fd00:ec2::254", "metadata of cloud machines"),
        ("100.100.100.200", "metadata of cloud machines"), ("168.63.129.16", "metadata of cloud machines"),
        ("metadata.google.internal", "metadata of cloud machines"), ("metadata.goog", "metadata of cloud machines"),
        ("0.0.0.0/8", "unspecified addresses"), ("::", "unspecified addresses"),
        ("224.0.0.0/4", "multicast"), ("ff00::/8", "multicast"), ("255.255.255.255", "broadcast"),
    ].map { text, reason in
        guard let pattern = UpstreamPattern(text) else { preconditionFailure("\(text) is a pattern") }
        return (pattern, reason)
    }
}
