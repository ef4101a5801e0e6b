#pragma once
#include "Requests.h"

NONNULL_BEGIN
@class NSURLSession, NSURLSessionTask, NSURLSessionDataTask, NSURLSessionUploadTask, NSURLSessionDownloadTask;
@class NSURLSessionTaskMetrics, NSURLProtocol;
@protocol NSURLSessionDelegate, NSURLSessionTaskDelegate, NSURLProtocolClient;

NAMED(URLSessionConfiguration) SENDABLE @interface NSURLSessionConfiguration : NSObject <NSCopying>
@property (class, readonly, strong) NSURLSessionConfiguration *defaultSessionConfiguration NAMED(default);
@property (class, readonly, strong) NSURLSessionConfiguration *ephemeralSessionConfiguration NAMED(ephemeral);
+ (NSURLSessionConfiguration *)backgroundSessionConfigurationWithIdentifier:(NSString *)identifier
    NAMED(background(withIdentifier:));
@property (nullable, readonly, copy) NSString *identifier;
@property NSURLRequestCachePolicy requestCachePolicy;
@property NSTimeInterval timeoutIntervalForRequest;
@property NSTimeInterval timeoutIntervalForResource;
@property NSURLRequestNetworkServiceType networkServiceType;
@property BOOL allowsCellularAccess;
@property BOOL allowsExpensiveNetworkAccess SINCE(13.0, 10.15, 13.0, 6.0, 1.0);
@property BOOL allowsConstrainedNetworkAccess SINCE(13.0, 10.15, 13.0, 6.0, 1.0);
@property BOOL waitsForConnectivity SINCE(11.0, 10.13, 11.0, 4.0, 1.0);
@property (getter=isDiscretionary) BOOL discretionary;
@property BOOL sessionSendsLaunchEvents;
@property BOOL HTTPShouldUsePipelining;
@property BOOL HTTPShouldSetCookies;
@property NSHTTPCookieAcceptPolicy HTTPCookieAcceptPolicy;
@property (nullable, copy) NSDictionary *HTTPAdditionalHeaders;
@property NSInteger HTTPMaximumConnectionsPerHost;
@property (nullable, retain) NSHTTPCookieStorage *HTTPCookieStorage;
@property (nullable, retain) NSURLCredentialStorage *URLCredentialStorage;
@property (nullable, retain) NSURLCache *URLCache;
@property BOOL shouldUseExtendedBackgroundIdleMode;
@property (nullable, copy) NSArray<Class> *protocolClasses;
@end

NAMED(URLSession) SENDABLE @interface NSURLSession : NSObject
@property (class, readonly, strong) NSURLSession *sharedSession NAMED(shared);
+ (NSURLSession *)sessionWithConfiguration:(NSURLSessionConfiguration *)configuration;
+ (NSURLSession *)sessionWithConfiguration:(NSURLSessionConfiguration *)configuration
                                  delegate:(nullable id<NSURLSessionDelegate>)delegate
                             delegateQueue:(nullable NSOperationQueue *)queue;
@property (readonly, retain) NSOperationQueue *delegateQueue;
@property (nullable, readonly, retain) id<NSURLSessionDelegate> delegate;
@property (readonly, copy) NSURLSessionConfiguration *configuration;
@property (nullable, copy) NSString *sessionDescription;
- (void)finishTasksAndInvalidate;
- (void)invalidateAndCancel;
- (void)resetWithCompletionHandler:(void (SENDABLE ^)(void))completionHandler;
- (void)getAllTasksWithCompletionHandler:(void (SENDABLE ^)(NSArray<__kindof NSURLSessionTask *> *tasks))completionHandler
    __attribute__((swift_async_name("getter:allTasks()")));
- (NSURLSessionDataTask *)dataTaskWithRequest:(NSURLRequest *)request;
- (NSURLSessionDataTask *)dataTaskWithURL:(NSURL *)url;
- (NSURLSessionDataTask *)dataTaskWithRequest:(NSURLRequest *)request
                            completionHandler:(void (SENDABLE ^)(NSData *_Nullable data,
                                                  NSURLResponse *_Nullable response,
                                                  NSError *_Nullable error))completionHandler;
