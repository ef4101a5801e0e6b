public import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// What a door needs to know of a resource before its first byte.
public struct ContentInfo: Sendable, Hashable {
    /// The answer's status: 200 for the resource itself, whatever range of it came.
    package var status = 200
    /// Whether it is the resource, of which ranges can be had; otherwise an answer instead of it.
    package var isResource = true
    /// Whether it is never stored, and told as the origin told it.
    package var isTransient = false
    /// Whether `entityTag` is the origin's.
    private var hasOriginTag = true
    /// Length in bytes, `nil` where the origin does not tell.
    public var length: Int64?
    /// The origin's `Content-Type`.
    public var contentType: String?
    /// Whether the origin serves ranges.
    public var servesRanges: Bool
    /// One strong tag for the life of this representation: the origin's, or ours where it has none or a weak one.
    public var entityTag: String
    /// `Last-Modified` as the origin wrote it.
    public var lastModified: String?
    /// The origin's end-to-end fields, without those that frame a message.
    public var fields: HTTPFields
    /// Fields that came behind the body (RFC 9110 §6.5), once all of it has come; none of what is stored.
    package var trailers = HTTPFields()
    /// When the origin last confirmed it, in seconds since 1970; 0 where it was invalidated since.
    public var checked: Int64
    /// Whether every byte is stored.
    public var isComplete: Bool
    /// Seconds since the origin made or confirmed it, where freshness is `.http` and it was not made for this very
    /// request: what `Age` is to say (RFC 9111 §5.1).
    public var age: Int64?

    /// Describes content that no origin was asked for, for tests of the doors.
    package init(length: Int64?, contentType: String?, isComplete: Bool = false) {
        self.length = length
        self.contentType = contentType
        self.isComplete = isComplete
        servesRanges = true
        entityTag = "\"tag\""
        fields = HTTPFields()
        checked = 0
    }

    init(_ representation: Representation, age: Int64? = nil) {
        self.age = age
        let info = representation.info
        status = info.status
        isResource = representation.isResource
        isTransient = representation.isTransient
        length = info.length
        contentType = info.fields["Content-Type"]
        servesRanges = info.servesRanges
        let tag = info.validator.entityTag.flatMap { $0.isWeak ? nil : $0.field }
        hasOriginTag = tag != nil
        entityTag = tag ?? "\"r-\(String(info.identity, radix: 16))\""
        lastModified = info.validator.lastModified
        fields = info.fields
        trailers = representation.trailers
        checked = Freshness.confirmed(info.checked) ?? 0
        isComplete = representation.isComplete
    }

    /// Whether this and what was told of the same URL before cannot be one version: by length, by the origin's tag, else by
    /// date. A tag of ours ends with the entry that it was made for, so that another one says nothing.
    package func isAnother(than earlier: ContentInfo) -> Bool {
        if entityTag.octets == earlier.entityTag.octets { return false }
        if let length, let other = earlier.length, length != other { return true }
        if let lastModified, let other = earlier.lastModified { return lastModified.octets != other.octets }
        return hasOriginTag && earlier.hasOriginTag
    }
}
