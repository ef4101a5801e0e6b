// Notifications, queues, bundles, processes, files.
#pragma once
#include "../Dispatch.h"
#include "Values.h"

NONNULL_BEGIN
typedef NSString *NSNotificationName NAMED(NSNotification.Name) STRING_STRUCT;
BRIDGED(Notification) @interface NSNotification : NSObject <NSCopying>
@property (readonly, copy) NSNotificationName name;
@property (nullable, readonly, retain) id object;
@property (nullable, readonly, copy) NSDictionary *userInfo;
@end

@class NSOperationQueue;
NAMED(NotificationCenter) SENDABLE @interface NSNotificationCenter : NSObject
@property (class, readonly, strong) NSNotificationCenter *defaultCenter NAMED(default);
- (void)postNotificationName:(NSNotificationName)name
                      object:(nullable id)object
                    userInfo:(nullable NSDictionary *)userInfo NAMED(post(name:object:userInfo:));
- (void)postNotificationName:(NSNotificationName)name object:(nullable id)object NAMED(post(name:object:));
- (void)removeObserver:(id)observer;
- (void)removeObserver:(id)observer name:(nullable NSNotificationName)name object:(nullable id)object;
- (id<NSObject>)addObserverForName:(nullable NSNotificationName)name
                            object:(nullable id)object
                             queue:(nullable NSOperationQueue *)queue
                        usingBlock:(void (SENDABLE ^)(NSNotification *notification))block;
@end

typedef OPEN_ENUM(NSInteger, NSQualityOfService) {
    NSQualityOfServiceUserInteractive = 0x21,
    NSQualityOfServiceUserInitiated = 0x19,
    NSQualityOfServiceUtility = 0x11,
    NSQualityOfServiceBackground = 0x09,
    NSQualityOfServiceDefault = -1
} NAMED(QualityOfService);
NAMED(OperationQueue) SENDABLE @interface NSOperationQueue : NSObject
- (void)addOperationWithBlock:(void (SENDABLE ^)(void))block NO_ASYNC;
@property NSInteger maxConcurrentOperationCount;
@property (nullable, copy) NSString *name;
@property NSQualityOfService qualityOfService;
@property (nullable, assign) OS_dispatch_queue *underlyingQueue;
@property (class, readonly, strong) NSOperationQueue *mainQueue NAMED(main);
@end

NAMED(Bundle) @interface NSBundle : NSObject
@property (class, readonly, strong) NSBundle *mainBundle NAMED(main);
+ (NSBundle *)bundleForClass:(Class)class;
@property (readonly, copy) NSURL *bundleURL;
@property (nullable, readonly, copy) NSURL *resourceURL;
@property (nullable, readonly, copy) NSString *bundleIdentifier;
@property (nullable, readonly, copy) NSDictionary<NSString *, id> *infoDictionary;
- (nullable NSURL *)URLForResource:(nullable NSString *)name withExtension:(nullable NSString *)extension;
- (nullable NSURL *)URLForResource:(nullable NSString *)name
                     withExtension:(nullable NSString *)extension
                      subdirectory:(nullable NSString *)path;
- (nullable id)objectForInfoDictionaryKey:(NSString *)key;
@end

NAMED(ProcessInfo) @interface NSProcessInfo : NSObject
@property (class, readonly, strong) NSProcessInfo *processInfo;
@property (readonly, copy) NSDictionary<NSString *, NSString *> *environment;
@property (readonly, copy) NSArray<NSString *> *arguments;
@property (readonly) int processIdentifier;
@property (readonly) unsigned long long physicalMemory;
@property (readonly) NSTimeInterval systemUptime;
- (void)performExpiringActivityWithReason:(NSString *)reason
                               usingBlock:(void (SENDABLE ^)(BOOL expired))block NOT_ON_MACOS;
@end