- (NSURLSessionDataTask *)dataTaskWithURL:(NSURL *)url
                        completionHandler:(void (SENDABLE ^)(NSData *_Nullable data,
                                              NSURLResponse *_Nullable response,
                                              NSError *_Nullable error))completionHandler;
- (NSURLSessionDownloadTask *)downloadTaskWithRequest:(NSURLRequest *)request;
- (NSURLSessionDownloadTask *)downloadTaskWithURL:(NSURL *)url;
- (NSURLSessionDownloadTask *)downloadTaskWithResumeData:(NSData *)data;
@end

typedef OPEN_ENUM(NSInteger, NSURLSessionTaskState) {
    NSURLSessionTaskStateRunning = 0,
    NSURLSessionTaskStateSuspended = 1,
    NSURLSessionTaskStateCanceling = 2,
    NSURLSessionTaskStateCompleted = 3,
} NAMED(URLSessionTask.State);

NAMED(URLSessionTask) SENDABLE @interface NSURLSessionTask : NSObject <NSCopying>
@property (readonly) NSUInteger taskIdentifier;
@property (nullable, readonly, copy) NSURLRequest *originalRequest;
@property (nullable, readonly, copy) NSURLRequest *currentRequest;
@property (nullable, readonly, copy) NSURLResponse *response;
@property (nullable, retain) id<NSURLSessionTaskDelegate> delegate SINCE(15.0, 12.0, 15.0, 8.0, 1.0);
@property (readonly, strong) NSProgress *progress SINCE(11.0, 10.13, 11.0, 4.0, 1.0);
@property (nullable, copy) NSDate *earliestBeginDate SINCE(11.0, 10.13, 11.0, 4.0, 1.0);
@property (readonly) int64_t countOfBytesSent;
@property (readonly) int64_t countOfBytesReceived;
@property (readonly) int64_t countOfBytesExpectedToSend;
@property (readonly) int64_t countOfBytesExpectedToReceive;
@property (nullable, copy) NSString *taskDescription;
- (void)cancel;
@property (readonly) NSURLSessionTaskState state;
@property (nullable, readonly, copy) NSError *error;
- (void)suspend;
- (void)resume;
@property float priority SINCE(8.0, 10.10, 9.0, 2.0, 1.0);
@property BOOL prefersIncrementalDelivery SINCE(14.5, 11.3, 14.5, 7.4, 1.0);
@end
NAMED(URLSessionDataTask) SENDABLE @interface NSURLSessionDataTask : NSURLSessionTask
@end
NAMED(URLSessionUploadTask) SENDABLE @interface NSURLSessionUploadTask : NSURLSessionDataTask
@end
NAMED(URLSessionDownloadTask) SENDABLE @interface NSURLSessionDownloadTask : NSURLSessionTask
- (void)cancelByProducingResumeData:(void (SENDABLE ^)(NSData *_Nullable data))completionHandler;
@end

typedef OPEN_ENUM(NSInteger, NSURLSessionAuthChallengeDisposition) {
    NSURLSessionAuthChallengeUseCredential = 0,
    NSURLSessionAuthChallengePerformDefaultHandling = 1,
    NSURLSessionAuthChallengeCancelAuthenticationChallenge = 2,
    NSURLSessionAuthChallengeRejectProtectionSpace = 3,
} NAMED(URLSession.AuthChallengeDisposition);
typedef OPEN_ENUM(NSInteger, NSURLSessionResponseDisposition) {
    NSURLSessionResponseCancel = 0,
    NSURLSessionResponseAllow = 1,
    NSURLSessionResponseBecomeDownload = 2,
    NSURLSessionResponseBecomeStream = 3,
} NAMED(URLSession.ResponseDisposition);

NAMED(URLSessionDelegate) SENDABLE @protocol NSURLSessionDelegate <NSObject>
@optional
- (void)URLSession:(NSURLSession *)session didBecomeInvalidWithError:(nullable NSError *)error;
- (void)URLSession:(NSURLSession *)session
    didReceiveChallenge:(NSURLAuthenticationChallenge *)challenge
      completionHandler:(void (SENDABLE ^)(NSURLSessionAuthChallengeDisposition disposition,
                            NSURLCredential *_Nullable credential))completionHandler;
- (void)URLSessionDidFinishEventsForBackgroundURLSession:(NSURLSession *)session SINCE(7.0, 11.0, 9.0, 2.0, 1.0);
@end

