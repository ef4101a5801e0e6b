import Dispatch
import Foundation
import RepriseCore
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// Keeping the process awake while the store is given away.
@Suite struct ExpiringActivityTests {
    @Test func `the lent thread stands until the end, and goes then`() async {
        let system = MadeUpActivities()
        let expired = Lock(0)
        let activity = ExpiringActivity("test", by: system) { expired.withLock { $0 += 1 } }
        await system.begun()
        #expect(system.running == 1)
        activity.end()
        activity.end()
        await system.ended()
        #expect(system.running == 0)
        system.expire()
        #expect(expired.withLock { $0 } == 0, "after the end nothing expires")
    }

    @Test func `time that is up is told once each time, and a thread is never kept for good`() async {
        let system = MadeUpActivities()
        let expired = Lock(0)
        do {
            let activity = ExpiringActivity("test", by: system) { expired.withLock { $0 += 1 } }
            await system.begun()
            system.expire()
            #expect(expired.withLock { $0 } == 1)
            withExtendedLifetime(activity) {}
        }
        await system.ended()
    }

    @Test func `suspending keeps the process awake until it is done, no longer`() async throws {
        let stage = Stage()
        stage.put("/a", length: 500_000)
        let system = MadeUpActivities()
        let cache = try cache(stage, system)
        try await stage.read("/a", from: cache)
        await cache.suspend()
        #expect(system.reasons.count == 1)
        await system.ended()
        await cache.resume()
        #expect(system.reasons.count == 1)
        await cache.close()
    }

    @Test func `a disk that hangs does not hold the lock past the time there is, inv26`() async throws {
        let stage = Stage()
        stage.put("/a", length: 500_000)
        let system = MadeUpActivities()
        let cache = try cache(stage, system)
        let (stuck, disk) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
        stage.files.setRule { operation, path, _ in
            guard operation == .write, path.contains("/body.") else { return nil }
            stuck.continuation.finish()
            disk.wait()
            disk.signal()
            return nil
        }
        var reader = try cache.resource(for: stage.url("/a")).reader()
        var position = Int64(try await reader.next()?.bytes.count ?? 0)
        for await _ in stuck.stream {}
        async let suspension: Void = cache.suspend()
        await system.begun()
        system.expire()
        await suspension
        #expect(cache.status == .suspended)
        // The root is free although a write hangs in it.
        stage.files.setRule(nil)
        let root = try StoreLocation.offline().path(in: stage.folders)
        do { _ = try Store(root: root, volume: stage.memory) }
        disk.signal()
        await cache.resume()
        while let chunk = try await reader.next() {
            #expect(chunk.offset == position)
            #expect(PositionCodedContent(length: .max).firstMismatch(chunk.bytes, at: position) == nil)
            position += Int64(chunk.bytes.count)
        }
        #expect(position == 500_000)
        #expect(try await stage.read("/a", from: cache) == 500_000)
        await cache.close()
    }

    private func cache(_ stage: Stage, _ system: MadeUpActivities) throws -> MediaCache {
        let opener = StoreOpener(location: .offline(), volume: stage.files, folders: stage.folders)
        return MediaCache(
            store: try opener.open(), client: stage.client, queues: stage.queues, opener: opener, activities: system)
    }
}

/// A system that suspends whom it is told to: lends a thread for each activity, and says when time is up.
final class MadeUpActivities: ExpiringActivities {
    private struct State {
        var reasons: [String] = []
        var running = 0
        var bodies: [@Sendable (Bool) -> Void] = []
    }

    private let state = Lock(State())
    private let beginning = AsyncStream<Void>.makeStream()
    private let ending = AsyncStream<Void>.makeStream()

    var reasons: [String] { state.withLock { $0.reasons } }
    var running: Int { state.withLock { $0.running } }

    func perform(reason: String, _ body: @escaping @Sendable (Bool) -> Void) {
        state.withLock { state in
            state.reasons.append(reason)
            state.running += 1
            state.bodies.append(body)
        }
        Thread.detachNewThread {
            self.beginning.continuation.finish()
            body(false)
            self.state.withLock { $0.running -= 1 }
            self.ending.continuation.finish()
        }
    }

    /// Says to every activity that time is up.
    func expire() { for body in state.withLock({ $0.bodies }) { body(true) } }

    func begun() async { for await _ in beginning.stream {} }
    func ended() async { for await _ in ending.stream {} }
}
