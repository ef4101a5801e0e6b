import Synchronization

/// A number of places, each for one at a time. Safe to use from any thread.
final class Places: Sendable {
    /// One of them: given back once, with the last reference.
    final class Place: Sendable {
        private let places: Places

        fileprivate init(_ places: Places) { self.places = places }

        deinit { places.free.add(1, ordering: .relaxed) }
    }

    private let count: Int
    private let free: Atomic<Int>

    init(_ count: Int) {
        self.count = count
        free = Atomic(count)
    }

    /// How many are taken.
    var taken: Int { min(count, count - free.load(ordering: .relaxed)) }

    /// Takes a place; `nil` where all are taken.
    func take() -> Place? {
        if free.subtract(1, ordering: .relaxed).newValue >= 0 { return Place(self) }
        free.add(1, ordering: .relaxed)
        return nil
    }
}
