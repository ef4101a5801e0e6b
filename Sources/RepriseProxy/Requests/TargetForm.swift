import RepriseHTTP

/// The four forms a request's target may have (RFC 9112 §3.2). Total: every text has an answer.
package enum TargetForm: Sendable, Hashable {
    /// `/path?query`
    case origin(String)
    /// `http://authority/path?query`: what a proxy is sent, and legal for everybody; the authority counts, not `Host`.
    case absolute(scheme: String, authority: String, String)
    /// `*`: the server as a whole; for `OPTIONS` alone.
    case asterisk
    /// `host:port`, for `CONNECT` alone, or anything else.
    case other

    package init(_ target: String) {
        if target.utf8.first == UInt8(ascii: "/") {
            self = .origin(target)
        } else if target == "*" {
            self = .asterisk
        } else {
            // Scalars, not characters: a slash with an accent behind it is one character and still ends the authority.
            let text = target.unicodeScalars
            guard let colon = text.firstIndex(of: ":"), text[colon...].starts(with: "://".unicodeScalars) else {
                self = .other
                return
            }
            let rest = text[text.index(colon, offsetBy: 3)...]
            let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            let path = String(rest[authority.endIndex...])
            self = .absolute(
                scheme: String(text[..<colon]), authority: String(authority),
                path.unicodeScalars.first == "/" ? path : "/" + path)
        }
    }
}
