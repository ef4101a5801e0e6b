/// How a cache handled one request, for the `Cache-Status` field (RFC 9211).
public struct CacheStatus: Hashable, Sendable {
    /// Why a request went on to the origin (RFC 9211 §2.2).
    public enum Forward: String, Hashable, Sendable {
        /// The cache was told not to handle it.
        case bypass
        /// By its method it has to.
        case method
        /// Nothing is stored of that URL.
        case uriMiss = "uri-miss"
        /// Something is stored, but chosen by other request fields.
        case varyMiss = "vary-miss"
        /// Nothing fitting is stored, and it is not told which of the two.
        case miss
        /// What is stored is fresh; the request asked for more.
        case request
        /// What is stored is stale.
        case stale
        /// Only a part of what was asked for is stored.
        case partial
    }

    /// Why the request went on; `nil` for a hit.
    public var forward: Forward?
    /// The status of the origin's answer, where the client is given another.
    public var forwardStatus: Int?
    /// Seconds the answer stays fresh; negative where it is stale already.
    public var ttl: Int64?
    /// Whether the origin's answer was stored.
    public var isStored = false
    /// Whether the request was satisfied by another's that was under way.
    public var isCollapsed = false
    /// The key; not told unless it is set, as it may hold what others are not to see.
    public var key: String?
    /// Words for a person.
    public var detail: String?

    /// A hit, or a request that went on for a reason.
    public init(forward: Forward? = nil, ttl: Int64? = nil) {
        self.forward = forward
        self.ttl = ttl
    }

    /// Whether the origin was not asked.
    public var isHit: Bool { forward == nil }

    /// The list member a cache called `name` adds (RFC 9211 §2). Parameters that would contradict each other are left
    /// out: only what was forwarded has a status, was stored or collapsed.
    public func member(named name: String) -> String {
        var text = StructuredText.tokenOrString(name) ?? "cache"
        if let forward {
            text += "; fwd=\(forward.rawValue)"
            if let forwardStatus { text += "; fwd-status=\(forwardStatus)" }
            if isStored { text += "; stored" }
            if isCollapsed { text += "; collapsed" }
        } else {
            text += "; hit"
        }
        if let ttl { text += "; ttl=\(StructuredText.integer(ttl))" }
        if let key = key.flatMap(StructuredText.string) { text += "; key=\(key)" }
        if let detail = detail.flatMap(StructuredText.tokenOrString) { text += "; detail=\(detail)" }
        return text
    }

    /// The field's value once this cache has had its say: caches nearer the origin stand first (RFC 9211 §2).
    public func appended(to field: String?, named name: String) -> String {
        let member = member(named: name)
        guard let field, !field.isEmpty else { return member }
        return field + ", " + member
    }
}

/// The bare items of structured fields (RFC 8941 §3.3) that are printed here.
enum StructuredText {
    /// Within fifteen digits (§3.3.1).
    static func integer(_ number: Int64) -> Int64 { min(max(number, -999_999_999_999_999), 999_999_999_999_999) }

    /// In quotes (§3.3.3); `nil` where the text has bytes a string cannot hold.
    static func string(_ text: String) -> String? {
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { return nil }
        let escaped = text.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar == "\"" || scalar == "\\" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return "\"" + escaped + "\""
    }

    /// Bare where it is a token (§3.3.4), else in quotes.
    static func tokenOrString(_ text: String) -> String? {
        let marks = Set("!#$%&'*+-.^_`|~:/".utf8)
        func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }
        guard let first = text.utf8.first, isLetter(first) || first == UInt8(ascii: "*"),
            text.utf8.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || marks.contains($0) })
        else { return string(text) }
        return text
    }
}
