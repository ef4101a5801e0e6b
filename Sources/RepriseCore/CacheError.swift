public import RepriseHTTP

/// Why bytes could not be had. A miss, a wait or a stale entry is not an error.
public struct CacheError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of trouble it is.
    public enum Code: Sendable, Hashable {
        /// The origin cannot be reached, or went away for longer than the retry deadline.
        case originUnreachable
        /// The origin took too long.
        case originTimedOut
        /// The origin answered with this status and will not serve the bytes.
        case originRefused(status: Int)
        /// The rules of who may be asked do not allow it; the message says which, and what would have to be allowed.
        case originForbidden
        /// The origin's answer contradicts itself or what was asked.
        case originInvalid
        /// The wanted range starts at or past the end; the length in bytes, if known.
        case rangeNotSatisfiable(length: Int64?)
        /// The resource changed at the origin while it was read.
        case changed
        /// The store cannot be used.
        case store
        /// Not all of the resource is stored, and all of it is needed; the message says what is missing.
        case incomplete
        /// Not possible with this store, resource or system; the message says why and what is.
        case unsupported
        /// Not an absolute http or https URL.
        case badURL
        /// The cache was closed.
        case closed
    }

    /// The kind.
    public var code: Code
    /// What happened, for a person.
    public var message: String
    /// `Retry-After` in seconds, where the origin gave one.
    public var retryAfter: Int64?
    /// What went wrong on the way to the origin, where that is it.
    public var cause: ProxyError?
    /// `Location`, as it came, where the origin answered with a redirect that is not followed.
    public var location: String?

    package init(_ code: Code, _ message: String, retryAfter: Int64? = nil, location: String? = nil) {
        self.location = location
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    /// The message.
    public var description: String { message }
}

extension CacheError {
    /// Whether the origin was not there, or said that it cannot answer: then what is stale may stand in (RFC 9111 §4.3.3: any
    /// 5xx).
    var meansAbsence: Bool {
        switch code {
        case .originUnreachable, .originTimedOut: true
        case .originRefused(let status): (500...599).contains(status)
        default: false
        }
    }

    /// The origin answered with that status; it asked to wait for so many seconds, or to go elsewhere.
    init(answered status: Int, retryAfter: Int64? = nil, location: String? = nil) {
        self.init(
            .originRefused(status: status), "the origin answered \(status)", retryAfter: retryAfter, location: location)
    }

    /// Who asked has ended it.
    static let taskCancelled = CacheError(.closed, "the task was cancelled")

    /// More is to be stored than the store may take in all, in bytes.
    init(tooLarge length: Int64, for capacity: Int64) {
        self.init(
            .store, "\(length) bytes are more than the store may take in all, \(capacity); raise the limit")
    }
}
