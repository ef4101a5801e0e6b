import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// A store in memory behind a file system that can fail, with content that verifies itself.
struct StoreFixture: Sendable {
    /// How the store keeps its bytes.
    enum Kind: Sendable, CaseIterable { case plain, sealed }

    static let root = "/cache"
    /// The master key of sealed stores.
    static let key = SealKey((0..<32).map { UInt8($0) })!
    let kind: Kind
    let memory: SimulatedDisk
    let files: FaultyVolume
    let layout: BlockLayout
    /// The bytes whose slots were written, by entry name.
    let trace = SlotTrace()

    init(_ kind: Kind = .plain, blockSize: Int64 = 16, memory: SimulatedDisk = SimulatedDisk()) {
        self.kind = kind
        self.memory = memory
        files = FaultyVolume(memory)
        layout = BlockLayout(blockSize: blockSize)
    }

    func open(_ access: Store.Access = .write) throws(StoreError) -> Store {
        let store = try Store(
            root: StoreFixture.root, volume: files, layout: layout, access: access,
            key: kind == .sealed ? StoreFixture.key : nil
        ) { [trace] name, range in trace.add(name, range) }
        trace.setSeal(store.seal)
        return store
    }

    static func info(_ key: String, _ content: PositionCodedContent) -> EntryInfo {
        EntryInfo(
            key: key, url: "https://origin.example/" + key, generation: 0, identity: UInt64(content.generation) &* 7919,
            fileExtension: "mp3", validator: Validator(entityTag: EntityTag(opaque: "\"\(content.generation)\"")),
            length: content.length, servesRanges: true, fields: ["Content-Type": "audio/mpeg"], checked: 1_700_000_000)
    }

    /// A committed entry with `ranges` of `content` stored.
    @discardableResult
    static func add(
        _ key: String, _ content: PositionCodedContent, _ ranges: [ByteRange]? = nil, to store: Store
    ) throws -> StoredEntry {
        let entry = try store.stage(info(key, content))
        for range in ranges ?? [ByteRange(0, content.length)] { try fill(entry.generation, content, range) }
        try store.commit(entry.info)
        return entry
    }

    static func fill(_ generation: Generation, _ content: PositionCodedContent, _ range: ByteRange) throws {
        let bytes = content.bytes(in: range)
        try FillWriter(generation: generation).write([bytes[...]], at: range.lowerBound)
    }

    /// Reads all that the generation will hand out, checks each byte against `content`, and answers which they were.
    static func served(_ generation: Generation, _ content: PositionCodedContent, _ comment: Comment? = nil) throws
        -> ByteRangeSet
    {
        var served = ByteRangeSet()
        try generation.readStored(length: content.length) { range, bytes in
            #expect(content.firstMismatch(bytes, at: range.lowerBound) == nil, comment)
            served.insert(range)
        }
        return served
    }

    /// As at a start: what the index does not tell of is asked.
    static func settle(_ store: Store) throws {
        let survey = try store.survey(isCompared: true)
        for name in survey.unknown { _ = try store.look(name: name) }
        try store.settle(survey)
    }

    func path(_ info: EntryInfo, _ file: String) -> String {
        let name = trace.name(of: info.key)
        let file = kind == .sealed ? file.replacing(".mp3", with: "") : file
        return "\(StoreFixture.root)/entries/\(name.prefix(2))/\(name)/\(file)"
    }
}

/// What was told of slots, and how the store last opened names its entries.
final class SlotTrace: Sendable {
    private let ranges = Lock<[String: ByteRangeSet]>([:])
    private let seal = Lock<RootSeal?>(nil)

    func setSeal(_ seal: RootSeal?) { self.seal.withLock { $0 = seal } }

    func name(of key: String) -> String { seal.withLock { $0?.entryName(key: key) } ?? Store.entryName(key: key) }

    func add(_ name: String, _ range: ByteRange) { ranges.withLock { $0[name, default: ByteRangeSet()].insert(range) } }

    func of(key: String) -> ByteRangeSet { ranges.withLock { [name = name(of: key)] in $0[name] ?? ByteRangeSet() } }
}
