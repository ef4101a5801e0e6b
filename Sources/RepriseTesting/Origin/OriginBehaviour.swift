/// How a scripted resource behaves, and misbehaves. The default is a well-behaved origin. Offsets are bytes of the
/// object, times nanoseconds; request numbers count from 1, per resource.
public struct OriginBehaviour: Sendable, Hashable {
    /// What is done with a `Range` field.
    public enum Ranges: Sendable, Hashable {
        /// Answered as RFC 9110 says.
        case served
        /// Ignored: always 200 from 0, with `Accept-Ranges: none`.
        case ignored
    }

    /// What is wrong with `Content-Range`.
    public enum ContentRangeFault: Sendable, Hashable {
        case none, absent, wrongStart, wrongEnd, garbage
        /// `*` for the total.
        case unknownTotal
        /// Another total from this request number on.
        case changingTotal(from: Int)
    }

    /// How the end of a body is told.
    public enum Framing: Sendable, Hashable {
        case length, chunked
        /// By closing the connection.
        case close
    }

    /// What goes wrong inside a body. Offsets are absolute.
    public enum BodyFault: Sendable, Hashable {
        case none
        /// The body ends so many bytes early, as if that were its end.
        case short(by: Int64)
        /// So many bytes more than announced follow.
        case long(by: Int64)
        /// Nothing more comes once this offset is reached.
        case stall(at: Int64)
        /// The connection is reset when this offset is reached.
        case reset(at: Int64)
    }

    /// Which entity tag is sent.
    public enum Tag: Sendable, Hashable {
        case strong, weak, none
        /// A weak one that all versions share: equivalent, as the origin sees it, and not the same bytes (RFC 9110 §8.8.1).
        case weakShared
        /// Another one with every request: the nodes of a careless CDN.
        case perRequest
        /// The same, weak ones.
        case perRequestWeak
    }

    /// What is done with a `Range` field.
    public var ranges = Ranges.served
    /// Whether `Accept-Ranges` is sent.
    public var tellsRanges = true
    /// What is wrong with `Content-Range`.
    public var contentRange = ContentRangeFault.none
    /// Whether a 416 tells how long the object is.
    public var tellsTotalInRefusals = true
    /// Whether a 416 has a message as its body.
    public var explainsRefusals = false
    /// Most bytes of one 206; a longer range is answered in part, honestly. `nil` for no limit.
    public var longestRange: Int64?
    /// So many bytes more than asked for are sent before and after a range, honestly.
    public var widensRanges: Int64 = 0
    /// How the end of a body is told.
    public var framing = Framing.length
    /// What goes wrong inside a body.
    public var body = BodyFault.none
    /// How many requests meet the body fault, or the status; later ones are answered well.
    public var faultyRequests = Int.max
    /// Which entity tag is sent.
    public var tag = Tag.strong
    /// What a mirror's entity tags have beside those of others, for the same bytes.
    public var tagMark = ""
    /// Whether `Last-Modified` is sent.
    public var hasLastModified = true
    /// Whether `If-Range` is heeded.
    public var heedsIfRange = true
    /// Whether `If-None-Match` is heeded: otherwise what has not changed is sent again.
    public var heedsIfNoneMatch = true
    /// Statuses of answers to methods besides GET and HEAD, with `extraFields`; a method that is not here is answered
    /// with the content.
    public var statuses: [String: Int] = [:]
    /// A status instead of the content.
    public var status: Int?
    /// Further fields of that answer.
    public var statusFields: [String: String] = [:]
    /// The status with which requests are refused whose `Authorization` is that.
    public var refusals: [String: Int] = [:]
    /// `Retry-After` with that status, in seconds.
    public var retryAfter: Int?
    /// A body that claims to be gzip although identity was asked for.
    public var gzipsAnyway = false
    /// Whether a body is gzip, and whole, where the request takes that, as of servers that compress. It claims to be: its bytes are
    /// the content's.
    public var gzipsForTakers = false
    /// Interleaves radio metadata where `Icy-MetaData: 1` is asked for.
    public var icyMetadata = false
    /// Sends 103 before the answer.
    public var earlyHints = false
    /// Fields behind a body, which is chunked then.
    public var trailers: [String: String] = [:]
    /// Redirects to this path first.
    public var redirect: String?
    /// A login page with status 200 instead of the content.
    public var loginPage = false
    /// The `Content-Type` that is sent.
    public var contentType = "audio/mpeg"
    /// Further header fields, for example `Cache-Control`.
    public var extraFields: [String: String] = [:]
    /// Time before the head of the answer.
    public var firstByteDelay: Int64 = 0
    /// Bytes a second; 0 for as fast as possible.
    public var bytesPerSecond: Int64 = 0

    /// A well-behaved origin.
    public init() {}
}