typedef NSString *NSFileAttributeKey NAMED(FileAttributeKey) STRING_STRUCT;
extern NSFileAttributeKey const NSFileSize NAMED(FileAttributeKey.size);
extern NSFileAttributeKey const NSFileType NAMED(FileAttributeKey.type);
extern NSFileAttributeKey const NSFileModificationDate NAMED(FileAttributeKey.modificationDate);
extern NSFileAttributeKey const NSFilePosixPermissions NAMED(FileAttributeKey.posixPermissions);
extern NSFileAttributeKey const NSFileProtectionKey NAMED(FileAttributeKey.protectionKey) SINCE(4.0, 11.0, 9.0, 2.0, 1.0);
typedef NSString *NSFileProtectionType NAMED(FileProtectionType) STRING_STRUCT;
extern NSFileProtectionType const NSFileProtectionNone NAMED(FileProtectionType.none) SINCE(4.0, 11.0, 9.0, 2.0, 1.0);
extern NSFileProtectionType const NSFileProtectionComplete NAMED(FileProtectionType.complete)
    SINCE(4.0, 11.0, 9.0, 2.0, 1.0);
extern NSFileProtectionType const NSFileProtectionCompleteUntilFirstUserAuthentication
    NAMED(FileProtectionType.completeUntilFirstUserAuthentication) SINCE(5.0, 11.0, 9.0, 2.0, 1.0);

typedef OPEN_ENUM(NSUInteger, NSSearchPathDirectory) {
    NSLibraryDirectory = 5,
    NSDocumentDirectory = 9,
    NSCachesDirectory = 13,
    NSApplicationSupportDirectory = 14,
    NSMoviesDirectory = 17,
    NSMusicDirectory = 18,
    NSItemReplacementDirectory = 99,
} NAMED(FileManager.SearchPathDirectory);
typedef OPTION_SET(NSUInteger, NSSearchPathDomainMask) {
    NSUserDomainMask = 1,
    NSLocalDomainMask = 2,
    NSNetworkDomainMask = 4,
    NSSystemDomainMask = 8,
    NSAllDomainsMask = 0x0ffff,
} NAMED(FileManager.SearchPathDomainMask);
typedef OPTION_SET(NSUInteger, NSDirectoryEnumerationOptions) {
    NSDirectoryEnumerationSkipsSubdirectoryDescendants = 1,
    NSDirectoryEnumerationSkipsPackageDescendants = 2,
    NSDirectoryEnumerationSkipsHiddenFiles = 4,
} NAMED(FileManager.DirectoryEnumerationOptions);
typedef NSString *NSURLResourceKey NAMED(URLResourceKey) STRING_STRUCT;
extern NSURLResourceKey const NSURLIsExcludedFromBackupKey SINCE(5.1, 10.8, 9.0, 2.0, 1.0);
extern NSURLResourceKey const NSURLIsDirectoryKey;
extern NSURLResourceKey const NSURLFileSizeKey;
extern NSURLResourceKey const NSURLTotalFileAllocatedSizeKey;
extern NSURLResourceKey const NSURLContentModificationDateKey;
extern NSURLResourceKey const NSURLVolumeAvailableCapacityKey;
extern NSURLResourceKey const NSURLVolumeAvailableCapacityForImportantUsageKey
    __attribute__((availability(ios, introduced = 11.0), availability(macos, introduced = 10.13),
        availability(visionos, introduced = 1.0), availability(tvos, unavailable), availability(watchos, unavailable)));

NAMED(FileManager) @interface NSFileManager : NSObject
@property (class, readonly, strong) NSFileManager *defaultManager NAMED(default);
@property (readonly, copy) NSURL *temporaryDirectory SINCE(10.0, 10.12, 10.0, 3.0, 1.0);
- (NSArray<NSURL *> *)URLsForDirectory:(NSSearchPathDirectory)directory inDomains:(NSSearchPathDomainMask)domains
    NAMED(urls(for:in:));
- (nullable NSURL *)URLForDirectory:(NSSearchPathDirectory)directory
                           inDomain:(NSSearchPathDomainMask)domain
                  appropriateForURL:(nullable NSURL *)url
                             create:(BOOL)create
                              error:(NSError *_Nullable *_Nullable)error;
- (nullable NSURL *)containerURLForSecurityApplicationGroupIdentifier:(NSString *)identifier SINCE(7.0, 10.8, 9.0, 2.0, 1.0);
- (BOOL)createDirectoryAtURL:(NSURL *)url
    withIntermediateDirectories:(BOOL)intermediates
                     attributes:(nullable NSDictionary<NSFileAttributeKey, id> *)attributes
                          error:(NSError *_Nullable *_Nullable)error;
