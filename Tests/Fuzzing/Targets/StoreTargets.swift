import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting

extension FuzzTarget {
    /// Files of a store, as another program or a broken disk may leave them.
    static let storeTargets = [
        FuzzTarget("descriptions", seeds: [(try? info(content).encoded()) ?? [], Array("{}".utf8)]) { bytes in
            guard let info = EntryInfo(decoding: bytes) else { return }
            try require(try EntryInfo(decoding: info.encoded()) == info, "\(info)")
            try require(!info.bodyName.utf8.contains(UInt8(ascii: "/")), info.bodyName)
        },
        FuzzTarget("plain-stores", seeds: storeSeeds) { try store(damage: $0, key: nil) },
        FuzzTarget("sealed-stores", seeds: storeSeeds) { try store(damage: $0, key: key) },
    ]

    private static let content = PositionCodedContent(length: 90)
    private static let key = SealKey((0..<32).map { UInt8($0) })
    private static let layout = BlockLayout(blockSize: 16)
    private static let root = "/cache"

    private static func info(_ content: PositionCodedContent) -> EntryInfo {
        EntryInfo(
            key: "a", url: "https://origin.example/a", generation: 0, identity: 7919, fileExtension: "mp3",
            validator: Validator(entityTag: EntityTag(opaque: "\"1\"")), length: content.length, servesRanges: true,
            fields: ["Content-Type": "audio/mpeg"], checked: 1_700_000_000)
    }

    /// Which file, where in it, how many of its bytes go, and what comes instead.
    private static let storeSeeds: [[UInt8]] = (0..<8).flatMap { file in
        [
            [file, 0, 0, 0, 1, 0xFF], [file, 0, 64, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8], [file, 0, 20, 0xFF, 0xFF],
            [file, 0, 0, 0, 0, 10],
        ]
    }

    /// The files of a closed store that has one entry of `content`, by path.
    private static func image(key: SealKey?) throws -> [(path: String, bytes: [UInt8])] {
        let disk = SimulatedDisk()
        let store = try Store(root: root, volume: disk, layout: layout, access: .write, key: key) { _, _ in }
        let entry = try store.stage(info(content))
        try FillWriter(generation: entry.generation).write([content.bytes(in: ByteRange(0, 90))[...]], at: 0)
        try store.commit(entry.info)
        try store.writeStatistics(["served": 1])
        try settle(store)
        try store.closeIndex(allocated: 1)
        return try disk.paths.map { ($0, try disk.contents($0)) }
    }

    private static let plain = try? image(key: nil)
    private static let sealed = try? image(key: key)

    /// What is stored is told by the index, and by the entries where that does not tell.
    private static func settle(_ store: Store) throws(StoreError) {
        _ = try store.beginIndex()
        let survey = try store.survey(isCompared: true)
        for name in survey.unknown { _ = try store.look(name: name) }
        try store.settle(survey)
    }

    /// A damaged store gives the bytes that were stored, or none.
    private static func store(damage bytes: [UInt8], key: SealKey?) throws {
        guard let image = key == nil ? plain : sealed else { throw BrokenRule(description: "no store can be made") }
        let disk = SimulatedDisk()
        for (path, bytes) in image { try disk.replace(path, with: bytes) }
        var input = FuzzInput(bytes)
        let file = image[Int(input.byte()) % image.count].path
        let start = input.number()
        let count = input.number()
        try disk.mutate(file) { contents in
            let from = min(start, contents.count)
            contents.replaceSubrange(from..<min(from + count, contents.count), with: input.rest)
        }
        let store: Store
        do throws(StoreError) {
            store = try Store(root: root, volume: disk, layout: layout, access: .write, key: key) { _, _ in }
        } catch {
            return
        }
        _ = try? store.readStatistics()
        do {
            try settle(store)
            for entry in try store.survey(isCompared: true).known {
                try require(try store.look(name: entry.name) == entry, "the index is wrong about \(entry)")
            }
        } catch is StoreError {
            // What is damaged may say so.
        }
        guard let entry = try? store.open(key: "a") else { return }
        do {
            try entry.generation.readStored(length: content.length) { range, bytes in
                try require(content.firstMismatch(bytes, at: range.lowerBound) == nil, "wrong bytes in \(range)")
            }
        } catch is FileError {
            // What is damaged may say so.
        }
    }
}
