// The audio session; there is none on macOS.
#pragma once
#include "Foundation/Services.h"

NONNULL_BEGIN
typedef NSString *AVAudioSessionCategory NAMED(AVAudioSession.Category) STRING_STRUCT NOT_ON_MACOS;
extern AVAudioSessionCategory const AVAudioSessionCategoryAmbient NOT_ON_MACOS;
extern AVAudioSessionCategory const AVAudioSessionCategoryPlayback NOT_ON_MACOS;
typedef NSString *AVAudioSessionMode NAMED(AVAudioSession.Mode) STRING_STRUCT NOT_ON_MACOS;
extern AVAudioSessionMode const AVAudioSessionModeDefault NOT_ON_MACOS;
extern AVAudioSessionMode const AVAudioSessionModeMoviePlayback NOT_ON_MACOS;
extern AVAudioSessionMode const AVAudioSessionModeSpokenAudio NOT_ON_MACOS;
typedef OPTION_SET(NSUInteger, AVAudioSessionCategoryOptions) {
    AVAudioSessionCategoryOptionMixWithOthers = 0x1,
    AVAudioSessionCategoryOptionDuckOthers = 0x2,
} NAMED(AVAudioSession.CategoryOptions) NOT_ON_MACOS;
typedef OPTION_SET(NSUInteger, AVAudioSessionSetActiveOptions) {
    AVAudioSessionSetActiveOptionNotifyOthersOnDeactivation = 1,
} NAMED(AVAudioSession.SetActiveOptions) NOT_ON_MACOS;
typedef OPEN_ENUM(NSUInteger, AVAudioSessionRouteSharingPolicy) {
    AVAudioSessionRouteSharingPolicyDefault = 0,
    AVAudioSessionRouteSharingPolicyLongFormAudio = 1,
} NAMED(AVAudioSession.RouteSharingPolicy) NOT_ON_MACOS;
typedef OPEN_ENUM(NSUInteger, AVAudioSessionInterruptionType) {
    AVAudioSessionInterruptionTypeBegan = 1,
    AVAudioSessionInterruptionTypeEnded = 0,
} NAMED(AVAudioSession.InterruptionType) NOT_ON_MACOS;
typedef OPTION_SET(NSUInteger, AVAudioSessionInterruptionOptions) {
    AVAudioSessionInterruptionOptionShouldResume = 1,
} NAMED(AVAudioSession.InterruptionOptions) NOT_ON_MACOS;
typedef OPEN_ENUM(NSUInteger, AVAudioSessionRouteChangeReason) {
    AVAudioSessionRouteChangeReasonUnknown = 0,
    AVAudioSessionRouteChangeReasonNewDeviceAvailable = 1,
    AVAudioSessionRouteChangeReasonOldDeviceUnavailable = 2,
    AVAudioSessionRouteChangeReasonCategoryChange = 3,
} NAMED(AVAudioSession.RouteChangeReason) NOT_ON_MACOS;

NOT_ON_MACOS @interface AVAudioSession : NSObject
+ (AVAudioSession *)sharedInstance;
- (BOOL)setCategory:(AVAudioSessionCategory)category
               mode:(AVAudioSessionMode)mode
            options:(AVAudioSessionCategoryOptions)options
              error:(NSError *_Nullable *_Nullable)error;
- (BOOL)setCategory:(AVAudioSessionCategory)category
                  mode:(AVAudioSessionMode)mode
    routeSharingPolicy:(AVAudioSessionRouteSharingPolicy)policy
               options:(AVAudioSessionCategoryOptions)options
                 error:(NSError *_Nullable *_Nullable)error NAMED(setCategory(_:mode:policy:options:));
- (BOOL)setActive:(BOOL)active
      withOptions:(AVAudioSessionSetActiveOptions)options
            error:(NSError *_Nullable *_Nullable)error NAMED(setActive(_:options:));
@property (readonly) AVAudioSessionCategory category;
@end
extern NSNotificationName const AVAudioSessionInterruptionNotification
    NAMED(AVAudioSession.interruptionNotification) NOT_ON_MACOS;
extern NSNotificationName const AVAudioSessionRouteChangeNotification
    NAMED(AVAudioSession.routeChangeNotification) NOT_ON_MACOS;
extern NSNotificationName const AVAudioSessionMediaServicesWereLostNotification
    NAMED(AVAudioSession.mediaServicesWereLostNotification) NOT_ON_MACOS;
extern NSNotificationName const AVAudioSessionMediaServicesWereResetNotification
    NAMED(AVAudioSession.mediaServicesWereResetNotification) NOT_ON_MACOS;
extern NSString *const AVAudioSessionInterruptionTypeKey NOT_ON_MACOS;
extern NSString *const AVAudioSessionInterruptionOptionKey NOT_ON_MACOS;
extern NSString *const AVAudioSessionRouteChangeReasonKey NOT_ON_MACOS;
NONNULL_END