- (BOOL)createDirectoryAtPath:(NSString *)path
    withIntermediateDirectories:(BOOL)intermediates
                     attributes:(nullable NSDictionary<NSFileAttributeKey, id> *)attributes
                          error:(NSError *_Nullable *_Nullable)error;
- (BOOL)setAttributes:(NSDictionary<NSFileAttributeKey, id> *)attributes
         ofItemAtPath:(NSString *)path
                error:(NSError *_Nullable *_Nullable)error;
- (nullable NSDictionary<NSFileAttributeKey, id> *)attributesOfItemAtPath:(NSString *)path
                                                                    error:(NSError *_Nullable *_Nullable)error;
- (nullable NSArray<NSString *> *)contentsOfDirectoryAtPath:(NSString *)path error:(NSError *_Nullable *_Nullable)error;
- (nullable NSArray<NSURL *> *)contentsOfDirectoryAtURL:(NSURL *)url
                             includingPropertiesForKeys:(nullable NSArray<NSURLResourceKey> *)keys
                                                options:(NSDirectoryEnumerationOptions)options
                                                  error:(NSError *_Nullable *_Nullable)error;
- (BOOL)removeItemAtURL:(NSURL *)url error:(NSError *_Nullable *_Nullable)error;
- (BOOL)removeItemAtPath:(NSString *)path error:(NSError *_Nullable *_Nullable)error;
- (BOOL)moveItemAtURL:(NSURL *)from toURL:(NSURL *)to error:(NSError *_Nullable *_Nullable)error;
- (BOOL)copyItemAtURL:(NSURL *)from toURL:(NSURL *)to error:(NSError *_Nullable *_Nullable)error;
- (BOOL)linkItemAtURL:(NSURL *)from toURL:(NSURL *)to error:(NSError *_Nullable *_Nullable)error;
- (BOOL)fileExistsAtPath:(NSString *)path;
- (BOOL)createFileAtPath:(NSString *)path
                contents:(nullable NSData *)contents
              attributes:(nullable NSDictionary<NSFileAttributeKey, id> *)attributes;
@end

NAMED(InputStream) @interface NSInputStream : NSObject
- (instancetype)initWithData:(NSData *)data;
- (nullable instancetype)initWithURL:(NSURL *)url;
@end

SENDABLE @interface NSLock : NSObject
- (void)lock NOT_FROM_ASYNC;
- (void)unlock NOT_FROM_ASYNC;
@end

typedef NSString *NSRunLoopMode NAMED(RunLoop.Mode) STRING_STRUCT;
extern NSRunLoopMode const NSDefaultRunLoopMode NAMED(RunLoop.Mode.default);
extern NSRunLoopMode const NSRunLoopCommonModes NAMED(RunLoop.Mode.common);
NAMED(RunLoop) NOT_SENDABLE @interface NSRunLoop : NSObject
@property (class, readonly, strong) NSRunLoop *currentRunLoop NAMED(current);
@property (class, readonly, strong) NSRunLoop *mainRunLoop NAMED(main);
@property (nullable, readonly, copy) NSRunLoopMode currentMode;
@end

NAMED(Progress) SENDABLE @interface NSProgress : NSObject
@property int64_t totalUnitCount;
@property int64_t completedUnitCount;
@property (readonly) double fractionCompleted;
- (void)cancel;
@end

typedef OPTION_SET(NSUInteger, NSKeyValueObservingOptions) {
    NSKeyValueObservingOptionNew = 0x01,
    NSKeyValueObservingOptionOld = 0x02,
    NSKeyValueObservingOptionInitial = 0x04,
    NSKeyValueObservingOptionPrior = 0x08,
};
typedef OPEN_ENUM(NSUInteger, NSKeyValueChange) {
    NSKeyValueChangeSetting = 1,
    NSKeyValueChangeInsertion = 2,
    NSKeyValueChangeRemoval = 3,
    NSKeyValueChangeReplacement = 4,
};
NONNULL_END
