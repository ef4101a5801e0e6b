// A player. What is nonisolated from a deployment target of 2022 on is nonisolated here: ours is later.
#pragma once
#include "Item.h"

NONNULL_BEGIN
typedef OPEN_ENUM(NSInteger, AVPlayerStatus) {
    AVPlayerStatusUnknown = 0,
    AVPlayerStatusReadyToPlay = 1,
    AVPlayerStatusFailed = 2,
} NAMED(AVPlayer.Status);
typedef OPEN_ENUM(NSInteger, AVPlayerTimeControlStatus) {
    AVPlayerTimeControlStatusPaused = 0,
    AVPlayerTimeControlStatusWaitingToPlayAtSpecifiedRate = 1,
    AVPlayerTimeControlStatusPlaying = 2,
} NAMED(AVPlayer.TimeControlStatus) SINCE(10.0, 10.12, 10.0, 3.0, 1.0);
typedef OPEN_ENUM(NSInteger, AVPlayerActionAtItemEnd) {
    AVPlayerActionAtItemEndAdvance = 0,
    AVPlayerActionAtItemEndPause = 1,
    AVPlayerActionAtItemEndNone = 2,
} NAMED(AVPlayer.ActionAtItemEnd);
typedef NSString *AVPlayerWaitingReason NAMED(AVPlayer.WaitingReason) STRING_STRUCT;
extern AVPlayerWaitingReason const AVPlayerWaitingToMinimizeStallsReason NAMED(AVPlayer.WaitingReason.toMinimizeStalls);
extern AVPlayerWaitingReason const AVPlayerWaitingWhileEvaluatingBufferingRateReason
    NAMED(AVPlayer.WaitingReason.evaluatingBufferingRate);
extern AVPlayerWaitingReason const AVPlayerWaitingWithNoItemToPlayReason NAMED(AVPlayer.WaitingReason.noItemToPlay);

MAIN_ACTOR @interface AVPlayer : NSObject
- (instancetype)init NONISOLATED;
- (instancetype)initWithURL:(NSURL *)URL NONISOLATED NAMED(init(url:));
- (instancetype)initWithPlayerItem:(nullable AVPlayerItem *)item NONISOLATED;
@property (nonatomic, readonly) AVPlayerStatus status NONISOLATED;
@property (nonatomic, readonly, nullable) NSError *error NONISOLATED;
@property (nonatomic) float rate NONISOLATED;
@property (nonatomic) float defaultRate NONISOLATED SINCE(16.0, 13.0, 16.0, 9.0, 1.0);
- (void)play NONISOLATED;
- (void)pause NONISOLATED;
- (void)playImmediatelyAtRate:(float)rate NONISOLATED SINCE(10.0, 10.12, 10.0, 3.0, 1.0);
@property (nonatomic, readonly) AVPlayerTimeControlStatus timeControlStatus NONISOLATED SINCE(10.0, 10.12, 10.0, 3.0, 1.0);
@property (nonatomic, readonly, nullable) AVPlayerWaitingReason reasonForWaitingToPlay NONISOLATED
    SINCE(10.0, 10.12, 10.0, 3.0, 1.0);
@property (nonatomic) BOOL automaticallyWaitsToMinimizeStalling NONISOLATED SINCE(10.0, 10.12, 10.0, 3.0, 1.0);
@property (nonatomic, readonly, nullable) AVPlayerItem *currentItem NONISOLATED;
- (void)replaceCurrentItemWithPlayerItem:(nullable AVPlayerItem *)item NONISOLATED;
@property (nonatomic) AVPlayerActionAtItemEnd actionAtItemEnd NONISOLATED;
- (CMTime)currentTime NONISOLATED;
- (void)seekToTime:(CMTime)time NONISOLATED;
- (void)seekToTime:(CMTime)time
    toleranceBefore:(CMTime)toleranceBefore
     toleranceAfter:(CMTime)toleranceAfter NONISOLATED;
