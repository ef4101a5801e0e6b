import RepriseCore
import ReprisePlatform
import Testing

@Suite struct EventHubTests {
    @Test func `a listener hears every event from its adding to its removal, in order`() {
        let hub = EventHub()
        let heard = Lock<[CacheEvent]>([])
        hub.send(.hit(key: "before"))
        let id = hub.add { event in heard.withLock { $0.append(event) } }
        for number in 0..<10 { hub.send(.stored(key: "k", bytes: Int64(number))) }
        hub.remove(id)
        hub.send(.hit(key: "after"))
        #expect(heard.withLock { $0 } == (0..<10).map { .stored(key: "k", bytes: Int64($0)) })
    }

    @Test func `listeners are called in the order they were added`() {
        let hub = EventHub()
        let heard = Lock<[Int]>([])
        for number in 0..<20 { _ = hub.add { _ in heard.withLock { $0.append(number) } } }
        hub.send(.hit(key: "k"))
        #expect(heard.withLock { $0 } == Array(0..<20))
    }

    @Test func `a listener may add, remove and send from inside`() {
        let hub = EventHub()
        let heard = Lock(0)
        let id = Lock(0)
        id.withLock { id in
            id = hub.add { _ in heard.withLock { $0 += 1 } }
        }
        let own = id.withLock { $0 }
        _ = hub.add { event in
            guard case .hit = event else { return }
            hub.remove(own)
            hub.send(.miss(key: "k"))
        }
        hub.send(.hit(key: "k"))
        hub.send(.hit(key: "k"))
        #expect(heard.withLock { $0 } == 1)
    }

    @Test func `counts add up, and what was saved is never negative`() {
        let hub = EventHub()
        hub.count { $0.served += 10 }
        hub.count { $0.fromOrigin += 4 }
        #expect(hub.statistics.saved == 6)
        hub.count { $0.fromOrigin += 40 }
        #expect(hub.statistics.saved == 0)
    }
}
