/// One item of a keychain, as far as a key needs it: a seam, so that what is done when is decided and tested without one.
/// Nothing in it can change or remove an item.
package protocol KeychainItem {
    /// Looks for the item.
    func read() -> KeychainReading
    /// Makes the item, if there is none.
    func add(_ bytes: [UInt8]) -> KeychainAddition
}

/// What a keychain answers to a look.
package enum KeychainReading: Sendable, Hashable {
    case found([UInt8])
    case missing
    case refused(KeychainRefusal)
}

/// What a keychain answers where an item is to be made.
package enum KeychainAddition: Sendable, Hashable {
    case added
    /// Somebody else made it.
    case exists
    case refused(KeychainRefusal)
}

/// Why a keychain does not do what is asked.
package enum KeychainRefusal: Sendable, Hashable {
    /// The device was not unlocked yet, or is locked now.
    case locked
    /// The program may not use it.
    case notEntitled
    /// Anything else, in the system's words.
    case other(String)
}

extension SealKey {
    /// The key that is in a keychain; where there is none, a new one that is put there first. I/O.
    /// - Parameter name: What the item is called, for messages.
    /// - Throws: `.unavailable` where the keychain cannot be used now, `.wrongKey` where what is there is no key. What is
    ///   there stays as it is.
    package init(in item: some KeychainItem, named name: String) throws(StoreError) {
        // Once more, as another process may make one between our look and our own.
        for _ in 0..<2 {
            switch item.read() {
            case .found(let bytes):
                guard let key = SealKey(bytes) else {
                    throw StoreError(
                        .wrongKey,
                        "\(name) in the keychain holds \(bytes.count) bytes and no key of 32; choose another service or account"
                    )
                }
                self = key
                return
            case .missing: break
            case .refused(let refusal): throw refusal.error(name, "read")
            }
            let key = SealKey.random()
            switch item.add(key.bytes) {
            case .added:
                self = key
                return
            case .exists: continue
            case .refused(let refusal): throw refusal.error(name, "made")
            }
        }
        throw StoreError(
            .unavailable,
            "\(name) is in the keychain and cannot be read; it may belong to an access group this program does not name"
        )
    }
}

extension KeychainRefusal {
    fileprivate func error(_ name: String, _ what: String) -> StoreError {
        switch self {
        case .locked:
            StoreError(
                .unavailable,
                "\(name) cannot be \(what) in the keychain before the device is unlocked; try again then, nothing was "
                    + "changed")
        case .notEntitled:
            StoreError(
                .unavailable,
                "\(name) cannot be \(what): the program has no keychain of its own; sign it with an application "
                    + "identifier or the entitlement keychain-access-groups")
        case .other(let words):
            StoreError(.unavailable, "\(name) cannot be \(what) in the keychain; nothing was changed", cause: words)
        }
    }
}
