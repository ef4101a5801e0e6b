package import RepriseRanges

/// Where blocks and slots lie.
///
///     blocks.<g>:  | header, 4096 | slot 0 | slot 1 | ...
///     slot, 16:    | valid bytes, 4 | check, 4 | checksum, 8 |      little-endian, never across a sector; sealed: `BlockSeal`
///     body.<g>:    | block 0      | block 1      | ...
///                  |======........|==============|               valid bytes are a prefix of each block
package struct BlockLayout: Sendable, Hashable {
    /// 32 KiB: small enough that a seek wastes little, large enough that slots of a film are a few hundred KiB
    /// (Chromium's and rclone's unit is of the same order).
    package static let standard = BlockLayout(blockSize: 32 * 1024)

    /// Bytes before the first slot: one page, so that slots never straddle a sector.
    package static let headerSize: Int64 = 4096
    /// Slots are read a page at a time.
    package static let slotsPerPage: Int64 = 256

    /// Bytes past this offset are not stored, 4 TiB: no medium has them, and slots are read from the first one on.
    package static let longestStored: Int64 = 1 << 42

    /// Bytes of a block.
    package let blockSize: Int64
    /// Bytes of a slot: 16, in a sealed store 32.
    package let slotSize: Int64

    package init(blockSize: Int64, integrity: BlockIntegrity = .hashed) {
        precondition(blockSize > 0 && blockSize <= 1 << 30)
        self.blockSize = blockSize
        slotSize = integrity == .sealed ? Int64(BlockSeal.size) : 16
    }

    /// The block that holds `offset`.
    package func block(at offset: Int64) -> Int64 { offset / blockSize }

    /// The first offset of the block that holds `offset`.
    package func blockStart(of offset: Int64) -> Int64 { offset - offset % blockSize }

    /// The first block boundary at or after `offset`; `Int64.max` where there is none in 64 bits.
    package func blockEnd(of offset: Int64) -> Int64 {
        let start = blockStart(of: offset)
        if start == offset { return offset }
        return start.adding(blockSize)
    }

    /// The first offset of block `number`; `Int64.max` where it is past 64 bits.
    package func start(of number: Int64) -> Int64 { number.multiplied(by: blockSize) }

    /// The bytes of block `number`.
    package func range(of number: Int64) -> ByteRange { ByteRange(offset: start(of: number), count: blockSize) }

    /// The bytes of the blocks from `first` up to `end`, which is not one of them.
    package func range(from first: Int64, upTo end: Int64) -> ByteRange { ByteRange(start(of: first), start(of: end)) }

    /// The numbers of the blocks that `range` touches.
    package func numbers(covering range: ByteRange) -> Range<Int64> {
        block(at: range.lowerBound)..<block(at: blockEnd(of: range.upperBound))
    }

    /// The whole blocks that `range` touches.
    package func blocks(covering range: ByteRange) -> ByteRange {
        ByteRange(blockStart(of: range.lowerBound), blockEnd(of: range.upperBound))
    }

    /// The whole pages of 4096 bytes that `range` touches.
    package static func pages(covering range: ByteRange) -> ByteRange {
        BlockLayout(blockSize: 4096).blocks(covering: range)
    }

    /// Where a block's slot lies in the `blocks` file.
    package func slotOffset(of number: Int64) -> Int64 { BlockLayout.headerSize.adding(slotsSize(number)) }

    /// Bytes of so many slots.
    package func slotsSize(_ count: Int64) -> Int64 { count.multiplied(by: slotSize) }

    /// Body bytes whose slots are read at once: 64 pages of slots, from the page on that has the slot of `offset`.
    package func window(at offset: Int64) -> ByteRange {
        ByteRange(offset: offset - offset % bytesPerPage, count: bytesPerPage.multiplied(by: 64))
    }

    /// Body bytes whose slots share a page.
    package var bytesPerPage: Int64 { blockSize.multiplied(by: BlockLayout.slotsPerPage) }
}
