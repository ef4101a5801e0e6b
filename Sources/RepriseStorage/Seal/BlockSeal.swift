/// The slot of a sealed block: how many bytes from its start are valid, and what AES-GCM made of them.
///
///     | valid bytes, 4 | nonce, 12 | tag, 16 |     32 bytes, little-endian, never across a sector
///
/// It has no check of its own: the tag is one, over the length, too.
struct BlockSeal: Sendable, Hashable {
    static let size = 32

    let validLength: Int32
    private let nonceHead: UInt32
    private let nonceTail: UInt64
    private let tagHead: UInt64
    private let tagTail: UInt64

    init(validLength: Int32, nonce: some Sequence<UInt8>, tag: some Sequence<UInt8>) {
        let bytes = Array(nonce) + Array(tag)
        self.validLength = validLength
        nonceHead = bytes.littleEndian(at: 0)
        nonceTail = bytes.littleEndian(at: 4)
        tagHead = bytes.littleEndian(at: 12)
        tagTail = bytes.littleEndian(at: 20)
    }

    /// Reads the slot at `index` in `bytes`; `nil` for an absent one.
    init?(_ bytes: [UInt8], at index: Int, blockSize: Int64) {
        guard index + BlockSeal.size <= bytes.count else { return nil }
        let length: UInt32 = bytes.littleEndian(at: index)
        guard length > 0, Int64(length) <= blockSize else { return nil }
        self.init(
            validLength: Int32(length), nonce: bytes[index + 4..<index + 16], tag: bytes[index + 16..<index + 32])
    }

    var nonce: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(SealedBox.nonceSize)
        bytes.append(littleEndian: nonceHead)
        bytes.append(littleEndian: nonceTail)
        return bytes
    }

    var tag: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(SealedBox.tagSize)
        bytes.append(littleEndian: tagHead)
        bytes.append(littleEndian: tagTail)
        return bytes
    }

    /// The slot as the rest of the store knows it: half of the tag stands for all of it.
    var slot: Slot { Slot(validLength: validLength, checksum: tagHead) }

    /// The whole box of a block, as AES-GCM's library takes it.
    func box(_ ciphertext: [UInt8]) -> [UInt8] {
        var box: [UInt8] = []
        box.reserveCapacity(ciphertext.count + SealedBox.overhead)
        box += nonce
        box += ciphertext
        box += tag
        return box
    }

    func encode(into bytes: inout [UInt8]) {
        bytes.append(littleEndian: UInt32(validLength))
        bytes += nonce
        bytes += tag
    }
}
