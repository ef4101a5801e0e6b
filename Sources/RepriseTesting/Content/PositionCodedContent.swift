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
        let first = range.lowerBound / 16
        let last = (range.upperBound - 1) / 16
        let size = Int(last - first + 1) * 16
        // Whole lines as words: tests make hundreds of megabytes without optimisation. The stores are unsafe only in
        // that nothing checks their bounds, which are those of the buffer asked for.
        var lines = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            let raw = UnsafeMutableRawBufferPointer(buffer)
            var offset = 0
            while offset < size {
                let word = PositionCodedContent.mix(UInt64(first) &+ UInt64(offset / 16))
                let other = PositionCodedContent.mix(word ^ UInt64(generation))
                unsafe raw.storeBytes(of: word.littleEndian, toByteOffset: offset, as: UInt64.self)
                unsafe raw.storeBytes(of: other.littleEndian, toByteOffset: offset + 8, as: UInt64.self)
                offset += 16
            }
            count = size
        }
        if first == 0 { lines.replaceSubrange(0..<signature.count, with: signature) }
        let start = Int(range.lowerBound - first * 16)
        return Array(lines[start..<start + Int(range.count)])
    }

    /// The offset of the first byte of `bytes`, which begin at `offset`, that is not this content's; `nil` if all are.
    public func firstMismatch(_ bytes: some Collection<UInt8>, at offset: Int64) -> Int64? {
        let expected = self.bytes(in: ByteRange(offset: offset, count: Int64(bytes.count)))
        if expected.count == bytes.count, PositionCodedContent.areEqual(expected, bytes) { return nil }
        let same = zip(expected, bytes).prefix { $0 == $1 }.count
        return offset + Int64(same)
    }

    // Eight bytes at a time; both have as many bytes as `expected`, so no load passes an end.
    private static func areEqual(_ expected: [UInt8], _ bytes: some Collection<UInt8>) -> Bool {
        let answer = bytes.withContiguousStorageIfAvailable { given in
            unsafe expected.withUnsafeBytes { expected in
                let given = UnsafeRawBufferPointer(given)
                var index = 0
                while index + 8 <= expected.count {
                    let left = unsafe expected.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    let right = unsafe given.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    if left != right { return false }
                    index += 8
                }
                while index < expected.count {
                    if unsafe expected[index] != given[index] { return false }
                    index += 1
                }
                return true
            }
        }
        return answer ?? expected.elementsEqual(bytes)
    }
}
