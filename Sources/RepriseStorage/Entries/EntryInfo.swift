public import RepriseHTTP
import ReprisePlatform

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What `info.json` says of an entry: its key, where it came from, and which generation is current.
public struct EntryInfo: Sendable, Hashable {
    /// The resource key; compared on open, as the folder's name is only its hash.
    public var key: String
    /// The newest URL the entry was filled from.
    public var url: String
    /// Number of the current generation, as in the file names.
    public var generation: Int
    /// The generation's random identity, as in the `blocks` header.
    public var identity: UInt64
    /// Extension of the body's file name.
    public var fileExtension: String
    /// What the origin said to tell this representation from others.
    public var validator: Validator
    /// Length of the representation in bytes, if the origin told it.
    public var length: Int64?
    /// Whether the origin serves ranges.
    public var servesRanges: Bool
    /// The origin's end-to-end header fields, without those that frame a message.
    public var fields: HTTPFields
    /// When the headers were last confirmed by the origin, in seconds since 1970.
    public var checked: Int64
    /// Whether the entry is to be kept whatever the quota says.
    public var isPinned: Bool
    /// A hash of the request fields the answer was chosen by, where it varies (RFC 9111 §4.1).
    package var variant: String?
    /// The answer's status; what is put together from answers with 206 is one with 200.
    package var status = 200
    /// Bytes stored, in a list of entries; 0 elsewhere. A hint: at most a minute old while the entry is being filled.
    public var stored: Int64 = 0
    /// What the entry has brought, where `stored` is told.
    public var statistics = EntryStatistics()

    /// Makes the description of an entry.
    public init(
        key: String, url: String, generation: Int, identity: UInt64, fileExtension: String, validator: Validator,
        length: Int64?, servesRanges: Bool, fields: HTTPFields, checked: Int64, isPinned: Bool = false
    ) {
        self.key = key
        self.url = url
        self.generation = generation
        self.identity = identity
        self.fileExtension = fileExtension
        self.validator = validator
        self.length = length
        self.servesRanges = servesRanges
        self.fields = fields
        self.checked = checked
        self.isPinned = isPinned
    }

    /// Whether it is the resource; otherwise another answer, of which nothing is media: another status, or coded bytes.
    package var isResource: Bool { status == 200 && fields.contentCoding == nil }

    package var bodyName: String { "body.\(generation).\(fileExtension)" }
    package var blocksName: String { "blocks.\(generation)" }

    /// The file's bytes: the description and a hash over it, so that a flipped bit in a validator or a length is noticed.
    package func encoded() throws -> [UInt8] {
        let file = InfoFile(info: FileForm(self), checksum: try FileForm(self).checksum())
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return Array(try encoder.encode(file)) + [0x0A]
    }

    /// Reads the file; `nil` where it is not whole or its hash disagrees. The hash is over the bytes that stand there.
    package init?(decoding bytes: [UInt8]) {
        var reader = InfoReader(bytes)
        var found: (info: EntryInfo?, bytes: ArraySlice<UInt8>)?
        var checksum: String?
        let isWhole = reader.object { name, reader in
            switch name {
            case "info": found = reader.bytes { FileForm(&$0) }.map { ($0.info, $1) }
            case "proof": checksum = reader.string()
            default: return false
            }
            return name == "info" ? found != nil : checksum != nil
        }
        guard isWhole, reader.isAtEnd, let found, let info = found.info, FileForm.checksum(found.bytes) == checksum
        else {
            return nil
        }
        self = info
    }
}

private struct InfoFile: Encodable {
    var info: FileForm
    var checksum: String

    enum CodingKeys: String, CodingKey {
        case info
        case checksum = "proof"
    }
}

