import ReprisePlatform
import RepriseStorage

/// Tells once of a disk that refuses what is written again and again, until it takes it.
final class RefusalReport: Sendable {
    private let hub: EventHub
    private let isRefused = Lock(false)

    init(_ hub: EventHub) { self.hub = hub }

    /// The disk took it.
    func accepted() { isRefused.withLock { $0 = false } }

    /// The disk refused it.
    func refused(_ error: StoreError) {
        let isNews = isRefused.withLock { isRefused in
            defer { isRefused = true }
            return !isRefused
        }
        if isNews { hub.send(.degraded(key: "", reason: error.description)) }
    }
}
