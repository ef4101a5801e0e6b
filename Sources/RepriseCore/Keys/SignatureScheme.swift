import RepriseHTTP

/// A way to sign URLs by query parameters: by which of them it is recognised, and which it brings along.
///
/// They say who may ask and until when, not what for. A scheme is recognised only where everything it needs is there, so
/// that a lone `t`, `sign` or `se` that names content stays. Names are compared without regard to the case of ASCII
/// letters. No I/O; any text gives an answer.
public struct SignatureScheme: Sendable, Hashable {
    /// What a parameter's value has to look like.
    public enum Form: Sendable, Hashable {
        /// Anything.
        case any
        /// Seconds since 1970 between 2001 and 2128, in ten decimal digits or in eight hexadecimal ones of which at least
        /// one is a letter.
        case time
        /// 32, 40 or 64 hexadecimal digits: a digest as they are printed.
        case digest
        /// At least 16 bytes, as base 64, hexadecimal digits or percent escapes have them.
        case token
        /// `time-random-user-digest`.
        case stampedDigest
    }

    /// Names in lower case that must all be there, and the form of their values.
    let needed: [String: Form]
    /// Names in lower case that belong to the signature where they are there.
    let companions: Set<String>

    /// Makes a scheme.
    /// - Parameters:
    ///   - needed: Names that must all be there, and what their values look like. Without any it is never recognised.
    ///   - companions: Further names that belong to the signature where they are there.
    public init(needs needed: [String: Form], companions: [String] = []) {
        self.needed = Dictionary(needed.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
        self.companions = Set(companions.map { $0.lowercased() })
    }

    /// Makes a scheme that is recognised by names alone.
    public init(needs needed: [String], companions: [String] = []) {
        self.init(needs: Dictionary(needed.map { ($0, Form.any) }) { first, _ in first }, companions: companions)
    }

    /// The names, in lower case, that only sign; none where the scheme is not the one that was used.
    func signing(_ parameters: [QueryParameter]) -> Set<OctetString> {
        guard !needed.isEmpty else { return [] }
        for (name, form) in needed {
            let found = parameters.filter { $0.foldedName.octets == name.octets }
            guard !found.isEmpty, found.allSatisfy({ form.fits($0.value) }) else { return [] }
        }
        return Set(companions.map(\.octets)).union(needed.keys.map(\.octets))
    }
}

extension SignatureScheme.Form {
    func fits(_ value: Substring.UTF8View) -> Bool {
        switch self {
        case .any: true
        case .time: Self.isTime(value)
        case .digest: [32, 40, 64].contains(value.count) && value.allSatisfy(\.isHexadecimalDigit)
        case .token: value.count >= 16 && value.allSatisfy(\.isOfToken)
        case .stampedDigest: Self.isStamped(value)
        }
    }

    private static func isTime(_ value: Substring.UTF8View) -> Bool {
        if value.count == 10, value.allSatisfy(\.isDigit) { return (0x31...0x34).contains(value.first ?? 0) }
        return value.count == 8 && value.allSatisfy(\.isHexadecimalDigit) && value.contains { !$0.isDigit }
    }

    private static func isStamped(_ value: Substring.UTF8View) -> Bool {
        let parts = value.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return false }
        return isTime(Substring(parts[0]).utf8) && !parts[2].isEmpty
            && SignatureScheme.Form.digest.fits(Substring(parts[3]).utf8)
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
    fileprivate var isOfToken: Bool {
        isDigit || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) || "-_~.+/=%".utf8.contains(self)
    }
}
