internal import Foundation

/// A value behind a lock that the thread sanitizer sees. Not re-entrant: callers run handlers with it released, and let no
/// object of the adapter end inside.
// @unchecked: the value is only reached with the lock held.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