NAMED(URLSessionTaskDelegate) @protocol NSURLSessionTaskDelegate <NSURLSessionDelegate>
@optional
- (void)URLSession:(NSURLSession *)session didCreateTask:(NSURLSessionTask *)task SINCE(16.0, 13.0, 16.0, 9.0, 1.0);
- (void)URLSession:(NSURLSession *)session
    taskIsWaitingForConnectivity:(NSURLSessionTask *)task SINCE(11.0, 10.13, 11.0, 4.0, 1.0);
- (void)URLSession:(NSURLSession *)session
                          task:(NSURLSessionTask *)task
    willPerformHTTPRedirection:(NSHTTPURLResponse *)response
                    newRequest:(NSURLRequest *)request
             completionHandler:(void (SENDABLE ^)(NSURLRequest *_Nullable))completionHandler;
- (void)URLSession:(NSURLSession *)session
                   task:(NSURLSessionTask *)task
    didReceiveChallenge:(NSURLAuthenticationChallenge *)challenge
      completionHandler:(void (SENDABLE ^)(NSURLSessionAuthChallengeDisposition disposition,
                            NSURLCredential *_Nullable credential))completionHandler;
- (void)URLSession:(NSURLSession *)session
                          task:(NSURLSessionTask *)task
    didFinishCollectingMetrics:(NSURLSessionTaskMetrics *)metrics SINCE(10.0, 10.12, 10.0, 3.0, 1.0);
- (void)URLSession:(NSURLSession *)session
                    task:(NSURLSessionTask *)task
    didCompleteWithError:(nullable NSError *)error;
@end

NAMED(URLSessionDataDelegate) @protocol NSURLSessionDataDelegate <NSURLSessionTaskDelegate>
@optional
- (void)URLSession:(NSURLSession *)session
              dataTask:(NSURLSessionDataTask *)dataTask
    didReceiveResponse:(NSURLResponse *)response
     completionHandler:(void (SENDABLE ^)(NSURLSessionResponseDisposition disposition))completionHandler;
- (void)URLSession:(NSURLSession *)session
                 dataTask:(NSURLSessionDataTask *)dataTask
    didBecomeDownloadTask:(NSURLSessionDownloadTask *)downloadTask;
- (void)URLSession:(NSURLSession *)session dataTask:(NSURLSessionDataTask *)dataTask didReceiveData:(NSData *)data;
- (void)URLSession:(NSURLSession *)session
             dataTask:(NSURLSessionDataTask *)dataTask
    willCacheResponse:(NSCachedURLResponse *)proposedResponse
    completionHandler:(void (SENDABLE ^)(NSCachedURLResponse *_Nullable cachedResponse))completionHandler;
@end

NAMED(URLSessionDownloadDelegate) @protocol NSURLSessionDownloadDelegate <NSURLSessionTaskDelegate>
- (void)URLSession:(NSURLSession *)session
                 downloadTask:(NSURLSessionDownloadTask *)downloadTask
    didFinishDownloadingToURL:(NSURL *)location;
@optional
- (void)URLSession:(NSURLSession *)session
                 downloadTask:(NSURLSessionDownloadTask *)downloadTask
                 didWriteData:(int64_t)bytesWritten
            totalBytesWritten:(int64_t)totalBytesWritten
    totalBytesExpectedToWrite:(int64_t)totalBytesExpectedToWrite;
@end

