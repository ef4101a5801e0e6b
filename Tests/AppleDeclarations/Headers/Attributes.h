// Short names for what Swift's importer reads from a declaration.
#pragma once

#define SINCE(IOS, MACOS, TVOS, WATCHOS, VISIONOS)                                                       \
    __attribute__((availability(ios, introduced = IOS), availability(macos, introduced = MACOS),         \
        availability(tvos, introduced = TVOS), availability(watchos, introduced = WATCHOS),              \
        availability(visionos, introduced = VISIONOS)))
/// On all but watchOS.
#define SINCE_NOT_WATCH(IOS, MACOS, TVOS, VISIONOS)                                                      \
    __attribute__((availability(ios, introduced = IOS), availability(macos, introduced = MACOS),         \
        availability(tvos, introduced = TVOS), availability(visionos, introduced = VISIONOS),            \
        availability(watchos, unavailable)))
#define NOT_ON_MACOS __attribute__((availability(macos, unavailable)))
#define NOT_ON_WATCHOS __attribute__((availability(watchos, unavailable)))
#define DEPRECATED(IOS, MACOS, MESSAGE)                                                                  \
    __attribute__((availability(ios, introduced = 2.0, deprecated = IOS, message = MESSAGE),             \
        availability(tvos, introduced = 9.0, deprecated = IOS, message = MESSAGE),                       \
        availability(macos, introduced = 10.0, deprecated = MACOS, message = MESSAGE)))

#define NAMED(NAME) __attribute__((swift_name(#NAME)))
#define BRIDGED(NAME) __attribute__((swift_bridge(#NAME)))
#define SENDABLE __attribute__((swift_attr("@Sendable")))
#define NOT_SENDABLE __attribute__((swift_attr("@_nonSendable")))
#define MAIN_ACTOR __attribute__((swift_attr("@MainActor")))
#define NONISOLATED __attribute__((swift_attr("nonisolated")))
#define DESIGNATED __attribute__((objc_designated_initializer))
#define NO_INIT -(instancetype)init __attribute__((unavailable)); +(instancetype)new __attribute__((unavailable));
#define NO_ESCAPE __attribute__((noescape))
#define REFINED __attribute__((swift_private))
#define NOT_FROM_ASYNC __attribute__((swift_attr("@_unavailableFromAsync")))
#define NO_ASYNC __attribute__((swift_async(none)))

#define CLOSED_ENUM(TYPE, NAME) enum __attribute__((enum_extensibility(closed))) NAME : TYPE NAME; enum NAME : TYPE
#define OPEN_ENUM(TYPE, NAME) enum __attribute__((enum_extensibility(open))) NAME : TYPE NAME; enum NAME : TYPE
#define OPTION_SET(TYPE, NAME)                                                                           \
    enum __attribute__((enum_extensibility(open), flag_enum)) NAME : TYPE NAME; enum NAME : TYPE
#define ERROR_ENUM(DOMAIN, NAME)                                                                         \
    enum __attribute__((ns_error_domain(DOMAIN))) NAME : NSInteger NAME; enum NAME : NSInteger
#define STRING_STRUCT __attribute__((swift_wrapper(struct)))

#define NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NONNULL_END _Pragma("clang assume_nonnull end")
