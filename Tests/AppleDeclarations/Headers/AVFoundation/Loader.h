// The resource loader. Sendable comes from the overlay, with a version.
#pragma once
#include "../Foundation/URLSession.h"

NONNULL_BEGIN
@class AVAssetResourceLoader, AVAssetResourceLoadingRequest, AVAssetResourceRenewalRequest;
@class AVAssetResourceLoadingContentInformationRequest, AVAssetResourceLoadingDataRequest;
@class AVAssetResourceLoadingRequestor;
@protocol AVAssetResourceLoaderDelegate;

SINCE_NOT_WATCH(6.0, 10.9, 9.0, 1.0) @interface AVAssetResourceLoader : NSObject
NO_INIT
- (void)setDelegate:(nullable id<AVAssetResourceLoaderDelegate>)delegate
              queue:(nullable OS_dispatch_queue *)delegateQueue;
@property (nonatomic, readonly, weak, nullable) id<AVAssetResourceLoaderDelegate> delegate;
@property (nonatomic, readonly, nullable) OS_dispatch_queue *delegateQueue;
@property (nonatomic) BOOL preloadsEligibleContentKeys SINCE_NOT_WATCH(9.0, 10.11, 9.0, 1.0);
@property (nonatomic) BOOL sendsCommonMediaClientDataAsHTTPHeaders SINCE_NOT_WATCH(18.0, 15.0, 18.0, 2.0);
@end

SINCE_NOT_WATCH(6.0, 10.9, 9.0, 1.0) @protocol AVAssetResourceLoaderDelegate <NSObject>
@optional
- (BOOL)resourceLoader:(AVAssetResourceLoader *)resourceLoader
    shouldWaitForLoadingOfRequestedResource:(AVAssetResourceLoadingRequest *)loadingRequest;
- (BOOL)resourceLoader:(AVAssetResourceLoader *)resourceLoader
    shouldWaitForRenewalOfRequestedResource:(AVAssetResourceRenewalRequest *)renewalRequest;
- (void)resourceLoader:(AVAssetResourceLoader *)resourceLoader
    didCancelLoadingRequest:(AVAssetResourceLoadingRequest *)loadingRequest NAMED(resourceLoader(_:didCancel:));
- (BOOL)resourceLoader:(AVAssetResourceLoader *)resourceLoader
    shouldWaitForResponseToAuthenticationChallenge:(NSURLAuthenticationChallenge *)authenticationChallenge
    NAMED(resourceLoader(_:shouldWaitForResponseTo:));
- (void)resourceLoader:(AVAssetResourceLoader *)resourceLoader
    didCancelAuthenticationChallenge:(NSURLAuthenticationChallenge *)authenticationChallenge
    NAMED(resourceLoader(_:didCancel:));
@end

SINCE_NOT_WATCH(6.0, 10.9, 9.0, 1.0) @interface AVAssetResourceLoadingRequest : NSObject
NO_INIT
@property (nonatomic, readonly) NSURLRequest *request;
@property (nonatomic, readonly, getter=isFinished) BOOL finished;
@property (nonatomic, readonly, getter=isCancelled) BOOL cancelled;
@property (nonatomic, readonly, nullable) AVAssetResourceLoadingContentInformationRequest *contentInformationRequest;
@property (nonatomic, readonly, nullable) AVAssetResourceLoadingDataRequest *dataRequest;
@property (nonatomic, copy, nullable) NSURLResponse *response;
@property (nonatomic, copy, nullable) NSURLRequest *redirect;
@property (nonatomic, readonly) AVAssetResourceLoadingRequestor *requestor SINCE_NOT_WATCH(12.0, 10.14, 12.0, 1.0);
- (void)finishLoading;
- (void)finishLoadingWithError:(nullable NSError *)error NAMED(finishLoading(with:));
- (void)finishLoadingWithResponse:(nullable NSURLResponse *)response
                             data:(nullable NSData *)data
                         redirect:(nullable NSURLRequest *)redirect NAMED(finishLoading(with:data:redirect:))
    DEPRECATED(7.0, 10.10, "set the response and the redirect, then finish");
@end
SINCE_NOT_WATCH(8.0, 10.10, 9.0, 1.0) @interface AVAssetResourceRenewalRequest : AVAssetResourceLoadingRequest
@end
SINCE_NOT_WATCH(12.0, 10.14, 12.0, 1.0) @interface AVAssetResourceLoadingRequestor : NSObject
NO_INIT
@property (readonly, nonatomic) BOOL providesExpiredSessionReports;
@end

SINCE_NOT_WATCH(7.0, 10.9, 9.0, 1.0) @interface AVAssetResourceLoadingContentInformationRequest : NSObject
NO_INIT
@property (nonatomic, copy, nullable) NSString *contentType;
@property (nonatomic, readonly, nullable) NSArray<NSString *> *allowedContentTypes SINCE_NOT_WATCH(11.2, 10.13.2, 11.2, 1.0);
@property (nonatomic) long long contentLength;
@property (nonatomic, getter=isByteRangeAccessSupported) BOOL byteRangeAccessSupported;
@property (nonatomic, copy, nullable) NSDate *renewalDate;
@property (nonatomic, getter=isEntireLengthAvailableOnDemand) BOOL entireLengthAvailableOnDemand
    SINCE_NOT_WATCH(16.0, 13.0, 16.0, 1.0);
@end

SINCE_NOT_WATCH(7.0, 10.9, 9.0, 1.0) @interface AVAssetResourceLoadingDataRequest : NSObject
NO_INIT
@property (nonatomic, readonly) long long requestedOffset;
@property (nonatomic, readonly) NSInteger requestedLength;
@property (nonatomic, readonly) BOOL requestsAllDataToEndOfResource SINCE_NOT_WATCH(9.0, 10.11, 9.0, 1.0);
@property (nonatomic, readonly) long long currentOffset;
- (void)respondWithData:(NSData *)data;
@end
NONNULL_END
