public import RepriseCore
public import RepriseHTTP

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// The origin client of Apple's platforms, over `URLSession`.
///
/// Nothing is cached below the cache: an ephemeral configuration without `URLCache`, and no decoding on the way. At
/// most `Configuration.redirectLimit` redirects are followed; to another origin goes nothing that may say who asks. Whom
/// to trust is the system's decision alone. Bodies are read while the engine asks for them: past 256 KiB that nobody
/// has asked for the task is suspended.
///
/// On Linux, `FoundationNetworking` has no backpressure, and sends a request once more when its task is suspended and
/// resumed. There the client never suspends; it asks for long ranges in parts of `Configuration.partSize`, the next
/// one when the last was read, each with `If-Range`. An origin without ranges sends its whole body at once there, and
/// what the engine has not asked for waits in memory; servers on Linux do better with `RepriseAsyncHTTPClient`. (That
/// library also ends the process over an answer of 401 whose `WWW-Authenticate` has no realm, and, seldom, where a
/// connection closes: it has Dispatch watch sockets that are closed already.)
public final class URLSessionOriginClient: OriginClient {
    /// How a client behaves.
    public struct Configuration: Sendable {
        /// Fields sent where a request has none of that name, for example `User-Agent`.
        public var fields: HTTPFields = [:]
        /// The rule at the start; see `networkRule`.
        public var networkRule = NetworkRule.any
        /// Most redirects that are followed for one request.
        public var redirectLimit = RedirectRule.usualLimit
        /// Most bytes asked for at a time; `nil` leaves every request as the engine made it. By default 1 MiB where
        /// the system gives no backpressure, and `nil` on Apple's platforms.
        public var partSize: Int64? = Configuration.platformPartSize
        /// After so many seconds without a byte, while one is read for, a request fails. The engine's own limits are
        /// shorter where somebody waits.
        public var idleLimit: Double = 60
        /// Called when a server asks who the app is: the certificate to show, or `nil` to show none. It has no say in
        /// whether the server is trusted. Called on any thread; not on Linux.
        public var clientCertificate: (@Sendable (URLProtectionSpace) -> URLCredential?)?
        /// Called when a request to an origin is over, on any thread; it must be quick.
        public var onMetrics: (@Sendable (OriginMetrics) -> Void)?

        #if canImport(ObjectiveC)
            private static let platformPartSize: Int64? = nil
        #else
            private static let platformPartSize: Int64? = 1 << 20
        #endif

        /// The defaults.
        public init() {}
    }

    private let sessions: SessionTable

    /// Makes a client. Sessions are made when first needed.
    /// - Parameters:
    ///   - configuration: How it behaves.
    ///   - cookies: Where cookies come from and go to. `nil`, the default, means none: the caller's own `Cookie` field
    ///     is sent then, and `Set-Cookie` is not heeded.
    public init(configuration: Configuration = Configuration(), cookies: HTTPCookieStorage? = nil) {
        sessions = SessionTable(configuration, cookies: cookies)
    }

    deinit { sessions.close() }

    /// Which networks may be used by requests from now on; those under way go on by the rule they were sent with.
    public var networkRule: NetworkRule {
        get { sessions.rule }
        set { sessions.rule = newValue }
    }

    /// Ends all exchanges and lets go of the sessions and their connections. Requests after that fail. Idempotent; the
    /// end of the client does the same.
    public func close() { sessions.close() }

    /// Sessions in use, for tests of their end.
    package var openSessions: Int { sessions.count }

    /// Where the system's library may send a request twice, one that changes something must not be sent at all.
    public var sendsEveryMethod: Bool { false }

    /// Sends `request`.
    public func start(
        _ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void
    ) -> any OriginExchange {
        let exchange = SessionExchange(request, sessions: sessions, onEvent: onEvent)
        exchange.ask()
        return exchange
    }
}
