public import RepriseStorage

/// What seals a cache's store: where its key comes from.
///
/// Everything in a sealed store is encrypted and bound to its place with AES-GCM: media, descriptions, folder names. The
/// directory is made sealed when it is made; a plain one stays plain, and is refused with a key, as a sealed one is without
/// its own. Nothing is deleted then: the cache passes bytes through and says so in `status`.
public struct Seal: Sendable {
    private let ask: @Sendable () throws -> SealKey

    /// Sealed with `key`.
    public init(_ key: SealKey) { ask = { key } }

    /// Sealed with the key that `key` answers, for example from the keychain by `SealKey.inKeychain(service:)`.
    /// - Parameter key: Called whenever the store is opened, on a thread that may wait. Where it throws the store counts as
    ///   not to be used now.
    public init(_ key: @escaping @Sendable () throws -> SealKey) { ask = key }

    /// Asks for the key.
    /// - Throws: `.unavailable` where it cannot be had.
    package func key() throws(StoreError) -> SealKey {
        do { return try ask() } catch {
            throw StoreError(.unavailable, "the key of the store cannot be had now", cause: "\(error)")
        }
    }
}
