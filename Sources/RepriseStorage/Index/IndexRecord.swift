import RepriseHTTP
import RepriseRanges

/// One thing that the index says. Numbers are little-endian; a text is its length in four bytes and its bytes.
///
///     | 1 | name, 32 | identity, 8 | flags, 1 | checked, 8 | length, 8 | key | content type |     an entry's description
///     | 2 | name, 32 | identity, 8 | flags, 1 | uses, 1 | last use, 8 | length, 8 | stored, 8 | allocated, 8 |
///     |                                       served, 8 | from origin, 8 |                          what is stored of it
///     | 3 | name, 32 |                                                                             it was removed
///     | 4 | 256 change times, 8 each |                                   the folders of entries when names were compared
///     | 5 | allocated, 8 | change time of the lock, 8 |                        the store was closed, and all of this holds
enum IndexRecord: Hashable, Sendable {
    /// What an entry's description says.
    struct Description: Hashable, Sendable {
        /// Of the generation, random.
        var identity: UInt64
        var isPinned: Bool
        var checked: Int64
        var length: Int64?
        var key: String
        var contentType: String?
    }

    /// What the summary of a generation says.
    struct Use: Hashable, Sendable {
        /// Of the generation, random.
        var identity: UInt64
        var logUseCount: UInt8
        var lastUse: Int64
        var length: Int64?
        var stored: Int64
        var allocated: Int64
        var statistics: EntryStatistics
    }

    case described(EntryName, Description)
    case used(EntryName, Use)
    case removed(EntryName)
    /// For each prefix of two digits when its folder last changed, as the file system says, before its names were compared; 0 where
    /// there was none.
    case listed([Int64])
    /// - Parameters:
    ///   - allocated: Bytes that all entries take.
    ///   - lock: When the lock file last changed: the next process that writes the store changes it.
    case closed(allocated: Int64, lock: Int64)

    /// Folders of entries.
    static let prefixes = 256
    /// Texts that are longer are no key of ours.
    private static let longestText = 1 << 20

    // MARK: Writing

    func append(to bytes: inout [UInt8]) {
        switch self {
        case .described(let name, let description):
            bytes.append(1)
            bytes += name.bytes
            bytes.append(littleEndian: description.identity)
            bytes.append(
                (description.isPinned ? 1 : 0) | (description.length == nil ? 0 : 2)
                    | (description.contentType == nil ? 0 : 4))
            bytes.append(littleEndian: description.checked)
            bytes.append(littleEndian: description.length ?? 0)
            for text in [description.key, description.contentType ?? ""] {
                bytes.append(littleEndian: UInt32(clamping: text.utf8.count))
                bytes += text.utf8
            }
        case .used(let name, let use):
            bytes.append(2)
            bytes += name.bytes
            bytes.append(littleEndian: use.identity)
            bytes.append(use.length == nil ? 0 : 2)
            bytes.append(use.logUseCount)
            let sums = use.statistics
            for number in [
                use.lastUse, use.length ?? 0, use.stored, use.allocated, sums.served, sums.fromOrigin,
            ] {
                bytes.append(littleEndian: number)
            }
        case .removed(let name):
            bytes.append(3)
            bytes += name.bytes
        case .listed(let changes):
            bytes.append(4)
            for change in changes { bytes.append(littleEndian: change) }
        case .closed(let allocated, let lock):
            bytes.append(5)
            bytes.append(littleEndian: allocated)
            bytes.append(littleEndian: lock)
        }
    }

    // MARK: Reading

    /// Hands each record to `take`; `false` where something is none of them, from there on.
    static func read(_ bytes: [UInt8], _ take: (IndexRecord) -> Void) -> Bool {
        var cursor = Cursor(bytes: bytes)
        while !cursor.isAtEnd {
            guard let record = next(&cursor) else { return false }
            take(record)
        }
        return true
    }

    private static func next(_ cursor: inout Cursor) -> IndexRecord? {
        switch cursor.byte() {
        case 1: cursor.name().flatMap { name in description(&cursor).map { .described(name, $0) } }
        case 2: cursor.name().flatMap { name in use(&cursor).map { .used(name, $0) } }
        case 3: cursor.name().map { .removed($0) }
        case 4: listed(&cursor)
        case 5: closed(&cursor)
        default: nil
        }
    }