/// The JSON form. 64-bit identities are text, because many JSON readers keep numbers as doubles.
private struct FileForm: Encodable {
    var version = 1
    var key: String
    var url: String
    var generation: Int
    var identity: String
    var `extension`: String
    var entityTag: String?
    var lastModified: String?
    var length: Int64?
    var servesRanges: Bool
    var fields: [[String]]
    var checked: Int64
    var pinned: Bool
    // Absent from the file where there is none: entries without it are the same bytes as ever.
    var variant: String?
    // Absent where it is 200.
    var status: Int?

    init(_ info: EntryInfo) {
        key = info.key
        url = info.url
        generation = info.generation
        identity = String(info.identity, radix: 16)
        `extension` = info.fileExtension
        entityTag = info.validator.entityTag?.field
        lastModified = info.validator.lastModified
        length = info.length
        servesRanges = info.servesRanges
        fields = info.fields.lines.map { [$0.name, $0.value] }
        checked = info.checked
        pinned = info.isPinned
        variant = info.variant
        status = info.status == 200 ? nil : info.status
    }

    var info: EntryInfo? {
        guard version == 1, let identity = UInt64(identity, radix: 16), generation > 0, (length ?? 0) >= 0,
            fields.allSatisfy({ $0.count == 2 }), !`extension`.has("/"), (200...599).contains(status ?? 200)
        else { return nil }
        var info = EntryInfo(
            key: key, url: url, generation: generation, identity: identity, fileExtension: `extension`,
            validator: Validator(entityTag: entityTag.flatMap { EntityTag($0) }, lastModified: lastModified),
            length: length, servesRanges: servesRanges, fields: HTTPFields(fields.map { ($0[0], $0[1]) }),
            checked: checked, isPinned: pinned)
        info.variant = variant
        info.status = status ?? 200
        return info
    }

    /// Reads one; `nil` where something is missing, and for what no version of ours wrote.
    init?(_ reader: inout InfoReader) {
        var (version, generation): (Int?, Int?)
        var (key, url, identity, fileExtension): (String?, String?, String?, String?)
        var (servesRanges, pinned): (Bool?, Bool?)
        var (fields, checked): ([[String]]?, Int64?)
        var (entityTag, lastModified, length): (String?, String?, Int64?)
        var (variant, status): (String?, Int?)
        func keep<Value>(_ value: Value?, as place: inout Value?) -> Bool {
            place = value
            return value != nil
        }
        let isWhole = reader.object { name, reader in
            switch name {
            case "version": keep(reader.number(), as: &version)
            case "key": keep(reader.string(), as: &key)
            case "url": keep(reader.string(), as: &url)
            case "generation": keep(reader.number(), as: &generation)
            case "identity": keep(reader.string(), as: &identity)
            case "extension": keep(reader.string(), as: &fileExtension)
            case "entityTag": keep(reader.string(), as: &entityTag)
            case "lastModified": keep(reader.string(), as: &lastModified)
            case "length": keep(reader.number(), as: &length)
            case "servesRanges": keep(reader.truth(), as: &servesRanges)
            case "fields": keep(reader.list { $0.list { $0.string() } }, as: &fields)
            case "checked": keep(reader.number(), as: &checked)
            case "pinned": keep(reader.truth(), as: &pinned)
            case "variant": keep(reader.string(), as: &variant)
            case "status": keep(reader.number(), as: &status)
            default: false
            }
        }
        guard isWhole, let version, let key, let url, let generation, let identity, let fileExtension,
            let servesRanges, let fields, let checked, let pinned
        else { return nil }
        self.version = version
        self.key = key
        self.url = url
        self.generation = generation
        self.identity = identity
        self.extension = fileExtension
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.length = length
        self.servesRanges = servesRanges
        self.fields = fields
        self.checked = checked
        self.pinned = pinned
        self.variant = variant
        self.status = status
    }

    func checksum() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return FileForm.checksum(Array(try encoder.encode(self))[...])
    }

    /// The hash over the form's text without white space.
    static func checksum(_ text: ArraySlice<UInt8>) -> String {
        var hash = XXH64()
        hash.update(text)
        return String(hash.finish(), radix: 16)
    }
}
