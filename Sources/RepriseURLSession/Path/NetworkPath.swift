import RepriseCore
import ReprisePlatform

/// Knows when the device can reach the network again. The seam between the system's own watch and tests.
public protocol NetworkPath: Sendable {
    /// Calls `onReturn` each time a path to the network is there after there was none, on any thread, until the result
    /// is released.
    func watch(onReturn: @escaping @Sendable () -> Void) -> any NetworkPathWatch
}

/// A watch on a network path; it ends when it is released.
public protocol NetworkPathWatch: AnyObject, Sendable {}

/// A path that returns when told so: for tests, and for systems that tell an app in their own way.
public final class ManualNetworkPath: NetworkPath {
    private final class Watch: NetworkPathWatch {
        let onReturn: @Sendable () -> Void
        init(onReturn: @escaping @Sendable () -> Void) { self.onReturn = onReturn }
    }

    private struct Reference: Sendable {
        weak var watch: Watch?
    }

    private let watches = Lock<[Reference]>([])

    /// Makes a path nobody watches.
    public init() {}

    /// Adds a watch.
    public func watch(onReturn: @escaping @Sendable () -> Void) -> any NetworkPathWatch {
        let watch = Watch(onReturn: onReturn)
        watches.withLock { watches in
            watches.removeAll { $0.watch == nil }
            watches.append(Reference(watch: watch))
        }
        return watch
    }

    /// Says that the network is back.
    public func pathReturned() {
        for watch in watches.withLock({ $0.compactMap(\.watch) }) { watch.onReturn() }
    }
}
