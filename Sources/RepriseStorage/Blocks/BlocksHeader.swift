import ReprisePlatform

/// The first page of a `blocks` file: what the file is, and a summary that listing and quota read without
/// reading slots. The summary is rewritten in place and never trusted for correctness.
package struct BlocksHeader: Sendable, Hashable {
    package static let magic = Array("RPRSBLK1".utf8)
    static let summaryOffset: Int64 = 64
    /// Where the summary and what stands behind it ends.
    static let hintsEnd = Int(EntryStatistics.headerOffset) + EntryStatistics.encodedSize

    /// How the blocks are verified.
    package var integrity: BlockIntegrity
    /// Bytes of a block.
    package var blockSize: Int64
    /// The generation's random identity; `info.json` names the same one.
    package var identity: UInt64

    /// The page. `seal` is what a sealed generation adds, behind the summary.
    func encoded(summary: EntrySummary, seal: [UInt8]? = nil) -> [UInt8] {
        var bytes = BlocksHeader.magic
        bytes.append(littleEndian: UInt32(integrity.rawValue))
        bytes.append(littleEndian: UInt32(blockSize))
        bytes.append(littleEndian: identity)
        bytes.append(littleEndian: XXH64.hash(bytes))
        bytes.append(contentsOf: repeatElement(0, count: Int(BlocksHeader.summaryOffset) - bytes.count))
        bytes += summary.encoded
        if let seal {
            bytes.append(contentsOf: repeatElement(0, count: Int(GenerationSeal.headerOffset) - bytes.count))
            bytes += seal
        }
        bytes.append(contentsOf: repeatElement(0, count: Int(BlockLayout.headerSize) - bytes.count))
        return bytes
    }

    /// Reads a header; `nil` where it is not one or its own hash disagrees.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= 32, Array(bytes[0..<8]) == BlocksHeader.magic,
            bytes.littleEndian(at: 24) as UInt64 == XXH64.hash(Array(bytes[0..<24])),
            let kind = BlockIntegrity(rawValue: bytes[8])
        else { return nil }
        self.init(
            integrity: kind, blockSize: Int64(bytes.littleEndian(at: 12) as UInt32),
            identity: bytes.littleEndian(at: 16))
    }

    package init(integrity: BlockIntegrity, blockSize: Int64, identity: UInt64) {
        self.integrity = integrity
        self.blockSize = blockSize
        self.identity = identity
    }
}

/// What listing, scan and quota want to know of an entry without opening its slots.
package struct EntrySummary: Sendable, Hashable {
    /// When it was last read, in seconds since 1970.
    package var lastUse: Int64 = 0
    /// How often it was used, as the logarithm to base 2, so that one byte is enough.
    package var logUseCount: UInt8 = 0
    /// Whether it is to be kept.
    package var isPinned = false
    /// Length of the representation in bytes, `nil` while unknown.
    package var length: Int64?
    /// Bytes stored.
    package var stored: Int64 = 0
    /// Bytes the volume has set aside, counted in allocated blocks.
    package var allocated: Int64 = 0
    /// What it has brought; a record of its own behind the summary.
    package var statistics = EntryStatistics()

    /// The largest number there may be: some can be added without a thought.
    static let largest: Int64 = 1 << 60

    package init() {}

    /// What a header says; `nil` where its summary is not whole.
    init?(inHeader bytes: [UInt8]) {
        self.init(bytes, at: Int(BlocksHeader.summaryOffset))
        statistics = EntryStatistics(bytes, at: Int(EntryStatistics.headerOffset))
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = [logUseCount, isPinned ? 1 : 0, length == nil ? 0 : 1, 0, 0, 0, 0, 0]
        bytes.append(littleEndian: lastUse)
        bytes.append(littleEndian: length ?? 0)
        bytes.append(littleEndian: stored)
        bytes.append(littleEndian: allocated)
        bytes.append(littleEndian: XXH64.hash(bytes))
        return bytes
    }

    init?(_ bytes: [UInt8], at index: Int) {
        guard bytes.count >= index + 48 else { return nil }
        let content = Array(bytes[index..<index + 40])
        guard bytes.littleEndian(at: index + 40) as UInt64 == XXH64.hash(content) else { return nil }
        logUseCount = content[0]
        isPinned = content[1] == 1
        // Anybody who may write there can make the hash, too: what no entry has is not taken for its numbers.
        func number(at index: Int) -> Int64 { min(max(0, content.littleEndian(at: index)), EntrySummary.largest) }
        lastUse = number(at: 8)
        length = content[2] == 1 ? number(at: 16) : nil
        stored = number(at: 24)
        allocated = number(at: 32)
    }
}
