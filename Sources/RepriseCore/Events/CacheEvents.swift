import ReprisePlatform

/// What happens in a cache, as an asynchronous sequence: for each who asks one of its own.
///
/// It begins with the call that made it and ends when the cache is closed or goes. A loop that is slow delays nobody: it
/// finds the newest events, and in their place where older ones are missing `CacheEvent.dropped` with their number.
/// A loop whose task is cancelled ends. A second loop over the same value begins when it is begun.
public struct CacheEvents: AsyncSequence, Sendable {
    /// What comes.
    public typealias Element = CacheEvent
    /// It does not fail.
    public typealias Failure = Never

    private let taps: EventTaps

    init(hub: EventHub, limit: Int, isWanted: @escaping @Sendable (CacheEvent) -> Bool) {
        taps = EventTaps { EventTap(hub: hub, limit: limit, isWanted: isWanted) }
    }

    /// Begins to take events.
    public func makeAsyncIterator() -> Iterator { Iterator(tap: taps.next()) }

    /// The taking of events; belongs to one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
        let tap: EventTap

        /// The next event; `nil` once the cache was closed and all that came before was taken, and where the task was
        /// cancelled.
        public mutating func next() async -> CacheEvent? {
            while !Task.isCancelled {
                let waker = Waker()
                switch tap.take(orWake: { waker.wake() }) {
                case .event(let event): return event
                case .end: return nil
                case .pending: do { try await waker.wait() } catch { return nil }  // cancelled
                }
            }
            return nil
        }
    }
}

/// One subscription for each loop over a sequence: the first has begun with the sequence.
final class EventTaps: Sendable {
    private let make: @Sendable () -> EventTap
    private let begun: Lock<EventTap?>

    init(_ make: @escaping @Sendable () -> EventTap) {
        self.make = make
        begun = Lock(make())
    }

    func next() -> EventTap {
        let tap = begun.withLock { begun in
            defer { begun = nil }
            return begun
        }
        return tap ?? make()
    }
}

/// One subscriber's place at the hub; it is given up with the last reference.
final class EventTap: Sendable {
    enum Step {
        case event(CacheEvent)
        /// Nothing yet: the waker given with the call is called once there is.
        case pending
        case end
    }

    private struct State {
        var buffer: EventBuffer
        var wake: (@Sendable () -> Void)?
        var isOver = false
    }

    private let hub: EventHub
    private let id: Int

    /// What the hub holds of a subscriber: not the tap, whose end ends the subscription.
    private final class Inlet: Sendable {
        let state: Lock<State>

        init(limit: Int) { state = Lock(State(buffer: EventBuffer(limit: limit))) }

        func change(_ change: (inout State) -> Void) {
            let wake = state.withLock { state in
                change(&state)
                defer { state.wake = nil }
                return state.wake
            }
            wake?()
        }
    }

    private let inlet: Inlet

    init(hub: EventHub, limit: Int, isWanted: @escaping @Sendable (CacheEvent) -> Bool) {
        let inlet = Inlet(limit: limit)
        self.hub = hub
        self.inlet = inlet
        id = hub.add(
            { event in if isWanted(event) { inlet.change { $0.buffer.add(event) } } },
            atEnd: { inlet.change { $0.isOver = true } })
    }

    deinit { hub.remove(id) }

    /// The next event, if there is one.
    func take(orWake wake: @escaping @Sendable () -> Void) -> Step {
        inlet.state.withLock { state in
            if let event = state.buffer.next() { return .event(event) }
            if state.isOver { return .end }
            state.wake = wake
            return .pending
        }
    }
}
