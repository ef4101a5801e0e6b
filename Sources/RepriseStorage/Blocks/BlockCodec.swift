import ReprisePlatform
import RepriseRanges

/// How the blocks of a generation lie on the disk, and what shows that they are what was stored: as they came, with a checksum
/// in each slot, or encrypted, with an authentication tag.
///
/// All that differs between the two is asked here; the generation that uses it keeps the states of its blocks.
enum BlockCodec {
    case plain
    case sealed(GenerationSeal)

    /// A block's verified prefix, as a writer goes on from it.
    enum Prefix {
        /// Of a plain block: the running checksum.
        case hash(XXH64)
        /// Of an encrypted one: the bytes, which are encrypted anew with those that follow.
        case plaintext([UInt8])
    }

    var isSealed: Bool { if case .sealed = self { true } else { false } }

    // MARK: Reading

    /// Whether the body's bytes are media, which the kernel may send by itself.
    var holdsMedia: Bool { !isSealed }

    /// Whether each read verifies what it reads: what others changed meanwhile is noticed by that.
    var verifiesEachRead: Bool { isSealed }

    /// The bytes of the body that reading `range` takes: an encrypted block opens only as a whole.
    func read(for range: ByteRange, _ layout: BlockLayout) -> ByteRange {
        isSealed ? layout.blocks(covering: range) : range
    }

    // MARK: Slots

    /// The slot of `block` at `index` of what was read of the slots file; `nil` for an absent one.
    func slot(in bytes: [UInt8], at index: Int, of block: Int64, _ layout: BlockLayout) -> Slot? {
        switch self {
        case .plain: Slot(bytes, at: index, block: block, blockSize: layout.blockSize)
        case .sealed: BlockSeal(bytes, at: index, blockSize: layout.blockSize)?.slot
        }
    }

    /// What opens the block whose slot that is; `nil` where nothing has to.
    func seal(in bytes: [UInt8], at index: Int, _ layout: BlockLayout) -> BlockSeal? {
        switch self {
        case .plain: nil
        case .sealed: BlockSeal(bytes, at: index, blockSize: layout.blockSize)
        }
    }

    // MARK: Verifying and writing

    /// The block's prefix where `bytes` are what `slot` says.
    /// - Parameter blockSeal: What opens it.
    func prefix(
        _ bytes: [UInt8], _ slot: Slot, _ blockSeal: @autoclosure () -> BlockSeal?, block: Int64, identity: UInt64
    ) -> Prefix? {
        guard bytes.count == Int(slot.validLength) else { return nil }
        switch self {
        case .plain:
            var hash = Slot.hash(identity: identity, block: block)
            hash.update(bytes[...])
            return hash.finish() == slot.checksum ? .hash(hash) : nil
        case .sealed(let seal):
            guard let blockSeal = blockSeal(), blockSeal.slot == slot,
                let plain = seal.open(blockSeal.box(bytes), validLength: slot.validLength, block: block)
            else { return nil }
            return .plaintext([UInt8](plain))
        }
    }

    /// Writes from `offset` on, behind the block's verified prefix; `nil` for none.
    func makeWriter(of generation: Generation, at offset: Int64, behind prefix: Prefix?) -> any BlockWriter {
        switch (self, prefix) {
        case (.plain, .hash(let hash)?): PlainBlockWriter(generation: generation, position: offset, hash: hash)
        case (.plain, _): PlainBlockWriter(generation: generation, position: offset, hash: nil)
        case (.sealed(let seal), .plaintext(let plain)?):
            EncryptedBlockWriter(generation: generation, seal: seal, position: offset, plain: plain)
        case (.sealed(let seal), _):
            EncryptedBlockWriter(generation: generation, seal: seal, position: offset, plain: [])
        }
    }
}
