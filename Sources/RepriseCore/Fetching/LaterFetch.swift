import ReprisePlatform

/// A fetch that is made when its turn comes: a reader asks for its first bytes by being there.
final class LaterFetch: Fetch {
    private let make: @Sendable () -> any Fetch
    private let made = Lock<(any Fetch)?>(nil)

    init(_ make: @escaping @Sendable () -> any Fetch) { self.make = make }

    func run() async throws {
        let fetch = make()
        made.withLock { $0 = fetch }
        try await fetch.run()
    }

    var progress: FetchProgress {
        made.withLock { $0 }?.progress ?? FetchProgress(stored: 0, expected: nil, failure: nil)
    }

    func leave() { made.withLock { $0 }?.leave() }
}
