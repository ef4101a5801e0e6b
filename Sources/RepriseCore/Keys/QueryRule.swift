import RepriseHTTP

/// Which parameters of a query count for a resource's key. Works on the text as it was written, never decoded: what
/// stays, stays byte for byte and in its order. No I/O; any text gives an answer.
public struct QueryRule: Sendable, Hashable {
    /// Names that never count, for example of a session or a campaign.
    public var stripped: [String]
    /// Names that always count, whatever else says that they do not.
    public var kept: [String]
    /// Ways of signing whose parameters do not count.
    public var schemes: [SignatureScheme]

    /// Makes a rule. A name is compared byte for byte; one that ends with `*` stands for all that begin so. With `*`
    /// stripped, only what is kept counts.
    public init(strip: [String] = [], keep: [String] = [], schemes: [SignatureScheme] = SignatureScheme.common) {
        stripped = strip
        kept = keep
        self.schemes = schemes
    }

    /// A path and query without the parameters that do not count; without `?` where none is left.
    public func applied(to target: String) -> String {
        let bytes = target.utf8
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return target }
        let items = bytes[bytes.index(after: mark)...].split(
            separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        let parameters = items.map { QueryParameter(Substring($0)) }
        let signing = schemes.reduce(into: Set<OctetString>()) { $0.formUnion($1.signing(parameters)) }
        let counting = parameters.filter { counts($0, signing) }
        if counting.count == parameters.count { return target }
        let path = String(Substring(bytes[..<mark]))
        return counting.isEmpty ? path : path + "?" + counting.map { String($0.text) }.joined(separator: "&")
    }

    private func counts(_ parameter: QueryParameter, _ signing: Set<OctetString>) -> Bool {
        if kept.contains(where: { parameter.isNamed($0) }) { return true }
        return !signing.contains(parameter.foldedName.octets) && !stripped.contains { parameter.isNamed($0) }
    }
}

/// One part of a query between two `&`, as it was written.
struct QueryParameter {
    let text: Substring
    /// The name with its ASCII letters in lower case.
    let foldedName: String
    private let name: Substring.UTF8View

    init(_ text: Substring) {
        self.text = text
        name = Substring(text.utf8.prefix { $0 != UInt8(ascii: "=") }).utf8
        foldedName = String(
            decoding: name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// What stands behind the first `=`; nothing where there is none.
    var value: Substring.UTF8View { Substring(text.utf8.dropFirst(name.count + 1)).utf8 }

    func isNamed(_ pattern: String) -> Bool {
        let pattern = pattern.utf8
        guard pattern.last == UInt8(ascii: "*") else { return name.elementsEqual(pattern) }
        return name.starts(with: pattern.dropLast())
    }
}
