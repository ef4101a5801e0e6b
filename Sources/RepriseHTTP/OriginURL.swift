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
    public private(set) var target: String

    /// Reads an absolute URL; `nil` for other schemes, an empty host, or bytes no URL may hold.
    public init?(_ text: String) {
        // Bytes, not characters: a slash with an accent behind it is one character and still ends the host.
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return nil
        }
        guard let scheme = OriginURL.knownSchemes.first(where: { text[..<colon].equalsIgnoringCase($0) }) else {
            return nil
        }
        let rest = bytes[bytes.index(colon, offsetBy: 3)...].prefix { $0 != UInt8(ascii: "#") }
        guard rest.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let tail = rest[authority.endIndex...]
        self.scheme = scheme
        target = tail.first == UInt8(ascii: "/") ? String(Substring(tail)) : "/" + Substring(tail)
        let at = authority.lastIndex(of: UInt8(ascii: "@"))
        userInfo = at.map { String(Substring(authority[..<$0])) }
        let hostPort = at.map { authority[authority.index(after: $0)...] } ?? authority
        guard let (host, port) = OriginURL.split(Substring(hostPort).unicodeScalars) else { return nil }
        self.host = host
        self.port = port ?? OriginURL.defaultPort(scheme)
    }

    private init(_ url: OriginURL, host: String, port: Int?) {
        scheme = url.scheme
        userInfo = url.userInfo
        target = url.target
        self.host = host
        self.port = port ?? OriginURL.defaultPort(url.scheme)
    }

    /// The same resource at another host, in lower case; `port` is the scheme's own where it is `nil`.
    package func at(host: String, port: Int?) -> OriginURL { OriginURL(self, host: host, port: port) }

    private static func defaultPort(_ scheme: String) -> Int { scheme == "https" ? 443 : 80 }

    private static let knownSchemes = ["http", "https"]

    private static func split(_ hostPort: Substring.UnicodeScalarView) -> (String, Int?)? {
        var hostEnd = hostPort.endIndex
        if hostPort.first == "[" {
            // Brackets hold an IPv6 address: of RFC 3986 §3.2.2's later versions there are none.
            guard let bracket = hostPort.firstIndex(of: "]"), hostPort[..<bracket].contains(":"),
                IPAddress(String(hostPort[...bracket])) != nil
            else { return nil }
            hostEnd = hostPort.index(after: bracket)
        } else if let colon = hostPort.firstIndex(of: ":") {
            hostEnd = colon
        }
        let host = String(hostPort[..<hostEnd]).lowercased()
        let forbidden = hostPort.first == "[" ? "/\\@?# " : "/\\@?# []"
        // Dots alone, escaped or not, name no host.
        guard !UpstreamPattern.plainHost(host).isEmpty, !host.utf8.contains(where: { forbidden.utf8.contains($0) })
        else { return nil }
        let rest = hostPort[hostEnd...]
        if rest.isEmpty || rest.elementsEqual(":".unicodeScalars) { return (host, nil) }
        guard rest.first == ":", let port = String(rest.dropFirst()).decimal, (1...65_535).contains(port) else {
            return nil
        }
        return (host, Int(port))
    }

    /// The same bytes; text that only looks alike is another URL.
    public static func == (left: OriginURL, right: OriginURL) -> Bool {
        left.target.octets == right.target.octets && left.hasOrigin(of: right)
            && left.userInfo?.octets == right.userInfo?.octets
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(host.octets)
        hasher.combine(target.octets)
    }

    /// Whether both have the same scheme, host and port (RFC 6454 §5).
    package func hasOrigin(of other: OriginURL) -> Bool {
        host.octets == other.host.octets && port == other.port && scheme == other.scheme
    }

    /// Whether the port is the scheme's own.
    public var hasDefaultPort: Bool { port == OriginURL.defaultPort(scheme) }

    /// `host` or `host:port`, as the `Host` field has it.
    public var authority: String { hasDefaultPort ? host : "\(host):\(port)" }

    /// `scheme://host[:port]`
    public var origin: String { "\(scheme)://\(authority)" }

    /// The whole URL without fragment.
    public var description: String { "\(scheme)://\(userInfo.map { $0 + "@" } ?? "")\(authority)\(target)" }

    /// The URL as logs may show it: without user information and query.
    public var redacted: String { origin + path }

    /// Scheme, host, port and path, without a slash at the end: what stands before the paths of what is below it.
    package var base: String { redacted.without(suffix: "/").map { String($0) } ?? redacted }

    /// The path without the query.
    public var path: String { String(target.upTo("?")) }

    /// The query without its `?`, `nil` where there is none.
    public var query: String? { target.cut(at: "?").map { String($0.tail) } }

    /// The extension of the path's last component in lower case, if it looks like one.
    public var pathExtension: String? {
        guard let ending = path.pathComponents.last?.cut(atLast: ".") else { return nil }
        let text = ending.tail.lowercased()
        let plain = text.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x61 && $0 <= 0x7A) }
        return !text.isEmpty && text.utf8.count <= 8 && plain ? text : nil
    }

    /// The URL a `Location` names, relative ones resolved against this one (RFC 3986 §5.2); `nil` where it cannot be. User
    /// information stays where the host stays. A space, which no URL may hold and many a server sends, is encoded as browsers
    /// do.
    public func resolving(_ location: String) -> OriginURL? {
        let location = OriginURL.withSpacesEncoded(location)
        if let absolute = OriginURL(location) { return absolute }
        let reference = location.unicodeScalars.prefix { $0 != "#" }
        let text = String(reference)
        if reference.starts(with: "//".unicodeScalars) { return OriginURL(scheme + ":" + text) }
        let base = "\(scheme)://\(userInfo.map { $0 + "@" } ?? "")\(authority)"
        switch reference.first {
        case nil: return self
        case "/": return OriginURL(base + OriginURL.removingDotSegments(text))
        case "?": return OriginURL(base + path + text)
        default: break
        }
        if reference.prefix(while: { $0 != "/" && $0 != "?" }).contains(":") { return nil }
        let path = path.unicodeScalars
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "/"
        return OriginURL(base + OriginURL.removingDotSegments(directory + text))
    }

    /// Whether a reference is a path of the same host (RFC 3986 §4.2): what begins with two slashes names a host.
    package static func isPath(_ reference: String) -> Bool { reference.beginsLike("/") && !reference.beginsLike("//") }

    /// The fragment of a reference with its `#`; nothing where it has none.
    package static func fragment(of reference: String) -> String {
        reference.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(reference[$0...]) } ?? ""
    }

    /// The same text with spaces encoded as browsers do.
    package static func withSpacesEncoded(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: " ")) else { return text }
        // Bytes, not characters: a space with an accent behind it is one character.
        return String(decoding: text.utf8.flatMap { $0 == UInt8(ascii: " ") ? Array("%20".utf8) : [$0] }, as: UTF8.self)
    }

    /// The URL that a browser asks for where it is given this one: a backslash in its path is a slash, and segments of dots are
    /// taken away with what they lead back over, also where the dots are escaped (WHATWG URL, path state).
    package var asBrowsersReadIt: OriginURL {
        let segments = OriginURL.withSlashes(path).parts(between: "/").map { segment in
            let plain = String(decoding: segment.percentDecoded, as: UTF8.self)
            return [".", ".."].contains { plain.octets == $0.octets } ? plain : String(segment)
        }
        var url = self
        url.target = OriginURL.removingDotSegments(segments.joined(separator: "/")) + (query.map { "?" + $0 } ?? "")
        return url
    }

    /// The URL that a browser asks for where an origin at this one names that place: as `resolving` and `asBrowsersReadIt`, with a
    /// backslash before the query a slash already as it is resolved.
    package func resolvingAsBrowsersDo(_ place: String) -> OriginURL? {
        let path = place.upTo("?#")
        return resolving(OriginURL.withSlashes(path) + place[path.endIndex...])?.asBrowsersReadIt
    }

    /// The same path with slashes for backslashes.
    private static func withSlashes(_ path: some StringProtocol) -> String {
        String(decoding: path.utf8.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }, as: UTF8.self)
    }

    /// Whether a segment of the path is one that leads up, as any server may read it: escaped or not, behind a backslash or an escaped
    /// slash, before parameters.
    package var mayLeadUp: Bool {
        path.percentDecoded.split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") })
            .contains { $0.prefix { $0 != UInt8(ascii: ";") }.elementsEqual("..".utf8) }
    }

    private static func removingDotSegments(_ target: String) -> String {
        let target = target.unicodeScalars
        let path = target.prefix { $0 != "?" }
        var output: [String] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { String($0) }
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            if segment == ".." || segment == "." {
                if segment == ".." { _ = output.popLast() }
                if isLast { output.append("") }
            } else {
                output.append(segment)
            }
        }
        return "/" + output.joined(separator: "/") + String(target[path.endIndex...])
    }
}

extension String {
    /// The same with the digits of percent-encoded octets in upper case: such URLs are equivalent (RFC 3986 §6.2.2.1).
    package var withPercentEncodingInUpperCase: String {
        let percent = UInt8(ascii: "%")
        guard utf8.contains(percent) else { return self }
        var bytes = Array(utf8)
        for index in bytes.indices where bytes[index] == percent {
            let digits = bytes[(index + 1)...].prefix(2)
            guard digits.isTwoHexadecimalDigits else { continue }
            for position in digits.indices where bytes[position] >= UInt8(ascii: "a") { bytes[position] &-= 0x20 }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    /// Whether it is `0` to `9`, `a` to `f` or `A` to `F`.
    package var isHexadecimalDigit: Bool {
        (0x30...0x39).contains(self) || (0x41...0x46).contains(self) || (0x61...0x66).contains(self)
    }
}

extension ArraySlice<UInt8> {
    /// Whether it is what follows the `%` of a percent-encoded octet (RFC 3986 §2.1).
    package var isTwoHexadecimalDigits: Bool { count == 2 && allSatisfy(\.isHexadecimalDigit) }
}
