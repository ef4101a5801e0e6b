// The keychain's items.
#pragma once
#include "Attributes.h"
#include "CoreFoundation.h"

typedef int OSStatus;

enum : OSStatus {
    errSecSuccess = 0,
    errSecDuplicateItem = -25299,
    errSecItemNotFound = -25300,
    errSecInteractionNotAllowed = -25308,
    errSecMissingEntitlement = -34018,
};

#pragma clang arc_cf_code_audited begin
NONNULL_BEGIN
extern const CFStringRef kSecClass SINCE(2.0, 10.6, 9.0, 2.0, 1.0);
extern const CFStringRef kSecClassGenericPassword SINCE(2.0, 10.7, 9.0, 2.0, 1.0);
extern const CFStringRef kSecAttrService SINCE(2.0, 10.6, 9.0, 2.0, 1.0);
extern const CFStringRef kSecAttrAccount SINCE(2.0, 10.6, 9.0, 2.0, 1.0);
extern const CFStringRef kSecAttrAccessGroup SINCE(3.0, 10.9, 9.0, 2.0, 1.0);
extern const CFStringRef kSecAttrAccessible SINCE(4.0, 10.9, 9.0, 2.0, 1.0);
extern const CFStringRef kSecAttrAccessibleAfterFirstUnlock SINCE(4.0, 10.9, 9.0, 2.0, 1.0);
extern const CFStringRef kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly SINCE(4.0, 10.9, 9.0, 2.0, 1.0);
extern const CFStringRef kSecAttrAccessibleWhenUnlockedThisDeviceOnly SINCE(4.0, 10.9, 9.0, 2.0, 1.0);
extern const CFStringRef kSecUseDataProtectionKeychain SINCE(13.0, 10.15, 13.0, 6.0, 1.0);
extern const CFStringRef kSecMatchLimit SINCE(2.0, 10.6, 9.0, 2.0, 1.0);
extern const CFStringRef kSecMatchLimitOne SINCE(2.0, 10.6, 9.0, 2.0, 1.0);
extern const CFStringRef kSecReturnData SINCE(2.0, 10.6, 9.0, 2.0, 1.0);
extern const CFStringRef kSecValueData SINCE(2.0, 10.6, 9.0, 2.0, 1.0);

OSStatus SecItemCopyMatching(CFDictionaryRef query, CFTypeRef _Nullable *_Nullable __attribute__((cf_returns_retained)) result)
    SINCE(2.0, 10.6, 9.0, 2.0, 1.0);
OSStatus SecItemAdd(CFDictionaryRef attributes, CFTypeRef _Nullable *_Nullable __attribute__((cf_returns_retained)) result)
    SINCE(2.0, 10.6, 9.0, 2.0, 1.0);
CFStringRef _Nullable SecCopyErrorMessageString(OSStatus status, void *_Nullable reserved)
    __attribute__((cf_returns_retained)) SINCE(11.3, 10.3, 11.3, 4.3, 1.0);
NONNULL_END
#pragma clang arc_cf_code_audited end
