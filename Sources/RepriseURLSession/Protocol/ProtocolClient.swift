import Foundation
import ReprisePlatform

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The way back from a protocol to the system, which on Apple wants all calls on the thread that started it.
// @unchecked: the protocol is only touched on that thread, or where there is no such rule by one task, one call after
// the other; the flag has its lock.
final class ProtocolClient: @unchecked Sendable {
    /// Whether the body must be told in one piece: FoundationNetworking gives a completion handler the last piece only.
    let takesOnePiece: Bool
    private let isStopped = Lock(false)
    private let owner: URLProtocol
    #if canImport(ObjectiveC)
        private let loop: CFRunLoop? = CFRunLoopGetCurrent()
        private let mode = RunLoop.current.currentMode ?? .default
    #endif

    /// Call it on the thread that started the protocol.
    init(_ owner: URLProtocol) {
        self.owner = owner
        #if canImport(ObjectiveC)
            takesOnePiece = false
        #else
            takesOnePiece = owner.task?.delegate == nil
        #endif
    }

    /// Nothing is told after this, but for a call that is under way.
    func stop() { isStopped.withLock { $0 = true } }

    /// Calls `body` with the protocol and its client, and answers when it has run, or at once after a stop.
    /// - Returns: Whether it ran.
    func tell(_ body: @escaping @Sendable (URLProtocol, any URLProtocolClient) -> Void) async -> Bool {
        await withCheckedContinuation { done in
            onThread {
                guard !self.isStopped.withLock({ $0 }), let client = self.owner.client else {
                    return done.resume(returning: false)
                }
                body(self.owner, client)
                done.resume(returning: true)
            }
        }
    }

    private func onThread(_ work: @escaping @Sendable () -> Void) {
        #if canImport(ObjectiveC)
            CFRunLoopPerformBlock(loop, mode.rawValue as CFString, work)
            CFRunLoopWakeUp(loop)
        #else
            work()
        #endif
    }
}
