public import RepriseHTTP

/// One request as the engine wants it sent. Framing and connection handling are the client's.
public struct OriginRequest: Sendable, Hashable {
    /// The method. A client that cannot send it fails the request as malformed.
    public var method: String
    /// Where to.
    public var url: OriginURL
    /// `Range`, `If-Range`, identity encoding and the caller's own fields, complete.
    public var fields: HTTPFields
    /// What is sent behind the head; `nil` for no body. GET and HEAD have none.
    public var body: Body?
    /// Whether the client follows a redirect of a GET; else it hands it on like any other answer. That of any other method is
    /// always handed on: where what is not a GET is led to is for its sender to decide.
    public var followsRedirects: Bool
    /// Whether it is one client's own, whose response comes at that client's pace and may take hours: it must not take the
    /// connections that shared transfers need.
    package var isRelayed = false

    /// What is sent behind a head.
    public enum Body: Sendable, Hashable {
        /// All of it, framed by its length.
        case whole([UInt8])
        /// What comes while it is sent, framed by its length where that is known, else in chunks.
        case upload(OriginUpload)

        /// Its bytes, where all of them are there.
        package var bytes: [UInt8]? { if case .whole(let bytes) = self { bytes } else { nil } }
    }

    /// Makes a request, a GET whose redirects are followed unless told otherwise.
    public init(
        url: OriginURL, fields: HTTPFields, method: String = "GET", body: Body? = nil, followsRedirects: Bool = true
    ) {
        self.followsRedirects = followsRedirects
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }

    /// Whether a redirect that answers it is followed.
    package var isFollowed: Bool { followsRedirects && method == "GET" }

    /// Whether it changes nothing at the origin (RFC 9110 §9.2.1), so that it may be sent again elsewhere.
    package var isSafe: Bool { InvalidationRule.safe.contains(method) }

    /// Whether all of it is there to be sent: a body that comes while it is sent is there once.
    package var isUnsent: Bool { if case .upload(let upload) = body { !upload.hasBegun } else { true } }

    /// Whether its body comes while it is sent.
    package var isBodyStreamed: Bool { if case .upload = body { true } else { false } }

    /// Whether sent twice it does what it does once (RFC 9110 §9.2.2), so that it may be sent again where its connection was
    /// lost. A condition that held for a change does not hold behind it.
    package var isIdempotent: Bool {
        if isBodyStreamed { return false }
        // Of RFC 9110 §13.1 and 4918 §10.4, and whatever is named as they are.
        let hasCondition = fields.lines.contains { line in
            let name = line.name.lowercased()
            return name == "if" || name.beginsLike("if-") && name != "if-range"
        }
        return isSafe || (method == "PUT" || method == "DELETE") && !hasCondition
    }
}

/// The head of the final answer: after redirects and 1xx.
public struct OriginResponseHead: Sendable, Hashable {
    /// Status code.
    public var status: Int
    /// Header fields.
    public var fields: HTTPFields
    /// Whether the request was sent twice, as its connection was lost before: what the first had the origin do was not heard.
    package var isOfSecondTry = false

    /// Makes a head.
    public init(status: Int, fields: HTTPFields) {
        self.status = status
        self.fields = fields
    }
}

/// Why a request came to nothing.
public struct OriginFailure: Error, Sendable, Hashable {
    /// What kind of trouble, as far as the engine cares.
    public enum Kind: Sendable, Hashable {
        /// The name, the host or the port cannot be reached now.
        case unreachable
        /// The connection ended before the answer did.
        case interrupted
        /// No answer in time.
        case timedOut
        /// The certificate is not to be trusted, or no secure connection could be made.
        case untrusted
        /// The answer is not HTTP as it should be, or there were too many redirects.
        case malformed
        /// No further connection can be made from here now. Nothing was sent, and the origin is not at fault.
        case exhausted
        /// The rules of who may be asked do not allow it; the message says which, and what would have to be allowed.
        case refused
    }

    /// The kind.
    public var kind: Kind
    /// A sentence for a person: whom it concerns, what happened, and what can be done, where something can.
    public var message: String
    /// The same for a program.
    public var cause: ProxyError

    /// Makes a failure.
    /// - Parameter cause: What went wrong, where more is known of it than the kind says.
    public init(_ kind: Kind, _ message: String, cause: ProxyError? = nil) {
        self.kind = kind
        self.message = message
        self.cause = cause ?? OriginFailure.usualCause(of: kind)
    }

    private static func usualCause(of kind: Kind) -> ProxyError {
        switch kind {
        case .unreachable: .unavailable
        case .interrupted: .connectionTerminated
        case .timedOut: .responseTimeout
        case .untrusted: .certificate
        case .malformed: .protocolError
        case .exhausted: .connectionLimit
        case .refused: .prohibited
        }
    }
}

/// What happens on an exchange, in order: interim answers, a head, any number of body pieces, an end; or a failure at any point.
public enum OriginEvent: Sendable {
    /// An interim answer (1xx but 100 and 101, RFC 9110 §15.2), where the client is told of those; comes unasked.
    case interim(OriginResponseHead)
    /// The head of the answer; comes unasked, once.
    case head(OriginResponseHead)
    /// A piece of the body, never empty; one for each `demand()`.
    case body(ArraySlice<UInt8>)
    /// The body ended. `isDelimited` tells whether the message said where: a length or a last chunk, not a closed connection.
    /// `trailers` are the fields behind a last chunk (RFC 9110 §6.5), where the client is told of them.
    case end(isDelimited: Bool, trailers: HTTPFields = HTTPFields())
    /// The exchange is over without an end.
    case failed(OriginFailure)
}

/// A request under way.
public protocol OriginExchange: Sendable {
    /// Asks for one more piece of the body. Until then the client reads no further: that is the backpressure.
    func demand()
    /// Ends the exchange; events that are already on their way may still come. Idempotent.
    func cancel()
}

/// Sends the engine's requests. Implementations give exact backpressure, follow redirects, verify TLS, and call
/// `onEvent` one event at a time and never from inside `start`, `demand` or `cancel`.
public protocol OriginClient: Sendable {
    /// Sends `request`. Called on any thread, a reader's own or one on which an earlier exchange tells something: it must not wait
    /// for one of them.
    func start(_ request: OriginRequest, onEvent: @escaping @Sendable (OriginEvent) -> Void) -> any OriginExchange
    /// Whether requests by any method are sent, with their bodies, and twice only where that does what once does; otherwise GET
    /// alone is. `true` unless a client says so.
    var sendsEveryMethod: Bool { get }
}

extension OriginClient {
    /// A client that says nothing else sends them all.
    public var sendsEveryMethod: Bool { true }
}
