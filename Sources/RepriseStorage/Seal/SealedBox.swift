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

/// Small things sealed with AES-GCM: keys and descriptions, not blocks.
///
///     | nonce, 12 | ciphertext | tag, 16 |
enum SealedBox {
    static let nonceSize = 12
    static let tagSize = 16
    /// Bytes a box is longer than what is in it.
    static let overhead = nonceSize + tagSize

    /// Seals `plain` with a nonce of its own; it opens only with the same `purpose`.
    static func seal(_ plain: [UInt8], _ key: SymmetricKey, purpose: String) -> [UInt8] {
        do {
            let box = try AES.GCM.seal(plain, using: key, authenticating: Array(purpose.utf8))
            return [UInt8](box.nonce) + [UInt8](box.ciphertext) + [UInt8](box.tag)
        } catch {
            preconditionFailure("AES-GCM takes every key of 256 bits: \(error)")
        }
    }

    /// What is in the box; `nil` where it is not one of that key and purpose, byte for byte.
    static func open(_ box: [UInt8], _ key: SymmetricKey, purpose: String) -> [UInt8]? {
        do {
            let box = try AES.GCM.SealedBox(combined: box)
            return [UInt8](try AES.GCM.open(box, using: key, authenticating: Array(purpose.utf8)))
        } catch {
            return nil  // too short, or the tag disagrees: which of them makes no difference
        }
    }
}
