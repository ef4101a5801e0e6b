import ReprisePlatform
import RepriseRanges

/// Writes the bytes of one fill, in order, into a sealed generation. Confined to its generation's write lane.
///
/// What it is given is stored when `write` returns: a block that is not full yet is sealed as far as it goes, and anew
/// when more comes. So it is given whole blocks where that can be had; between the two writes of such a block a crash costs
/// the bytes it had.
final class EncryptedBlockWriter: BlockWriter {
    private let generation: Generation
    private let seal: GenerationSeal
    private(set) var position: Int64
    /// The current block's valid bytes: one block at most is held in the clear. `nil` inside a block whose prefix was
    /// lost: the rest of that block is passed over.
    private var plain: [UInt8]?

    init(generation: Generation, seal: GenerationSeal, position: Int64, plain: [UInt8]) {
        self.generation = generation
        self.seal = seal
        self.position = position
        self.plain = plain
    }

    func write(_ chunks: [ArraySlice<UInt8>]) throws(FileError) {
        let layout = generation.layout
        guard let prefix = plain else {
            let rest = passOver(chunks, upTo: layout.blockEnd(of: position), position: &position)
            if position == layout.blockStart(of: position) { plain = [] }
            if !rest.isEmpty { try write(rest) }
            return
        }
        let total = chunks.reduce(Int64(0)) { $0.adding(Int64($1.count)) }
        guard total > 0 else { return }
        let range = ByteRange(offset: position, count: total)
        let first = layout.block(at: position)
        let last = layout.block(at: range.upperBound - 1)
        guard try generation.mayStore(blocks: (last - first).adding(1), seal) else {
            _ = passOver(chunks, upTo: .max, position: &position)
            plain = position == layout.blockStart(of: position) ? [] : nil
            return
        }
        var current = prefix
        var body: [UInt8] = []
        var seals: [BlockSeal] = []
        for chunk in chunks {
            var rest = chunk
            while !rest.isEmpty {
                let part = rest.prefix(Int(layout.blockSize) - current.count)
                current += part
                rest = rest.dropFirst(part.count)
                if current.count == Int(layout.blockSize) { finish(&current, first, &body, &seals) }
            }
        }
        let open = current
        if !current.isEmpty { finish(&current, first, &body, &seals) }
        if try generation.write(sealed: body, seals, firstBlock: first, adding: range) {
            position = range.upperBound
            plain = open
        } else {
            plain = nil
            try write(chunks)
        }
    }

    private func finish(
        _ current: inout [UInt8], _ first: Int64, _ body: inout [UInt8], _ seals: inout [BlockSeal]
    ) {
        let (made, ciphertext) = seal.seal(current, block: first.adding(Int64(seals.count)))
        body += ciphertext
        seals.append(made)
        current.removeAll(keepingCapacity: true)
    }
}
