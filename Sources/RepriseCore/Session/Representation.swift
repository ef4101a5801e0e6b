public import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// One version of the resource's bytes, as a session knows it.
struct Representation: Identifiable {
    let id: Int
    var info: EntryInfo { didSet { description = nil } }
    /// What doors are told of `info`, once it was made.
    private(set) var description: ContentDescription?
    /// Whether and where its bytes are stored.
    var storage: StorageState
    /// Whether `info.json` names it.
    var isCommitted: Bool
    /// Whether the origin has a newer one: it can still be read, not filled.
    var isSuperseded = false
    /// Whether only the reader it was fetched for may have it (RFC 9111: not shareable).
    var isPrivate = false
    /// Whether it is never stored because of what it is (a playlist, a page): it lives as long as its readers, and a request
    /// that comes after its head is answered anew.
    var isTransient = false
    /// An end that was told only by a closed connection: good for those who wait now, asked again later.
    var softEnd: Int64?
    /// The logarithm to base 2 of how often it was used, as its summary keeps it.
    var logUseCount: UInt8 = 0
    /// Whether its first bytes have still to show whether it is media.
    var needsSniffing: Bool

    var generation: Generation? { storage.generation }

    /// Whether something of it is not taken for granted by the first reader after none.
    var mayBeginAnew: Bool {
        if softEnd != nil { return true }
        return isCommitted && !isSuperseded && storage.isOff && storage.generation != nil
    }

    /// Makes the description for doors, so that it is there for the next who asks.
    mutating func describe() { description = ContentDescription(ContentInfo(self)) }

    /// What a door is told now.
    func content(age: Int64?) -> ContentInfo {
        guard var content = description?.content else { return ContentInfo(self, age: age) }
        content.age = age
        content.isComplete = isComplete
        return content
    }

    /// What an answer has to agree with.
    var held: ResponseJudge.Held { ResponseJudge.Held(validator: info.validator, length: info.length) }

    /// Whether every byte is claimed.
    var isComplete: Bool {
        guard let length = info.length, let generation else { return false }
        return generation.claims(ByteRange(0, length))
    }
}

/// A `ContentInfo` that costs one reference to copy, as representations are copied often.
final class ContentDescription: Sendable {
    let content: ContentInfo

    init(_ content: ContentInfo) { self.content = content }
}

/// What a door needs to know of a resource before its first byte.
public struct ContentInfo: Sendable, Hashable {
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
    /// When the origin last confirmed it, in seconds since 1970.
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
        length = info.length
        contentType = info.fields["Content-Type"]
        servesRanges = info.servesRanges
        let tag = info.validator.entityTag
        entityTag = tag.flatMap { $0.isWeak ? nil : $0.field } ?? "\"r-\(String(info.identity, radix: 16))\""
        lastModified = info.validator.lastModified
        fields = info.fields
        checked = info.checked
        isComplete = representation.isComplete
    }
}
