// What Security takes, and run loops, as far as a URL protocol has to answer on the thread it was started on.
#pragma once
#include "ObjectiveC.h"

typedef const void *CFTypeRef;
typedef const struct __attribute__((objc_bridge(NSString))) __CFString *CFStringRef;
typedef const struct __attribute__((objc_bridge(NSDictionary))) __CFDictionary *CFDictionaryRef;
typedef struct __attribute__((objc_bridge_mutable(id))) __CFRunLoop *CFRunLoopRef;
#pragma clang arc_cf_code_audited begin
CFRunLoopRef CFRunLoopGetCurrent(void);
CFRunLoopRef CFRunLoopGetMain(void);
void CFRunLoopPerformBlock(CFRunLoopRef loop, CFTypeRef mode, void (^block)(void));
void CFRunLoopWakeUp(CFRunLoopRef loop);
#pragma clang arc_cf_code_audited end