typedef OPEN_ENUM(NSInteger, NSURLSessionTaskMetricsResourceFetchType) {
    NSURLSessionTaskMetricsResourceFetchTypeUnknown,
    NSURLSessionTaskMetricsResourceFetchTypeNetworkLoad,
    NSURLSessionTaskMetricsResourceFetchTypeServerPush,
    NSURLSessionTaskMetricsResourceFetchTypeLocalCache,
} NAMED(URLSessionTaskMetrics.ResourceFetchType);
NAMED(URLSessionTaskTransactionMetrics) SENDABLE @interface NSURLSessionTaskTransactionMetrics : NSObject
@property (readonly, copy) NSURLRequest *request;
@property (nullable, readonly, copy) NSURLResponse *response;
@property (nullable, readonly, copy) NSDate *fetchStartDate;
@property (nullable, readonly, copy) NSDate *connectStartDate;
@property (nullable, readonly, copy) NSDate *connectEndDate;
@property (nullable, readonly, copy) NSDate *requestStartDate;
@property (nullable, readonly, copy) NSDate *responseStartDate;
@property (nullable, readonly, copy) NSDate *responseEndDate;
@property (nullable, readonly, copy) NSString *networkProtocolName;
@property (readonly, getter=isReusedConnection) BOOL reusedConnection;
@property (readonly) NSURLSessionTaskMetricsResourceFetchType resourceFetchType;
@property (readonly) int64_t countOfResponseBodyBytesReceived SINCE(13.0, 10.15, 13.0, 6.0, 1.0);
@property (readonly) int64_t countOfRequestHeaderBytesSent SINCE(13.0, 10.15, 13.0, 6.0, 1.0);
@property (readonly) int64_t countOfResponseHeaderBytesReceived SINCE(13.0, 10.15, 13.0, 6.0, 1.0);
@property (readonly, getter=isCellular) BOOL cellular SINCE(13.0, 10.15, 13.0, 6.0, 1.0);
@property (readonly, getter=isExpensive) BOOL expensive SINCE(13.0, 10.15, 13.0, 6.0, 1.0);
@property (readonly, getter=isConstrained) BOOL constrained SINCE(13.0, 10.15, 13.0, 6.0, 1.0);
@end
NAMED(URLSessionTaskMetrics) SENDABLE @interface NSURLSessionTaskMetrics : NSObject
@property (readonly, copy) NSArray<NSURLSessionTaskTransactionMetrics *> *transactionMetrics;
@property (readonly) NSUInteger redirectCount;
@end

NAMED(URLProtocolClient) @protocol NSURLProtocolClient <NSObject>
- (void)URLProtocol:(NSURLProtocol *)protocol
    wasRedirectedToRequest:(NSURLRequest *)request
          redirectResponse:(NSURLResponse *)redirectResponse;
- (void)URLProtocol:(NSURLProtocol *)protocol cachedResponseIsValid:(NSCachedURLResponse *)cachedResponse;
- (void)URLProtocol:(NSURLProtocol *)protocol
    didReceiveResponse:(NSURLResponse *)response
    cacheStoragePolicy:(NSURLCacheStoragePolicy)policy;
- (void)URLProtocol:(NSURLProtocol *)protocol didLoadData:(NSData *)data;
- (void)URLProtocolDidFinishLoading:(NSURLProtocol *)protocol;
- (void)URLProtocol:(NSURLProtocol *)protocol didFailWithError:(NSError *)error;
@end
NAMED(URLProtocol) @interface NSURLProtocol : NSObject
- (instancetype)initWithRequest:(NSURLRequest *)request
                 cachedResponse:(nullable NSCachedURLResponse *)cachedResponse
                         client:(nullable id<NSURLProtocolClient>)client DESIGNATED;
@property (nullable, readonly, retain) id<NSURLProtocolClient> client;
@property (readonly, copy) NSURLRequest *request;
@property (nullable, readonly, copy) NSCachedURLResponse *cachedResponse;
+ (BOOL)canInitWithRequest:(NSURLRequest *)request;
+ (BOOL)canInitWithTask:(NSURLSessionTask *)task;
+ (NSURLRequest *)canonicalRequestForRequest:(NSURLRequest *)request;
+ (BOOL)requestIsCacheEquivalent:(NSURLRequest *)one toRequest:(NSURLRequest *)other;
- (instancetype)initWithTask:(NSURLSessionTask *)task
              cachedResponse:(nullable NSCachedURLResponse *)cachedResponse
                      client:(nullable id<NSURLProtocolClient>)client;
@property (nullable, readonly, copy) NSURLSessionTask *task;
- (void)startLoading;
- (void)stopLoading;
+ (nullable id)propertyForKey:(NSString *)key inRequest:(NSURLRequest *)request;
+ (void)setProperty:(id)value forKey:(NSString *)key inRequest:(NSMutableURLRequest *)request;
+ (BOOL)registerClass:(Class)protocolClass NAMED(registerClass(_:));
+ (void)unregisterClass:(Class)protocolClass;
@end
NONNULL_END
