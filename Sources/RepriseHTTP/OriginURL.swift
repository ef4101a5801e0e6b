/// An absolute `http` or `https` URL, kept byte for byte as it was written.
///
/// The text is only cut into parts, never decoded and encoded again: a path of `%2B`, `+` or `;` reaches the
/// origin as it came.
public struct OriginURL: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`, in lower case.
    public let scheme: String
    /// Host in lower case, an IPv6 address in its brackets.
    public let host: String
    /// Port, the scheme's own where the URL names none.
    public let port: Int
    /// User information without the `@`, if the URL carries any.
    public let userInfo: String?
    /// Path and query as written, beginning with `/`; without the fragment.
    public let target: String

    /// Reads an absolute URL; `nil` for other schemes, an empty host, or bytes no URL may hold.
    public init?(_ text: String) {
        guard let colon = text.range(of: "://") else { return nil }
        let scheme = text[..<colon.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        let rest = text[colon.upperBound...].prefix { $0 != "#" }
        let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<authorityEnd]
        let tail = rest[authorityEnd...]
        self.scheme = scheme
        target = tail.isEmpty ? "/" : (tail.hasPrefix("?") ? "/" + tail : String(tail))
        let at = authority.lastIndex(of: "@")
        userInfo = at.map { String(authority[..<$0]) }
        let hostPort = at.map { authority[authority.index(after: $0)...] } ?? authority
        guard let (host, port) = OriginURL.split(hostPort) else { return nil }
        self.host = host
        self.port = port ?? (scheme == "https" ? 443 : 80)
    }

    private static func split(_ hostPort: Substring) -> (String, Int?)? {
        var hostEnd = hostPort.endIndex
        if hostPort.hasPrefix("[") {
            guard let bracket = hostPort.firstIndex(of: "]") else { return nil }
            hostEnd = hostPort.index(after: bracket)
        } else if let colon = hostPort.firstIndex(of: ":") {
            hostEnd = colon
        }
        let host = hostPort[..<hostEnd].lowercased()
        guard !host.isEmpty, !host.contains(where: { "/\\@?# ".contains($0) }) else { return nil }
        let rest = hostPort[hostEnd...]
        if rest.isEmpty || rest == ":" { return (host, nil) }
        guard rest.hasPrefix(":"), let port = rest.dropFirst().decimal, (1...65_535).contains(port) else { return nil }
        return (host, Int(port))
    }

    /// Whether the port is the scheme's own.
    public var hasDefaultPort: Bool { port == (scheme == "https" ? 443 : 80) }

    /// `host` or `host:port`, as the `Host` field has it.
    public var authority: String { hasDefaultPort ? host : "\(host):\(port)" }

    /// `scheme://host[:port]`
    public var origin: String { "\(scheme)://\(authority)" }

    /// The whole URL without fragment.
    public var description: String { "\(scheme)://\(userInfo.map { $0 + "@" } ?? "")\(authority)\(target)" }

    /// The URL as logs may show it: without user information and query.
    public var redacted: String { origin + path }

    /// The path without the query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The query without its `?`, `nil` where there is none.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The extension of the path's last component in lower case, if it looks like one.
    public var pathExtension: String? {
        guard let last = path.split(separator: "/").last, let dot = last.lastIndex(of: ".") else { return nil }
        let text = last[last.index(after: dot)...].lowercased()
        let plain = text.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x61 && $0 <= 0x7A) }
        return !text.isEmpty && text.utf8.count <= 8 && plain ? text : nil
    }

    /// The URL a `Location` names, relative ones resolved against this one (RFC 3986 §5.2); `nil` where it cannot be.
    public func resolving(_ location: String) -> OriginURL? {
        if location.contains("://"), let absolute = OriginURL(location) { return absolute }
        if location.hasPrefix("//") { return OriginURL(scheme + ":" + location) }
        if location.hasPrefix("/") { return OriginURL(origin + OriginURL.removingDotSegments(location)) }
        if location.hasPrefix("?") { return OriginURL(origin + path + location) }
        if location.prefix(while: { $0 != "/" && $0 != "?" && $0 != "#" }).contains(":") { return nil }
        let directory = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
        return OriginURL(origin + OriginURL.removingDotSegments(directory + location))
    }

    private static func removingDotSegments(_ target: String) -> String {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        let tail = target[path.endIndex...]
        var output: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            if segment == ".." || segment == "." {
                if segment == ".." { _ = output.popLast() }
                if isLast { output.append("") }
            } else {
                output.append(segment)
            }
        }
        return "/" + output.joined(separator: "/") + tail
    }
}

extension String {
    fileprivate func range(of text: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
