import ReprisePlatform

/// Collects what a test hears, in order; safe to use from any thread.
final class Recorder<Element: Sendable>: Sendable {
    private let heard = Lock<[Element]>([])

    func add(_ element: Element) { heard.withLock { $0.append(element) } }

    var all: [Element] { heard.withLock { $0 } }
}