- (void)seekToTime:(CMTime)time completionHandler:(void (SENDABLE ^)(BOOL finished))completionHandler NONISOLATED;
- (void)seekToTime:(CMTime)time
      toleranceBefore:(CMTime)toleranceBefore
       toleranceAfter:(CMTime)toleranceAfter
    completionHandler:(void (SENDABLE ^)(BOOL finished))completionHandler NONISOLATED;
- (void)prerollAtRate:(float)rate completionHandler:(nullable void (SENDABLE ^)(BOOL finished))completionHandler NONISOLATED;
- (void)cancelPendingPrerolls NONISOLATED;
- (id)addPeriodicTimeObserverForInterval:(CMTime)interval
                                   queue:(nullable OS_dispatch_queue *)queue
                              usingBlock:(void (SENDABLE ^)(CMTime time))block NONISOLATED;
- (id)addBoundaryTimeObserverForTimes:(NSArray<NSValue *> *)times
                                queue:(nullable OS_dispatch_queue *)queue
                           usingBlock:(void (SENDABLE ^)(void))block NONISOLATED;
- (void)removeTimeObserver:(id)observer NONISOLATED;
@property (nonatomic) float volume NONISOLATED;
@property (nonatomic, getter=isMuted) BOOL muted NONISOLATED;
@property (nonatomic) BOOL allowsExternalPlayback NONISOLATED NOT_ON_WATCHOS;
@property (nonatomic, readonly, getter=isExternalPlaybackActive) BOOL externalPlaybackActive NONISOLATED NOT_ON_WATCHOS;
@property (nonatomic) BOOL preventsDisplaySleepDuringVideoPlayback NONISOLATED NOT_ON_WATCHOS;
@end
extern NSNotificationName const AVPlayerRateDidChangeNotification NAMED(AVPlayer.rateDidChangeNotification)
    SINCE(15.0, 12.0, 15.0, 8.0, 1.0);
extern NSString *const AVPlayerRateDidChangeReasonKey NAMED(AVPlayer.rateDidChangeReasonKey)
    SINCE(15.0, 12.0, 15.0, 8.0, 1.0);

MAIN_ACTOR @interface AVQueuePlayer : AVPlayer
+ (instancetype)queuePlayerWithItems:(NSArray<AVPlayerItem *> *)items NONISOLATED;
- (instancetype)initWithItems:(NSArray<AVPlayerItem *> *)items NONISOLATED;
- (NSArray<AVPlayerItem *> *)items NONISOLATED;
- (void)advanceToNextItem NONISOLATED;
- (BOOL)canInsertItem:(AVPlayerItem *)item afterItem:(nullable AVPlayerItem *)afterItem NONISOLATED
    NAMED(canInsert(_:after:));
- (void)insertItem:(AVPlayerItem *)item afterItem:(nullable AVPlayerItem *)afterItem NONISOLATED NAMED(insert(_:after:));
- (void)removeItem:(AVPlayerItem *)item NONISOLATED NAMED(remove(_:));
- (void)removeAllItems NONISOLATED;
@end

typedef OPEN_ENUM(NSInteger, AVPlayerLooperStatus) {
    AVPlayerLooperStatusUnknown = 0,
    AVPlayerLooperStatusReady = 1,
    AVPlayerLooperStatusFailed = 2,
    AVPlayerLooperStatusCancelled = 3,
} NAMED(AVPlayerLooper.Status) NOT_ON_WATCHOS;
// No isolation is known of it; not confirmed for the current SDK, so use it on the main actor.
SINCE_NOT_WATCH(10.0, 10.12, 10.0, 1.0) @interface AVPlayerLooper : NSObject
NO_INIT
- (instancetype)initWithPlayer:(AVQueuePlayer *)player
                  templateItem:(AVPlayerItem *)templateItem
                     timeRange:(CMTimeRange)timeRange DESIGNATED;
@property (nonatomic, readonly) AVPlayerLooperStatus status;
@property (nonatomic, readonly, nullable) NSError *error;
@property (nonatomic, readonly) NSInteger loopCount;
@property (nonatomic, readonly) NSArray<AVPlayerItem *> *loopingPlayerItems;
- (void)disableLooping;
@end
NONNULL_END
