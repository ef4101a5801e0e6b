package import ReprisePlatform

/// How the bytes of a block are verified. The number is part of the format on disk.
package enum BlockIntegrity: UInt8, Sendable {
    /// XXH64 seeded with generation and block number: guards against accidents.
    case hashed = 1
    /// AES-GCM nonce and tag: guards against people. Sealed stores.
    case sealed = 2
}

/// What a slot says of its block: how many bytes from its start are valid, and the checksum of them.
package struct Slot: Sendable, Hashable {
    package var validLength: Int32
    package var checksum: UInt64

    package init(validLength: Int32, checksum: UInt64) {
        self.validLength = validLength
        self.checksum = checksum
    }

    /// The hash a block's checksum starts from: bytes of another generation or block never match it.
    package static func hash(identity: UInt64, block: Int64) -> XXH64 {
        XXH64(seed: identity ^ (UInt64(bitPattern: block) &* 0x9E37_79B9_7F4A_7C15))
    }

    // The check makes zeros, shifted slots and torn writes read as "absent" without touching the body.
    private static func check(_ length: UInt32, _ block: Int64, _ checksum: UInt64) -> UInt32 {
        let mixed = (UInt64(length) &+ 0x5265_7072) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(bitPattern: block) ^ checksum
        return UInt32(truncatingIfNeeded: mixed ^ (mixed >> 32)) | 1
    }

    /// Appends the slot as it lies on disk.
    package func encode(block: Int64, into bytes: inout [UInt8]) {
        let length = UInt32(validLength)
        bytes.append(littleEndian: length)
        bytes.append(littleEndian: Slot.check(length, block, checksum))
        bytes.append(littleEndian: checksum)
    }

    /// Reads the slot of `block` at `index` in `bytes`; `nil` for an absent one or one that contradicts itself.
    package init?(_ bytes: [UInt8], at index: Int, block: Int64, blockSize: Int64) {
        guard index + 16 <= bytes.count else { return nil }
        let length: UInt32 = bytes.littleEndian(at: index)
        let check: UInt32 = bytes.littleEndian(at: index + 4)
        let checksum: UInt64 = bytes.littleEndian(at: index + 8)
        guard length > 0, Int64(length) <= blockSize, check == Slot.check(length, block, checksum) else { return nil }
        self.init(validLength: Int32(length), checksum: checksum)
    }
}

extension [UInt8] {
    mutating func append(littleEndian value: some FixedWidthInteger) {
        var value = value.littleEndian
        for _ in 0..<(value.bitWidth / 8) {
            append(UInt8(truncatingIfNeeded: value))
            value >>= 8
        }
    }

    func littleEndian<Value: FixedWidthInteger>(at index: Int) -> Value {
        var value: Value = 0
        for offset in (0..<(Value.bitWidth / 8)).reversed() { value = value << 8 | Value(self[index + offset]) }
        return value
    }
}
