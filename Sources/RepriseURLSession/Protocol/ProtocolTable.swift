import Foundation
import RepriseCore
import ReprisePlatform

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Which caches stand behind which protocol class. The system makes the protocol's instances, so what they work for can
/// only be found here.
final class ProtocolTable: Sendable {
    private struct Entry: Sendable {
        weak var cache: MediaCache?
        var takes: @Sendable (URLRequest) -> Bool
    }

    static let shared = ProtocolTable()

    private let entries = Lock<[ObjectIdentifier: [Entry]]>([:])

    func add(_ cache: MediaCache, to kind: ObjectIdentifier, where takes: @escaping @Sendable (URLRequest) -> Bool) {
        entries.withLock { entries in
            entries[kind, default: []].removeAll { $0.cache == nil }
            entries[kind, default: []].append(Entry(cache: cache, takes: takes))
        }
    }

    func remove(_ cache: MediaCache, from kind: ObjectIdentifier) {
        entries.withLock { $0[kind]?.removeAll { $0.cache == nil || $0.cache === cache } }
    }

    /// The cache that takes `request`. The rules are the app's own code and are called without the lock.
    func cache(of kind: ObjectIdentifier, for request: URLRequest) -> MediaCache? {
        for entry in entries.withLock({ $0[kind] ?? [] }) {
            if let cache = entry.cache, entry.takes(request) { return cache }
        }
        return nil
    }
}
