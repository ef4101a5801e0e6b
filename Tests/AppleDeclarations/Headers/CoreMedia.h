#pragma once
#include "Foundation/Values.h"

typedef int64_t CMTimeValue;
typedef int32_t CMTimeScale;
typedef int64_t CMTimeEpoch;
typedef OPTION_SET(uint32_t, CMTimeFlags) {
    kCMTimeFlags_Valid = 1,
    kCMTimeFlags_HasBeenRounded = 2,
    kCMTimeFlags_PositiveInfinity = 4,
    kCMTimeFlags_NegativeInfinity = 8,
    kCMTimeFlags_Indefinite = 16,
    kCMTimeFlags_ImpliedValueFlagsMask = 28,
};
typedef struct {
    CMTimeValue value;
    CMTimeScale timescale;
    CMTimeFlags flags;
    CMTimeEpoch epoch;
} CMTime;
typedef struct {
    CMTime start;
    CMTime duration;
} CMTimeRange;
extern const CMTime kCMTimeInvalid NAMED(CMTime.invalid);
extern const CMTime kCMTimeIndefinite NAMED(CMTime.indefinite);
extern const CMTime kCMTimePositiveInfinity NAMED(CMTime.positiveInfinity);
extern const CMTime kCMTimeNegativeInfinity NAMED(CMTime.negativeInfinity);
extern const CMTime kCMTimeZero NAMED(CMTime.zero);
extern const CMTimeRange kCMTimeRangeZero NAMED(CMTimeRange.zero);
extern const CMTimeRange kCMTimeRangeInvalid NAMED(CMTimeRange.invalid);
CMTime CMTimeMake(int64_t value, int32_t timescale) NAMED(CMTimeMake(value:timescale:));
CMTime CMTimeMakeWithSeconds(double seconds, int32_t preferredTimescale)
    NAMED(CMTimeMakeWithSeconds(_:preferredTimescale:));
double CMTimeGetSeconds(CMTime time);
CMTimeRange CMTimeRangeMake(CMTime start, CMTime duration) NAMED(CMTimeRangeMake(start:duration:));
