public import RepriseRanges

/// Bytes that are a function of their position: every aligned 16 bytes carry their own offset and the content's
/// generation, so any piece of an answer proves itself without a reference copy.
///
///     | offset / 16, mixed, 8 bytes | generation, mixed with the offset, 8 bytes |
///
/// The first 16 bytes can be replaced by a container's signature so that sniffers recognise it as media.
public struct PositionCodedContent: Sendable, Hashable {
    /// Length in bytes.
    public let length: Int64
    /// Which version of the object this is.
    public let generation: Int
    /// Bytes that stand at the start instead of the pattern, at most 16.
    public let signature: [UInt8]

    /// An MPEG audio tag: enough for a sniffer to take the content for an mp3.
    public static let mp3Signature: [UInt8] = Array("ID3\u{4}\0\0\0\0\0\0".utf8)

    /// Makes content of `length` bytes.
    public init(length: Int64, generation: Int = 1, signature: [UInt8] = PositionCodedContent.mp3Signature) {
        precondition(signature.count <= 16)
        self.length = length
        self.generation = generation
        self.signature = signature
    }

    private static func mix(_ value: UInt64) -> UInt64 {
        var mixed = (value &+ 0x9E37_79B9_7F4A_7C15) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// The bytes of `range`, clipped to the length.
    public func bytes(in range: ByteRange) -> [UInt8] {
        guard let range = range.intersection(ByteRange(0, length)) else { return [] }
        var result: [UInt8] = []
        result.reserveCapacity(Int(range.count))
        var offset = range.lowerBound
        while offset < range.upperBound {
            let line = offset / 16
            let first = PositionCodedContent.mix(UInt64(line))
            let second = PositionCodedContent.mix(first ^ UInt64(generation))
            let end = min(range.upperBound, (line + 1) * 16)
            for index in (offset - line * 16)..<(end - line * 16) {
                let position = Int(index)
                if line == 0, position < signature.count {
                    result.append(signature[position])
                } else {
                    let word = position < 8 ? first : second
                    result.append(UInt8(truncatingIfNeeded: word >> UInt64(position % 8 * 8)))
                }
            }
            offset = end
        }
        return result
    }

    /// The offset of the first byte of `bytes`, which begin at `offset`, that is not this content's; `nil` if all are.
    public func firstMismatch(_ bytes: some Collection<UInt8>, at offset: Int64) -> Int64? {
        let expected = self.bytes(in: ByteRange(offset: offset, count: Int64(bytes.count)))
        if expected.count == bytes.count, expected.elementsEqual(bytes) { return nil }
        let same = zip(expected, bytes).prefix { $0 == $1 }.count
        return offset + Int64(same)
    }
}
