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

    package var bodyName: String { "body.\(generation).\(fileExtension)" }
    package var blocksName: String { "blocks.\(generation)" }

    /// The file's bytes: the description and a hash over it, so that a flipped bit in a validator or a length is noticed.
    package func encoded() throws -> [UInt8] {
        let file = InfoFile(info: FileForm(self), proof: try FileForm(self).proof())
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return Array(try encoder.encode(file)) + [0x0A]
    }

    /// Reads the file; `nil` where it is not whole or its hash disagrees.
    package init?(decoding bytes: [UInt8]) {
        do {
            let file = try JSONDecoder().decode(InfoFile.self, from: Data(bytes))
            guard try file.info.proof() == file.proof, let info = file.info.info else { return nil }
            self = info
        } catch {
            return nil  // not JSON, or not ours: damaged, which the caller reports
        }
    }
}

private struct InfoFile: Codable {
    var info: FileForm
    var proof: String
}

/// The JSON form. 64-bit identities are text, because many JSON readers keep numbers as doubles.
private struct FileForm: Codable {
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
    }

    var info: EntryInfo? {
        guard version == 1, let identity = UInt64(identity, radix: 16), generation > 0, (length ?? 0) >= 0,
            fields.allSatisfy({ $0.count == 2 }), !`extension`.contains("/")
        else { return nil }
        var info = EntryInfo(
            key: key, url: url, generation: generation, identity: identity, fileExtension: `extension`,
            validator: Validator(entityTag: entityTag.flatMap { EntityTag($0) }, lastModified: lastModified),
            length: length, servesRanges: servesRanges, fields: HTTPFields(fields.map { ($0[0], $0[1]) }),
            checked: checked, isPinned: pinned)
        info.variant = variant
        return info
    }

    func proof() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(XXH64.hash(Array(try encoder.encode(self))), radix: 16)
    }
}
