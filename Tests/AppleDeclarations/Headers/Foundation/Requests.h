// Requests, responses, cookies, caches, challenges.
#pragma once
#include "Services.h"

NONNULL_BEGIN
typedef OPEN_ENUM(NSUInteger, NSURLRequestCachePolicy) {
    NSURLRequestUseProtocolCachePolicy = 0,
    NSURLRequestReloadIgnoringLocalCacheData = 1,
    NSURLRequestReturnCacheDataElseLoad = 2,
    NSURLRequestReturnCacheDataDontLoad = 3,
    NSURLRequestReloadIgnoringLocalAndRemoteCacheData = 4,
    NSURLRequestReloadRevalidatingCacheData = 5,
} NAMED(NSURLRequest.CachePolicy);
typedef OPEN_ENUM(NSUInteger, NSURLRequestNetworkServiceType) {
    NSURLNetworkServiceTypeDefault = 0,
    NSURLNetworkServiceTypeVideo = 2,
    NSURLNetworkServiceTypeBackground = 3,
    NSURLNetworkServiceTypeAVStreaming = 8,
} NAMED(NSURLRequest.NetworkServiceType);

BRIDGED(URLRequest) SENDABLE @interface NSURLRequest : NSObject <NSCopying>
- (instancetype)initWithURL:(NSURL *)url;
@property (nullable, readonly, copy) NSURL *URL;
@property (nullable, readonly, copy) NSDictionary<NSString *, NSString *> *allHTTPHeaderFields;
@end
NOT_SENDABLE @interface NSMutableURLRequest : NSURLRequest
@end

NAMED(URLResponse) SENDABLE @interface NSURLResponse : NSObject <NSCopying>
- (instancetype)initWithURL:(NSURL *)url
                   MIMEType:(nullable NSString *)type
      expectedContentLength:(NSInteger)length
           textEncodingName:(nullable NSString *)name DESIGNATED;
@property (nullable, readonly, copy) NSURL *URL;
@property (nullable, readonly, copy) NSString *MIMEType;
@property (readonly) long long expectedContentLength;
@property (nullable, readonly, copy) NSString *suggestedFilename;
@end
NAMED(HTTPURLResponse) SENDABLE @interface NSHTTPURLResponse : NSURLResponse
- (nullable instancetype)initWithURL:(NSURL *)url
                          statusCode:(NSInteger)status
                         HTTPVersion:(nullable NSString *)version
                        headerFields:(nullable NSDictionary<NSString *, NSString *> *)fields;
@property (readonly) NSInteger statusCode;
@property (readonly, copy) NSDictionary *allHeaderFields;
- (nullable NSString *)valueForHTTPHeaderField:(NSString *)field SINCE(13.0, 10.15, 13.0, 6.0, 1.0);
+ (NSString *)localizedStringForStatusCode:(NSInteger)status;
@end

typedef OPEN_ENUM(NSUInteger, NSURLCacheStoragePolicy) {
    NSURLCacheStorageAllowed,
    NSURLCacheStorageAllowedInMemoryOnly,
    NSURLCacheStorageNotAllowed,
} NAMED(URLCache.StoragePolicy);
NAMED(URLCache) SENDABLE @interface NSURLCache : NSObject
@property (class, strong) NSURLCache *sharedURLCache NAMED(shared);
- (void)removeAllCachedResponses;
@end
NAMED(CachedURLResponse) SENDABLE @interface NSCachedURLResponse : NSObject <NSCopying>
- (instancetype)initWithResponse:(NSURLResponse *)response data:(NSData *)data;
@property (readonly, copy) NSURLResponse *response;
@property (readonly, copy) NSData *data;
@end

NAMED(HTTPCookie) SENDABLE @interface NSHTTPCookie : NSObject
@property (readonly, copy) NSString *name;
@property (readonly, copy) NSString *value;
@end
typedef OPEN_ENUM(NSUInteger, NSHTTPCookieAcceptPolicy) {
    NSHTTPCookieAcceptPolicyAlways,
    NSHTTPCookieAcceptPolicyNever,
    NSHTTPCookieAcceptPolicyOnlyFromMainDocumentDomain,
} NAMED(HTTPCookie.AcceptPolicy);
NAMED(HTTPCookieStorage) SENDABLE @interface NSHTTPCookieStorage : NSObject
@property (class, readonly, strong) NSHTTPCookieStorage *sharedHTTPCookieStorage NAMED(shared);
@property (nullable, readonly, copy) NSArray<NSHTTPCookie *> *cookies;
@end

typedef OPEN_ENUM(NSUInteger, NSURLCredentialPersistence) {
    NSURLCredentialPersistenceNone,
    NSURLCredentialPersistenceForSession,
    NSURLCredentialPersistencePermanent,
    NSURLCredentialPersistenceSynchronizable,
} NAMED(URLCredential.Persistence);
NAMED(URLCredential) SENDABLE @interface NSURLCredential : NSObject <NSCopying>
- (instancetype)initWithUser:(NSString *)user
                    password:(NSString *)password
                 persistence:(NSURLCredentialPersistence)persistence;
@end
NAMED(URLCredentialStorage) SENDABLE @interface NSURLCredentialStorage : NSObject
@end
NAMED(URLProtectionSpace) SENDABLE @interface NSURLProtectionSpace : NSObject <NSCopying>
@property (readonly, copy) NSString *authenticationMethod;
@property (readonly, copy) NSString *host;
@property (readonly) NSInteger port;
@end
extern NSString *const NSURLAuthenticationMethodClientCertificate;
extern NSString *const NSURLAuthenticationMethodServerTrust;
extern NSString *const NSURLAuthenticationMethodDefault;
extern NSString *const NSURLAuthenticationMethodHTTPBasic;
NAMED(URLAuthenticationChallenge) SENDABLE @interface NSURLAuthenticationChallenge : NSObject
@property (readonly, copy) NSURLProtectionSpace *protectionSpace;
@property (nullable, readonly, copy) NSURLCredential *proposedCredential;
@property (readonly) NSInteger previousFailureCount;
@end
NONNULL_END
