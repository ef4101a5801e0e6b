import ReprisePlatform

/// A value that a test and the code it tests both use, from any thread.
final class Shared<Value: Sendable>: Sendable {
    private let state: Lock<Value>

    init(_ value: Value) { state = Lock(value) }

    var value: Value { state.withLock { $0 } }

    func set(_ value: Value) { state.withLock { $0 = value } }

    func change(_ change: @Sendable (inout Value) -> Void) { state.withLock { change(&$0) } }
}
