import Dispatch
import ReprisePlatform

#if canImport(Darwin)
    import Foundation
#endif

/// How a process asks to be left running for a while when its app goes to the background; a seam, so that what is made
/// of it is tested where no system suspends anybody.
package protocol ExpiringActivities: Sendable {
    /// Calls `body` with `false` on a thread of its own and keeps the process running until it returns; calls it with
    /// `true`, also at once, where the time is up. A system that suspends nobody calls nothing.
    func perform(reason: String, _ body: @escaping @Sendable (_ isExpired: Bool) -> Void)
}

/// The system's own. It needs no application object, so it works in extensions, too.
package struct SystemActivities: ExpiringActivities {
    package init() {}

    package func perform(reason: String, _ body: @escaping @Sendable (_ isExpired: Bool) -> Void) {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            ProcessInfo.processInfo.performExpiringActivity(withReason: reason, using: body)
        #endif
    }
}

/// Keeps the process running from its making to `end`, as long as the system allows.
package final class ExpiringActivity: Sendable {
    /// Closed while the activity lasts.
    private final class Gate: Sendable {
        private let isOpen = Lock(false)
        private let opening = DispatchSemaphore(value: 0)

        var isPassable: Bool { isOpen.withLock { $0 } }

        func open() {
            let isFirst = isOpen.withLock { isOpen in
                defer { isOpen = true }
                return !isOpen
            }
            if isFirst { opening.signal() }
        }

        func wait() {
            opening.wait()
            // For whoever else waits: the system may ask more than once.
            opening.signal()
        }
    }

    private let gate = Gate()

    /// - Parameter onExpiry: Called where the time is up before `end`, on a thread of the system's; it must be quick.
    package init(
        _ reason: String, by activities: any ExpiringActivities, onExpiry: @escaping @Sendable () -> Void
    ) {
        activities.perform(reason: reason) { [gate] isExpired in
            if !isExpired {
                // The thread the system lends stands still until the work is done: that is what keeps the process running.
                gate.wait()
            } else if !gate.isPassable {
                onExpiry()
            }
        }
    }

    /// Lets the process be suspended. Idempotent.
    package func end() { gate.open() }

    deinit { end() }
}
