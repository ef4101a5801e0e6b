// What Swift bridges to values of its own, and errors.
#pragma once
#include "../CoreFoundation.h"

NONNULL_BEGIN
typedef double NSTimeInterval NAMED(TimeInterval);
@class NSString, NSError;

@protocol NSCopying
- (id)copyWithZone:(nullable NSZone *)zone NAMED(copy(with:));
@end
@protocol NSMutableCopying
@end
@protocol NSCoding
@end
@protocol NSSecureCoding <NSCoding>
@end
@protocol NSFastEnumeration
@end

BRIDGED(Swift.String) SENDABLE @interface NSString : NSObject <NSCopying>
- (instancetype)init DESIGNATED;
@end
BRIDGED(Swift.Array) @interface NSArray<__covariant Element> : NSObject <NSCopying>
- (instancetype)init DESIGNATED;
@property (readonly) NSUInteger count;
@end
BRIDGED(Swift.Dictionary) @interface NSDictionary<__covariant Key, __covariant Value> : NSObject <NSCopying>
- (instancetype)init DESIGNATED;
@property (readonly) NSUInteger count;
@end
BRIDGED(Swift.Set) @interface NSSet<__covariant Element> : NSObject <NSCopying>
- (instancetype)init DESIGNATED;
@end
SENDABLE @interface NSValue : NSObject <NSCopying>
@end
SENDABLE @interface NSNumber : NSValue
@property (readonly) int intValue;
@property (readonly) long long longLongValue;
@property (readonly) double doubleValue;
@property (readonly) BOOL boolValue;
@end
BRIDGED(Data) SENDABLE @interface NSData : NSObject <NSCopying>
@property (readonly) NSUInteger length;
@end
BRIDGED(Date) SENDABLE @interface NSDate : NSObject <NSCopying>
@end
BRIDGED(UUID) SENDABLE @interface NSUUID : NSObject <NSCopying>
@end
BRIDGED(URL) SENDABLE @interface NSURL : NSObject <NSCopying>
@end
BRIDGED(URLComponents) @interface NSURLComponents : NSObject <NSCopying>
@end
BRIDGED(URLQueryItem) SENDABLE @interface NSURLQueryItem : NSObject <NSCopying>
@end

typedef NSString *NSErrorDomain;
typedef NSString *NSErrorUserInfoKey;
BRIDGED(Swift.Error) SENDABLE @interface NSError : NSObject <NSCopying>
- (instancetype)initWithDomain:(NSErrorDomain)domain
                          code:(NSInteger)code
                      userInfo:(nullable NSDictionary<NSErrorUserInfoKey, id> *)userInfo DESIGNATED;
@property (readonly, copy) NSErrorDomain domain;
@property (readonly) NSInteger code;
@property (readonly, copy) NSDictionary<NSErrorUserInfoKey, id> *userInfo;
@property (readonly, copy) NSString *localizedDescription;
@end
extern NSErrorDomain const NSCocoaErrorDomain;
extern NSErrorDomain const NSPOSIXErrorDomain;
extern NSErrorDomain const NSURLErrorDomain;
extern NSErrorUserInfoKey const NSUnderlyingErrorKey;
extern NSErrorUserInfoKey const NSLocalizedDescriptionKey;
extern NSErrorUserInfoKey const NSDebugDescriptionErrorKey;
extern NSErrorUserInfoKey const NSURLErrorFailingURLErrorKey;
enum : NSInteger {
    NSURLErrorUnknown = -1,
    NSURLErrorCancelled = -999,
    NSURLErrorBadURL = -1000,
    NSURLErrorTimedOut = -1001,
    NSURLErrorUnsupportedURL = -1002,
    NSURLErrorCannotFindHost = -1003,
    NSURLErrorCannotConnectToHost = -1004,
    NSURLErrorNetworkConnectionLost = -1005,
    NSURLErrorNotConnectedToInternet = -1009,
    NSURLErrorResourceUnavailable = -1008,
    NSURLErrorBadServerResponse = -1011,
    NSURLErrorUserAuthenticationRequired = -1013,
    NSURLErrorZeroByteResource = -1014,
    NSURLErrorCannotDecodeContentData = -1016,
    NSURLErrorFileDoesNotExist = -1100,
    NSURLErrorNoPermissionsToReadFile = -1102,
    NSURLErrorSecureConnectionFailed = -1200,
    NSURLErrorServerCertificateUntrusted = -1202,
    NSURLErrorDataNotAllowed = -1020,
    NSUserCancelledError = 3072,
};
NONNULL_END
