import ReprisePlatform
import RepriseRanges

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Seals and opens the blocks of one generation with its own random key.
///
/// Each block is bound to its entry, generation, number and valid length: it opens nowhere else.
/// A key seals at most 2^32 times, because nonces are random (NIST SP 800-38D §8.3). In the header, behind the summary:
///
///     128: | data key, sealed by the entry's key, 60 | 0, 4 | seals at most made, 8 | XXH64 of the 72 before, 8 |
final class GenerationSeal: Sendable {
    /// What has to happen before blocks are sealed.
    enum Permission: Hashable {
        case granted
        /// The header has to say first that so many seals may have been made.
        case note(Int64)
        /// The key has sealed as often as it may.
        case wornOut
    }

    /// Where in the header of a `blocks` file.
    static let headerOffset: Int64 = 128
    static let mostSeals: Int64 = 1 << 32
    /// How many seals are noted at once, so that the header is seldom written: 2 GiB of full blocks.
    static let notedAtOnce: Int64 = 1 << 16
    private static let encodedSize = 80

    private struct Count {
        var used: Int64
        var noted: Int64
    }

    private let key: SymmetricKey
    private let box: [UInt8]
    /// What every block's associated data begins with.
    private let binding: [UInt8]
    private let count: Lock<Count>

    init(key: SymmetricKey, box: [UInt8], name: String, identity: UInt64, used: Int64) {
        self.key = key
        self.box = box
        var binding = Array(name.utf8)
        binding.append(littleEndian: identity)
        self.binding = binding
        count = Lock(Count(used: used, noted: used))
    }

    /// Its part of a header; `nil` where that is damaged.
    static func read(_ header: [UInt8]) -> (box: [UInt8], used: Int64)? {
        let start = Int(headerOffset)
        guard header.count >= start + encodedSize else { return nil }
        let part = Array(header[start..<start + encodedSize])
        guard part.littleEndian(at: 72) as UInt64 == XXH64.hash(Array(part[0..<72])) else { return nil }
        let used: Int64 = part.littleEndian(at: 64)
        guard used >= 0 else { return nil }
        return (Array(part[0..<RootSeal.boxSize]), used)
    }

    /// Its part of a header that says that `used` seals may have been made.
    func encoded(used: Int64 = 0) -> [UInt8] {
        var bytes = box + [0, 0, 0, 0]
        bytes.append(littleEndian: used)
        bytes.append(littleEndian: XXH64.hash(bytes))
        return bytes
    }

    /// Whether so few seals are left that the generation is better replaced than opened.
    var isWornOut: Bool { count.withLock { $0.used > GenerationSeal.mostSeals - GenerationSeal.notedAtOnce } }

    /// Asks to seal `number` blocks.
    func permission(toSeal number: Int64) -> Permission {
        count.withLock { count in
            let used = count.used.adding(number)
            if used > GenerationSeal.mostSeals { return .wornOut }
            if used > count.noted {
                return .note(min(used.adding(GenerationSeal.notedAtOnce), GenerationSeal.mostSeals))
            }
            count.used = used
            return .granted
        }
    }

    /// The header says that `noted` seals may have been made.
    func noted(_ noted: Int64) { count.withLock { $0.noted = max($0.noted, noted) } }

    /// Seals a block's valid bytes, for which `permission` was had, with a nonce of their own.
    func seal(_ plain: [UInt8], block: Int64) -> (seal: BlockSeal, ciphertext: [UInt8]) {
        do {
            let box = try AES.GCM.seal(
                plain, using: key, authenticating: associatedData(block, Int32(plain.count)))
            let seal = BlockSeal(validLength: Int32(plain.count), nonce: box.nonce, tag: box.tag)
            return (seal, [UInt8](box.ciphertext))
        } catch {
            preconditionFailure("AES-GCM takes every key of 256 bits: \(error)")
        }
    }

    /// A block's valid bytes; `nil` where they are not what was sealed.
    /// - Parameter sealed: Its nonce, what is on disk of it and its tag, one after the other.
    func open(_ sealed: [UInt8], validLength: Int32, block: Int64) -> Data? {
        guard sealed.count == Int(validLength) + SealedBox.overhead else { return nil }
        do {
            return try AES.GCM.open(
                AES.GCM.SealedBox(combined: sealed), using: key, authenticating: associatedData(block, validLength))
        } catch {
            return nil  // damaged, which the caller reports
        }
    }

    private func associatedData(_ block: Int64, _ validLength: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(binding.count + 12)
        bytes += binding
        bytes.append(littleEndian: block)
        bytes.append(littleEndian: validLength)
        return bytes
    }
}
