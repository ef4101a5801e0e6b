#pragma once
#include "ObjectiveC.h"

NONNULL_BEGIN
SENDABLE __attribute__((swift_name("OS_object"))) @interface OS_object : NSObject
@end
NAMED(DispatchObject) SENDABLE @interface OS_dispatch_object : OS_object
NO_INIT
@end
NAMED(DispatchQueue) SENDABLE @interface OS_dispatch_queue : OS_dispatch_object
@end
NAMED(DispatchSerialQueue) SINCE(17.0, 14.0, 17.0, 10.0, 1.0) SENDABLE @interface OS_dispatch_queue_serial : OS_dispatch_queue
@end
NAMED(DispatchGroup) SENDABLE @interface OS_dispatch_group : OS_dispatch_object
@end
NAMED(DispatchSource) SENDABLE @interface OS_dispatch_source : OS_dispatch_object
@end
NAMED(DispatchSemaphore) SENDABLE @interface OS_dispatch_semaphore : OS_dispatch_object
@end
typedef void (^dispatch_block_t)(void);
NONNULL_END
