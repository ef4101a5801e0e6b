import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseTesting
import Testing

@Suite struct CacheEventsTests {
    private func makeCache() -> MediaCache {
        let queues = ManualQueues(seed: 1)
        return MediaCache(
            store: nil, client: InMemoryOriginClient(origin: ScriptedOrigin(), queues: queues), queues: queues)
    }

    private func event(_ number: Int) -> CacheEvent { .stored(key: "k", bytes: Int64(number)) }

    private func all(_ events: CacheEvents) async -> [CacheEvent] {
        var found: [CacheEvent] = []
        for await event in events { found.append(event) }
        return found
    }

    @Test func `a sequence has what happens from the call on, in order, and ends with the cache's close`() async {
        let cache = makeCache()
        cache.environment.hub.send(event(0))
        let events = cache.events()
        for number in 1..<5 { cache.environment.hub.send(event(number)) }
        cache.environment.hub.end()
        #expect(await all(events) == (1..<5).map(event))
        #expect(await all(cache.events()) == [])
    }

    @Test func `a slow loop finds the newest, and how many are missing; a quick one beside it misses none`() async {
        let cache = makeCache()
        let slow = cache.events(limit: 4)
        var quick = cache.events(limit: 4).makeAsyncIterator()
        for number in 0..<20 {
            cache.environment.hub.send(event(number))
            #expect(await quick.next() == event(number))
        }
        cache.environment.hub.end()
        #expect(await all(slow) == [.dropped(16)] + (16..<20).map(event))
        #expect(await quick.next() == nil)
    }

    @Test func `who waits is woken by the next event, on whatever thread it happens`() async {
        let cache = makeCache()
        let counts = await withTaskGroup(of: Int.self) { group in
            let sequences = (0..<8).map { _ in cache.events(limit: 1000) }
            for events in sequences {
                group.addTask {
                    var count = 0
                    for await event in events {
                        #expect(event == .stored(key: "k", bytes: Int64(count)))
                        count += 1
                    }
                    return count
                }
            }
            group.addTask {
                for number in 0..<500 {
                    cache.environment.hub.send(.stored(key: "k", bytes: Int64(number)))
                    if number.isMultiple(of: 50) { await Task.yield() }
                }
                cache.environment.hub.end()
                return 500
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: 500, count: 9))
    }

    @Test func `a loop whose task is cancelled ends, the others go on`() async {
        let cache = makeCache()
        let events = cache.events()
        var other = cache.events().makeAsyncIterator()
        let task = Task {
            for await event in events { _ = event }
            return Task.isCancelled
        }
        task.cancel()
        #expect(await task.value)
        cache.environment.hub.send(event(1))
        #expect(await other.next() == event(1))
    }

    @Test func `a second loop over one value begins when it is begun`() async {
        let cache = makeCache()
        let events = cache.events()
        cache.environment.hub.send(event(0))
        var first = events.makeAsyncIterator()
        var second = events.makeAsyncIterator()
        cache.environment.hub.send(event(1))
        cache.environment.hub.end()
        #expect(await first.next() == event(0))
        #expect(await first.next() == event(1))
        #expect(await second.next() == event(1))
        #expect(await second.next() == nil)
    }

    @Test func `the sequence of a URL has what is about its resource, whatever signs the URL`() async throws {
        let cache = makeCache()
        let signed = "http://origin.test/a.mp3?id=7&X-Amz-Signature=abc&X-Amz-Credential=def"
        let events = cache.events(for: URL(string: signed))
        let url = try #require(OriginURL(signed))
        let key = cache.resource(for: url).key
        let hub = cache.environment.hub
        hub.send(.hit(key: key.text))
        hub.send(.hit(key: "http://origin.test/b.mp3"))
        hub.send(.originFailed(origin: "http://origin.test", reason: ""))
        hub.send(.miss(key: key.variant(Variant(text: String(repeating: "0", count: 64))).text))
        hub.end()
        #expect(await all(events).count == 2)
    }

    @Test func `closing a cache ends its sequences, and so does letting it go`() async {
        var cache: MediaCache? = makeCache()
        let events = cache?.events()
        cache = nil
        if let events { #expect(await all(events) == []) }
        let queues = SystemClosing()
        #expect(await queues.endsByClosing())
    }

    /// A cache on real threads: closing it waits for them.
    private struct SystemClosing {
        func endsByClosing() async -> Bool {
            let directory = TemporaryDirectory()
            let queues = SystemWorkQueues()
            let client = InMemoryOriginClient(origin: ScriptedOrigin(), queues: queues)
            guard let cache = try? MediaCache(directory: directory.path + "/store", client: client) else {
                return false
            }
            var events = cache.events().makeAsyncIterator()
            await cache.close()
            return await events.next() == nil
        }
    }
}
