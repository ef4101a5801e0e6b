import RepriseHTTP

/// What went wrong last with a resource, and when. Known while the cache is open.
public struct LastError: Sendable, Hashable {
    /// What it was. URLs in its message are without queries and user information, which may be secrets.
    public var error: CacheError
    /// When, in seconds since 1970.
    public var time: Int64

    package init(_ error: CacheError, time: Int64) {
        self.error = error
        self.error.message = LastError.withoutSecrets(error.message)
        self.time = time
    }

    private static func withoutSecrets(_ message: String) -> String {
        guard message.has("://") else { return message }
        return message.parts(between: " ").map { bare($0) }.joined(separator: " ")
    }

    /// A word without what a URL in it has beside scheme, host and path.
    private static func bare(_ word: Substring) -> String {
        guard let mark = word.utf8.firstRange(of: "://".utf8) else { return String(word) }
        let rest = word[mark.upperBound...].upTo("?#")
        let authority = rest.upTo("/")
        let host = authority.cut(atLast: "@")?.tail ?? authority
        return String(word[..<mark.upperBound]) + String(host) + String(rest[authority.endIndex...])
    }
}

/// The last error of each resource, of the newest so many resources. No clock.
package struct RecentErrors: Sendable {
    private let limit: Int
    private var errors: [OctetString: LastError] = [:]
    /// Keys in the order of their errors, the oldest first.
    private var order: [OctetString] = []

    /// - Parameter limit: A guess: what somebody might look at.
    package init(limit: Int = 256) { self.limit = limit }

    /// Notes that `error` happened to the resource with that key.
    package mutating func note(_ error: CacheError, of key: String, at time: Int64) {
        let key = key.octets
        if errors.updateValue(LastError(error, time: time), forKey: key) != nil { order.removeAll { $0 == key } }
        order.append(key)
        if order.count > limit { errors[order.removeFirst()] = nil }
    }

    /// The last error of the resource with that key.
    package func last(of key: String) -> LastError? { errors[key.octets] }
}
