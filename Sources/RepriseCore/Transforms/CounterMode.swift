import RepriseRanges

/// A block cipher in counter mode (NIST SP 800-38A §6.5), for ciphers with blocks of 16 bytes such as AES.
///
/// Any place can be begun at: byte `n` is combined with byte `n % 16` of the encrypted counter block `n / 16`. The counter is
/// the whole block, a number of 128 bits with its most significant byte first, and comes back to 0 after the last one.
/// Encrypting and decrypting are the same. It knows the counting; the cipher is the caller's, as Apple's systems and Linux
/// have AES in different libraries.
public struct CounterMode: ContentTransform {
    private static let blockSize: Int64 = 16

    private let initialCounter: UInt128
    private let encrypt: @Sendable (inout [UInt8]) -> Void

    /// Makes a transform.
    /// - Parameters:
    ///   - initialCounter: The counter block of byte 0, 16 bytes: often called the initialisation vector. For a scheme with a
    ///     nonce of fewer bytes, the nonce and the counter's first value behind it.
    ///   - encrypt: Encrypts blocks of 16 bytes in place, each on its own (electronic codebook, no padding). Called by
    ///     several threads at once, with up to 256 KiB for what is played.
    public init(initialCounter: [UInt8], encrypt: @escaping @Sendable (_ blocks: inout [UInt8]) -> Void) {
        precondition(initialCounter.count == Int(Self.blockSize), "a counter block has 16 bytes")
        self.initialCounter = initialCounter.reduce(0) { $0 << 8 | UInt128($1) }
        self.encrypt = encrypt
    }

    /// Combines `bytes`, which begin `offset` bytes after the resource's start, with the key stream of their place.
    public func apply(to bytes: inout [UInt8], at offset: Int64) {
        guard !bytes.isEmpty else { return }
        let first = offset / Self.blockSize
        let last = offset.adding(Int64(bytes.count - 1)) / Self.blockSize
        var stream = counters(first...last)
        let count = stream.count
        encrypt(&stream)
        precondition(stream.count == count, "a block cipher made \(stream.count) bytes of \(count)")
        bytes.combine(with: stream.dropFirst(Int(offset % Self.blockSize)))
    }

    private func counters(_ blocks: ClosedRange<Int64>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(blocks.count * Int(Self.blockSize))
        for block in blocks {
            let counter = initialCounter &+ UInt128(block)
            unsafe withUnsafeBytes(of: counter.bigEndian) { unsafe bytes.append(contentsOf: $0) }
        }
        return bytes
    }
}

extension [UInt8] {
    /// Combines each byte with that of `stream` by exclusive or; `stream` has at least as many.
    package mutating func combine(with stream: ArraySlice<UInt8>) {
        precondition(stream.count >= count)
        unsafe withUnsafeMutableBufferPointer { bytes in
            unsafe stream.withUnsafeBufferPointer { stream in
                for index in 0..<bytes.count { unsafe bytes[index] ^= stream[index] }
            }
        }
    }
}
