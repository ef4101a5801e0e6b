#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The key of a sealed store: 256 bits that its owner keeps somewhere else, for example in the keychain.
///
/// It seals nothing but the store's own root key: changing it is cheap (`Store.reseal`), losing it loses what is stored.
public struct SealKey: Sendable {
    let key: SymmetricKey

    /// A key of those 32 bytes, for example a `SymmetricKey`, `Data` or an array; `nil` for any other number of bytes.
    public init?(_ bytes: some ContiguousBytes) {
        key = unsafe bytes.withUnsafeBytes { unsafe SymmetricKey(data: $0) }
        guard key.bitCount == 256 else { return nil }
    }

    private init() { key = SymmetricKey(size: .bits256) }

    /// A new one from the system's random numbers.
    public static func random() -> SealKey { SealKey() }

    /// Its 32 bytes, to be kept in a safe place.
    public var bytes: [UInt8] { key.bytes }
}

extension SymmetricKey {
    var bytes: [UInt8] { unsafe withUnsafeBytes { unsafe [UInt8]($0) } }
}
