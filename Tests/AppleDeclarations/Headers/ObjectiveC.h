#pragma once
#include "Attributes.h"

typedef _Bool BOOL;
typedef long NSInteger;
typedef unsigned long NSUInteger;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define YES ((BOOL)1)
#define NO ((BOOL)0)

typedef struct _NSZone NSZone;

NONNULL_BEGIN
@class NSString;

@protocol NSObject
- (BOOL)isEqual:(nullable id)object;
@property (readonly) NSUInteger hash;
@property (readonly, copy) NSString *description;
@end

__attribute__((objc_root_class))
@interface NSObject <NSObject>
- (instancetype)init DESIGNATED;
- (id)copy;
@end

typedef OPEN_ENUM(unsigned long, objc_AssociationPolicy) {
    OBJC_ASSOCIATION_ASSIGN = 0,
    OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1,
    OBJC_ASSOCIATION_COPY_NONATOMIC = 3,
    OBJC_ASSOCIATION_RETAIN = 01401,
    OBJC_ASSOCIATION_COPY = 01403,
};
void objc_setAssociatedObject(id object, const void *key, _Nullable id value, objc_AssociationPolicy policy);
_Nullable id objc_getAssociatedObject(id object, const void *key);
NONNULL_END
