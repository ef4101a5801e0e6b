import ReprisePlatform

/// A bound of `ProxyConfiguration` that a client has met.
public enum ClientLimit: String, CaseIterable, Sendable {
    /// A further connection was told 503, or closed, as every other was served.
    case connections
    /// A connection gave its place to a further one.
    case displaced
    /// A further request to be forwarded was told 503, as so many were on their way.
    case forwarded
    /// A connection without a request was closed.
    case idleTimeout = "idle-timeout"
    /// A request that took too long to come was told 408.
    case requestTimeout = "request-timeout"
    /// A client that took nothing of its answer was let go.
    case clientTimeout = "client-timeout"
    /// A line or head that was too long was told 414 or 431.
    case headLimit = "head-limit"
    /// A body that was too long was told 413.
    case bodyLimit = "body-limit"

    /// The limit that a refusal with this status stands for.
    init?(refusal status: Int) {
        switch status {
        case 408: self = .requestTimeout
        case 413: self = .bodyLimit
        case 414, 431: self = .headLimit
        case 503: self = .connections
        default: return nil
        }
    }
}

/// How often each limit was met.
final class LimitCounts: Sendable {
    private let counts = Lock<[ClientLimit: Int]>([:])

    var all: [ClientLimit: Int] { counts.withLock { $0 } }

    func met(_ limit: ClientLimit) { counts.withLock { $0[limit, default: 0] += 1 } }
}
