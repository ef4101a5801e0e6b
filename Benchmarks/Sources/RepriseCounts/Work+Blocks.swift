import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting

extension Work {
    /// Floor 2: an entry's blocks on a real file system. What the kernel does is not counted.
    static var blocks: [Work] {
        [
            Work("fill a block of 32 KiB in pieces of 16", count: 64, from: try Blocks()) { start in
                let writer = FillWriter(generation: start.generation)
                return { turn in
                    let offset = Int64(turn) * Blocks.size
                    try writer.write([start.half, start.half], at: offset)
                    return start.generation.claims(ByteRange(offset, offset + Blocks.size)) ? 1 : 0
                }
            },
            Work("verify a block of 32 KiB", count: 64, from: try Blocks().filled().reopened()) { start in
                { turn in
                    let offset = Int64(turn) * Blocks.size
                    try start.generation.verify(ByteRange(offset, offset + Blocks.size))
                    return start.generation.lease(ByteRange(offset, offset + Blocks.size)) == nil ? 0 : 1
                }
            },
            Work("lease and read 4 KiB of a verified block", count: 1_000, from: try Blocks().filled()) { start in
                { turn in
                    let offset = Int64(turn % 512) * 4096
                    return try start.generation.lease(ByteRange(offset, offset + 4096))?.read().count ?? 0
                }
            },
        ]
    }
}

/// An entry of 64 blocks in a folder of its own.
private struct Blocks {
    static let size: Int64 = 32 * 1024
    let folder = TemporaryDirectory()
    let half = [UInt8](repeating: 5, count: 16 * 1024)[...]
    private var store: Store
    private var entry: StoredEntry
    var generation: Generation { entry.generation }

    init() throws {
        store = try Store(root: folder.path + "/store", volume: folder)
        entry = try store.stage(
            EntryInfo(
                key: "work", url: "https://origin.example/work", generation: 0, identity: 1, fileExtension: "mp4",
                validator: Validator(entityTag: EntityTag(opaque: "\"1\"")), length: 64 * Blocks.size,
                servesRanges: true, fields: ["Content-Type": "video/mp4"], checked: 1_700_000_000))
        try store.commit(entry.info)
    }

    func filled() throws -> Blocks {
        let writer = FillWriter(generation: generation)
        for number in 0..<Int64(64) { try writer.write([half, half], at: number * Blocks.size) }
        return self
    }

    /// As another process finds it: nothing is verified, slots are read.
    func reopened() throws -> Blocks {
        var copy = self
        store.release()
        copy.store = try Store(root: folder.path + "/store", volume: folder)
        guard let entry = try copy.store.open(key: "work") else { preconditionFailure("the entry is gone") }
        copy.entry = entry
        try entry.generation.load(ByteRange(0, 64 * Blocks.size))
        return copy
    }
}
