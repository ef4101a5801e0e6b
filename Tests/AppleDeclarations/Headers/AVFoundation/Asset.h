#pragma once
#include "Loader.h"

NONNULL_BEGIN
@protocol AVAsynchronousKeyValueLoading
@end

typedef NSString *AVFileType STRING_STRUCT;
extern AVFileType const AVFileTypeMPEG4 NAMED(AVFileType.mp4);
extern AVFileType const AVFileTypeAppleM4A NAMED(AVFileType.m4a);
extern AVFileType const AVFileTypeAppleM4V NAMED(AVFileType.m4v);
extern AVFileType const AVFileTypeQuickTimeMovie NAMED(AVFileType.mov);
extern AVFileType const AVFileTypeMPEGLayer3 NAMED(AVFileType.mp3);
extern AVFileType const AVFileTypeWAVE NAMED(AVFileType.wav);
extern AVFileType const AVFileTypeAIFF NAMED(AVFileType.aiff);
extern AVFileType const AVFileTypeCoreAudioFormat NAMED(AVFileType.caf);
extern AVFileType const AVFileType3GPP NAMED(AVFileType.mobile3GPP);

@interface AVAsset : NSObject <NSCopying, AVAsynchronousKeyValueLoading>
- (void)cancelLoading;
@end
SENDABLE @interface AVURLAsset : AVAsset
NO_INIT
- (instancetype)initWithURL:(NSURL *)URL options:(nullable NSDictionary<NSString *, id> *)options DESIGNATED
    NAMED(init(url:options:));
@property (nonatomic, readonly, copy) NSURL *URL;
@property (nonatomic, readonly) AVAssetResourceLoader *resourceLoader SINCE_NOT_WATCH(6.0, 10.9, 9.0, 1.0);
@property (nonatomic, readonly) NSUUID *httpSessionIdentifier SINCE(16.0, 13.0, 16.0, 9.0, 1.0);
+ (NSArray<NSString *> *)audiovisualMIMETypes;
+ (BOOL)isPlayableExtendedMIMEType:(NSString *)extendedMIMEType;
@end
extern NSString *const AVURLAssetPreferPreciseDurationAndTimingKey;
extern NSString *const AVURLAssetHTTPCookiesKey;
extern NSString *const AVURLAssetAllowsCellularAccessKey;
extern NSString *const AVURLAssetAllowsExpensiveNetworkAccessKey SINCE(13.0, 10.15, 13.0, 6.0, 1.0);
extern NSString *const AVURLAssetAllowsConstrainedNetworkAccessKey SINCE(13.0, 10.15, 13.0, 6.0, 1.0);
extern NSString *const AVURLAssetHTTPUserAgentKey SINCE(16.0, 13.0, 16.0, 9.0, 1.0);
extern NSString *const AVURLAssetOverrideMIMETypeKey SINCE(17.0, 14.0, 17.0, 10.0, 1.0);

extern NSErrorDomain const AVFoundationErrorDomain;
typedef ERROR_ENUM(AVFoundationErrorDomain, AVError) {
    AVErrorUnknown = -11800,
    AVErrorMediaServicesWereReset = -11819,
    AVErrorDecodeFailed = -11821,
    AVErrorFileFormatNotRecognized = -11828,
    AVErrorFileFailedToParse = -11829,
    AVErrorDecoderNotFound = -11833,
    AVErrorOperationNotSupportedForAsset = -11838,
    AVErrorFailedToLoadMediaData = -11849,
    AVErrorServerIncorrectlyConfigured = -11850,
};
NONNULL_END
