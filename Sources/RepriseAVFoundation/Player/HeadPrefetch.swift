#if canImport(AVFoundation) && !os(watchOS)
    import RepriseCore
    import ReprisePlatform
    import RepriseRanges

    /// Brings the first bytes of a resource into the store, behind everything that is played. Ends with this object.
    // No copies are made of what is stored already: leases are dropped unread.
    final class HeadPrefetch: Sendable {
        private let handle: ReaderHandle

        init(_ resource: MediaResource, bytes: Int64) {
            handle = resource.makeHandle(in: ByteRange(0, bytes), priority: .prefetch, isHandedOn: false)
            Self.go(on: handle)
        }

        deinit { handle.leave() }

        private static func go(on handle: ReaderHandle) {
            while true {
                switch handle.step(limit: 256 * 1024, wake: { [weak handle] in again(handle) }) {
                case .memory, .lease: continue
                case .pending: return
                case .end, .failed: return handle.leave()
                }
            }
        }

        // Not on the stack of whoever wakes: it may have locks to let go.
        private static func again(_ handle: ReaderHandle?) {
            handle?.queues.soon { [weak handle] in if let handle { go(on: handle) } }
        }
    }
#endif