    private static func description(_ cursor: inout Cursor) -> Description? {
        guard let identity = cursor.number(), let flags = cursor.byte(), let checked = cursor.number(),
            let length = cursor.number(), let key = cursor.text(), let contentType = cursor.text()
        else { return nil }
        return Description(
            identity: UInt64(bitPattern: identity), isPinned: flags & 1 != 0, checked: checked,
            length: flags & 2 != 0 ? size(length) : nil, key: key, contentType: flags & 4 != 0 ? contentType : nil)
    }

    private static func use(_ cursor: inout Cursor) -> Use? {
        guard let identity = cursor.number(), let flags = cursor.byte(), let uses = cursor.byte(),
            let lastUse = cursor.number(), let length = cursor.number(), let stored = cursor.number(),
            let allocated = cursor.number(), let served = cursor.number(), let fromOrigin = cursor.number()
        else { return nil }
        return Use(
            identity: UInt64(bitPattern: identity), logUseCount: uses, lastUse: size(lastUse),
            length: flags & 2 != 0 ? size(length) : nil, stored: size(stored), allocated: size(allocated),
            statistics: EntryStatistics(served: size(served), fromOrigin: size(fromOrigin)))
    }

    private static func listed(_ cursor: inout Cursor) -> IndexRecord? {
        var changes: [Int64] = []
        for _ in 0..<prefixes {
            guard let change = cursor.number() else { return nil }
            changes.append(change)
        }
        return .listed(changes)
    }

    private static func closed(_ cursor: inout Cursor) -> IndexRecord? {
        guard let allocated = cursor.number(), let lock = cursor.number() else { return nil }
        return .closed(allocated: size(allocated), lock: lock)
    }

    /// A number that no entry has is not taken for one: sums of some can be made without a thought.
    private static func size(_ number: Int64) -> Int64 { min(max(0, number), EntrySummary.largest) }

    private struct Cursor {
        let bytes: [UInt8]
        var index = 0

        var isAtEnd: Bool { index == bytes.count }

        mutating func advance(_ count: Int) -> Int? {
            guard count <= bytes.count - index else { return nil }
            defer { index += count }
            return index
        }

        mutating func byte() -> UInt8? { advance(1).map { bytes[$0] } }

        mutating func name() -> EntryName? { advance(EntryName.size).map { EntryName(bytes, at: $0) } }

        mutating func number() -> Int64? { advance(8).map { bytes.littleEndian(at: $0) } }

        mutating func text() -> String? {
            guard let start = advance(4) else { return nil }
            let count = Int(bytes.littleEndian(at: start) as UInt32)
            guard count <= longestText, let text = advance(count) else { return nil }
            return String(decoding: bytes[text..<text + count], as: UTF8.self)
        }
    }
}

extension IndexRecord.Description {
    /// - Parameter length: Of the representation, where a summary knows it better.
    init(_ info: EntryInfo, length: Int64?) {
        self.init(
            identity: info.identity, isPinned: info.isPinned, checked: info.checked, length: length, key: info.key,
            contentType: info.fields["Content-Type"])
    }
}

extension IndexRecord.Use {
    /// Of no generation: the entry's files have to be asked.
    static let unknown = IndexRecord.Use(EntrySummary(), of: 0, allocated: 0)

    /// - Parameter allocated: Bytes that the entry's files and its folder take.
    init(_ summary: EntrySummary, of identity: UInt64, allocated: Int64) {
        self.init(
            identity: identity, logUseCount: summary.logUseCount, lastUse: summary.lastUse,
            length: summary.length, stored: summary.stored, allocated: allocated, statistics: summary.statistics)
    }

    init(_ entry: IndexedEntry) {
        self.init(
            identity: entry.identity, logUseCount: UInt8(clamping: entry.use.logUseCount), lastUse: entry.use.lastUse,
            length: entry.use.length, stored: entry.stored, allocated: entry.use.allocated,
            statistics: entry.statistics)
    }
}
