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

/// The random key of a sealed root, and what is derived of it.
///
///     master key --seals--> root key --HKDF--> key of the names --HMAC-SHA256--> folder names
///                                    --HKDF--> key of an entry  --seals--> its description, its generations' data keys
///                                    --HKDF--> keys of the statistics and of the index
///
/// Only the first arrow depends on the master key, so that a new one costs one small file.
package struct RootSeal: Sendable {
    /// Bytes of the root key in its box.
    static let boxSize = 32 + SealedBox.overhead

    private let root: SymmetricKey
    private let names: SymmetricKey
    private let indexKey: SymmetricKey

    private init(root: SymmetricKey) {
        self.root = root
        names = RootSeal.derive(root, "names")
        indexKey = RootSeal.derive(root, "index")
    }

    /// A new root's.
    init() { self.init(root: SymmetricKey(size: .bits256)) }

    /// Opens the box of a root key; `nil` where `master` is not the key it was sealed with.
    init?(opening box: [UInt8], with master: SealKey) {
        guard let bytes = SealedBox.open(box, master.key, purpose: "reprise root key"), bytes.count == 32 else {
            return nil
        }
        self.init(root: SymmetricKey(data: bytes))
    }

    /// The root key in a box that `master` opens.
    func box(for master: SealKey) -> [UInt8] { SealedBox.seal(root.bytes, master.key, purpose: "reprise root key") }

    /// Whether both are of one root.
    func isSame(as other: RootSeal) -> Bool { root == other.root }

    /// The folder name of a key: nobody without the root key can tell of a URL whether it is stored.
    package func entryName(key: String) -> String {
        HMAC<SHA256>.authenticationCode(for: Array(key.utf8), using: names).hexadecimal
    }

    /// The seal of the entry with that folder name.
    func entry(_ name: String) -> EntrySeal { EntrySeal(name: name, key: RootSeal.derive(root, "entry " + name)) }

    /// The store's statistics in a box.
    func seal(statistics: [UInt8]) -> [UInt8] {
        SealedBox.seal(statistics, RootSeal.derive(root, "statistics"), purpose: "statistics")
    }

    /// What is in the box; `nil` where it is damaged or of another root.
    func open(statistics box: [UInt8]) -> [UInt8]? {
        SealedBox.open(box, RootSeal.derive(root, "statistics"), purpose: "statistics")
    }

    /// Records of the store's index in a box.
    func seal(index: [UInt8]) -> [UInt8] { SealedBox.seal(index, indexKey, purpose: "index") }

    /// What is in the box; `nil` where it is damaged or of another root.
    func open(index box: [UInt8]) -> [UInt8]? { SealedBox.open(box, indexKey, purpose: "index") }

    private static func derive(_ root: SymmetricKey, _ purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: root, info: Array(purpose.utf8), outputByteCount: 32)
    }
}

/// What seals an entry's description and its generations' data keys.
struct EntrySeal: Sendable {
    let name: String
    private let key: SymmetricKey

    init(name: String, key: SymmetricKey) {
        self.name = name
        self.key = key
    }

    func seal(description: [UInt8]) -> [UInt8] { SealedBox.seal(description, key, purpose: "description") }

    func open(description box: [UInt8]) -> [UInt8]? { SealedBox.open(box, key, purpose: "description") }

    /// The seal of a new generation.
    func makeGeneration(identity: UInt64) -> GenerationSeal {
        let key = SymmetricKey(size: .bits256)
        let box = SealedBox.seal(key.bytes, self.key, purpose: EntrySeal.purpose(identity))
        return GenerationSeal(key: key, box: box, name: name, identity: identity, used: 0)
    }

    /// The seal of a generation by the header of its `blocks` file; `nil` where it is not of this entry and generation.
    func openGeneration(_ header: [UInt8], identity: UInt64) -> GenerationSeal? {
        guard let (box, used) = GenerationSeal.read(header),
            let bytes = SealedBox.open(box, key, purpose: EntrySeal.purpose(identity)), bytes.count == 32
        else { return nil }
        return GenerationSeal(
            key: SymmetricKey(data: bytes), box: box, name: name, identity: identity, used: used)
    }

    private static func purpose(_ identity: UInt64) -> String { "data key " + String(identity, radix: 16) }
}
