#if canImport(Security)
    import Foundation
    import Security

    extension SealKey {
        /// When an item of the keychain can be read.
        public enum KeychainAccess: Sendable, Hashable {
            /// From the first unlock after a start on, on this device alone: a store that plays while the screen is locked.
            case afterFirstUnlockOnThisDevice
            /// While the device is unlocked, on this device alone.
            case whenUnlockedOnThisDevice
            /// From the first unlock after a start on; it moves to another device with an encrypted backup, as a store
            /// that is backed up does.
            case afterFirstUnlock

            fileprivate var attribute: CFString {
                switch self {
                case .afterFirstUnlockOnThisDevice: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
                case .whenUnlockedOnThisDevice: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
                case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlock
                }
            }
        }

        /// The key that the keychain has as a generic password, or a new one that is put there. Never changes or removes
        /// an item. Blocks; for `Seal`'s closure, which runs where that may be:
        ///
        ///     configuration.seal = Seal { try SealKey.inKeychain(service: "com.example.player.media") }
        ///
        /// Where the item is deleted a new key is made, and what the store holds is refused as sealed with another.
        /// - Parameters:
        ///   - service: The item's service, for example the app's identifier and a word.
        ///   - account: The item's account.
        ///   - accessGroup: What apps and extensions share it; by default the first of the program's.
        ///   - access: When a new item can be read; one that is there keeps its own.
        /// - Throws: `.unavailable` where the keychain cannot be used now, as before the first unlock: nothing was changed,
        ///   try again later. `.wrongKey` where the item holds something else.
        public static func inKeychain(
            service: String, account: String = "reprise", accessGroup: String? = nil,
            access: KeychainAccess = .afterFirstUnlockOnThisDevice
        ) throws(StoreError) -> SealKey {
            try SealKey(
                in: GenericPassword(service: service, account: account, accessGroup: accessGroup, access: access),
                named: "\(service)/\(account)")
        }
    }

    /// A generic password of the data-protection keychain, which macOS has, too.
    private struct GenericPassword: KeychainItem {
        let service: String
        let account: String
        let accessGroup: String?
        let access: SealKey.KeychainAccess

        private var query: [String: Any] {
            var query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
                kSecAttrAccount as String: account, kSecUseDataProtectionKeychain as String: true,
            ]
            if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
            return query
        }

        func read() -> KeychainReading {
            var query = query
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = unsafe SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return .missing }
            if status != errSecSuccess { return .refused(KeychainRefusal(status)) }
            guard let data = found as? Data else { return .refused(.other("the item has no data")) }
            return .found([UInt8](data))
        }

        func add(_ bytes: [UInt8]) -> KeychainAddition {
            var item = query
            item[kSecValueData as String] = Data(bytes)
            item[kSecAttrAccessible as String] = access.attribute
            let status = SecItemAdd(item as CFDictionary, nil)
            if status == errSecDuplicateItem { return .exists }
            return status == errSecSuccess ? .added : .refused(KeychainRefusal(status))
        }
    }

    extension KeychainRefusal {
        fileprivate init(_ status: OSStatus) {
            switch status {
            case errSecInteractionNotAllowed: self = .locked
            case errSecMissingEntitlement: self = .notEntitled
            default:
                let words = SecCopyErrorMessageString(status, nil).map { $0 as String }
                self = .other("\(words ?? "no words for it"), OSStatus \(status)")
            }
        }
    }
#endif
