#pragma once
#include "../CoreMedia.h"
#include "Asset.h"

NONNULL_BEGIN
@interface NSValue (CoreMedia)
+ (NSValue *)valueWithCMTime:(CMTime)time NAMED(init(time:));
@property (readonly) CMTime CMTimeValue NAMED(timeValue);
+ (NSValue *)valueWithCMTimeRange:(CMTimeRange)range NAMED(init(timeRange:));
@property (readonly) CMTimeRange CMTimeRangeValue NAMED(timeRangeValue);
@end

typedef OPEN_ENUM(NSInteger, AVPlayerItemStatus) {
    AVPlayerItemStatusUnknown = 0,
    AVPlayerItemStatusReadyToPlay = 1,
    AVPlayerItemStatusFailed = 2,
} NAMED(AVPlayerItem.Status);

@interface AVPlayerItemErrorLogEvent : NSObject <NSCopying>
@property (nonatomic, readonly) NSInteger errorStatusCode;
@property (nonatomic, readonly) NSString *errorDomain;
@property (nonatomic, readonly, nullable) NSString *errorComment;
@property (nonatomic, readonly, nullable) NSString *URI;
@end
@interface AVPlayerItemErrorLog : NSObject <NSCopying>
@property (nonatomic, readonly) NSArray<AVPlayerItemErrorLogEvent *> *events;
@end
@interface AVPlayerItemAccessLog : NSObject <NSCopying>
@end

MAIN_ACTOR @interface AVPlayerItem : NSObject <NSCopying>
NO_INIT
- (instancetype)initWithURL:(NSURL *)URL NONISOLATED NAMED(init(url:));
- (instancetype)initWithAsset:(AVAsset *)asset NAMED(init(asset:));
- (instancetype)initWithAsset:(AVAsset *)asset
    automaticallyLoadedAssetKeys:(nullable NSArray<NSString *> *)automaticallyLoadedAssetKeys;
- (id)copy NONISOLATED;
- (id)copyWithZone:(nullable NSZone *)zone NONISOLATED NAMED(copy(with:));
@property (nonatomic, readonly) AVAsset *asset;
@property (nonatomic, readonly) AVPlayerItemStatus status NONISOLATED;
@property (nonatomic, readonly, nullable) NSError *error NONISOLATED;
@property (nonatomic, readonly) CMTime duration NONISOLATED;
@property (readonly) NSArray<NSValue *> *loadedTimeRanges NONISOLATED;
@property (readonly) NSArray<NSValue *> *seekableTimeRanges NONISOLATED;
@property (nonatomic, readonly, getter=isPlaybackLikelyToKeepUp) BOOL playbackLikelyToKeepUp NONISOLATED;
@property (nonatomic, readonly, getter=isPlaybackBufferFull) BOOL playbackBufferFull NONISOLATED;
@property (nonatomic, readonly, getter=isPlaybackBufferEmpty) BOOL playbackBufferEmpty NONISOLATED;
@property (nonatomic) NSTimeInterval preferredForwardBufferDuration NONISOLATED SINCE(10.0, 10.12, 10.0, 3.0, 1.0);
@property (nonatomic) BOOL canUseNetworkResourcesForLiveStreamingWhilePaused NONISOLATED;
@property (nonatomic) double preferredPeakBitRate NONISOLATED;
@property (nonatomic) double preferredPeakBitRateForExpensiveNetworks NONISOLATED SINCE(15.0, 12.0, 15.0, 8.0, 1.0);
@property (nonatomic) CMTime forwardPlaybackEndTime NONISOLATED;
- (CMTime)currentTime NONISOLATED;
- (void)cancelPendingSeeks NONISOLATED;
- (void)seekToTime:(CMTime)time completionHandler:(nullable void (SENDABLE ^)(BOOL finished))completionHandler NONISOLATED;
- (void)seekToTime:(CMTime)time
      toleranceBefore:(CMTime)toleranceBefore
       toleranceAfter:(CMTime)toleranceAfter
    completionHandler:(nullable void (SENDABLE ^)(BOOL finished))completionHandler NONISOLATED;
- (nullable AVPlayerItemErrorLog *)errorLog NONISOLATED;
- (nullable AVPlayerItemAccessLog *)accessLog NONISOLATED;
@end
extern NSNotificationName const AVPlayerItemDidPlayToEndTimeNotification
    NAMED(AVPlayerItem.didPlayToEndTimeNotification);
extern NSNotificationName const AVPlayerItemFailedToPlayToEndTimeNotification
    NAMED(AVPlayerItem.failedToPlayToEndTimeNotification);
extern NSNotificationName const AVPlayerItemPlaybackStalledNotification
    NAMED(AVPlayerItem.playbackStalledNotification);
extern NSNotificationName const AVPlayerItemNewErrorLogEntryNotification
    NAMED(AVPlayerItem.newErrorLogEntryNotification);
extern NSNotificationName const AVPlayerItemNewAccessLogEntryNotification
    NAMED(AVPlayerItem.newAccessLogEntryNotification);
extern NSNotificationName const AVPlayerItemTimeJumpedNotification NAMED(AVPlayerItem.timeJumpedNotification);
extern NSString *const AVPlayerItemFailedToPlayToEndTimeErrorKey;
NONNULL_END
