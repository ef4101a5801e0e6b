package import ReprisePlatform
import RepriseRanges

/// Writes the bytes of one fill, in order, with their slots. Confined to its generation's write lane.
package final class PlainBlockWriter: BlockWriter {
    private let generation: Generation
    package private(set) var position: Int64
    /// Running hash of the current block's valid prefix; `nil` at a block's start, and inside a block whose prefix
    /// was lost: the rest of that block is passed over.
    private var hash: XXH64?

    init(generation: Generation, position: Int64, hash: XXH64?) {
        self.generation = generation
        self.position = position
        self.hash = hash
    }

    package func write(_ chunks: [ArraySlice<UInt8>]) throws(FileError) {
        let layout = generation.layout
        if hash == nil, position != layout.blockStart(of: position) {
            let rest = passOver(chunks, upTo: layout.blockEnd(of: position), position: &position)
            if !rest.isEmpty { try write(rest) }
            return
        }
        let start = position
        let firstBlock = layout.block(at: start)
        var slots: [UInt8] = []
        var running = hash
        var offset = start
        for chunk in chunks {
            var rest = chunk
            while !rest.isEmpty {
                let block = layout.block(at: offset)
                let space = layout.range(of: block).upperBound - offset
                let part = rest.prefix(Int(min(space, Int64(rest.count))))
                rest = rest.dropFirst(part.count)
                var current = running ?? Slot.hash(identity: generation.identity, block: block)
                current.update(part)
                offset += Int64(part.count)
                running = current
                if offset % layout.blockSize == 0 {
                    Slot(validLength: Int32(layout.blockSize), checksum: current.finish()).encode(
                        block: block, into: &slots)
                    running = nil
                }
            }
        }
        if let running {
            let block = layout.block(at: offset)
            Slot(validLength: Int32(offset - layout.start(of: block)), checksum: running.finish())
                .encode(block: block, into: &slots)
        }
        guard offset > start else { return }
        if try generation.write(chunks, range: ByteRange(start, offset), slots: slots, firstBlock: firstBlock) {
            position = offset
            hash = running
        } else {
            hash = nil
            try write(chunks)
        }
    }
}
