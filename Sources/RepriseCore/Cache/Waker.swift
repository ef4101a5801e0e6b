import ReprisePlatform

/// Lets one task wait for one call, whichever comes first.
final class Waker: Sendable {
    private enum State {
        case idle
        case waiting(CheckedContinuation<Void, any Error>)
        case done
    }

    private let state = Lock(State.idle)

    func wake() { finish(.success(())) }

    func wait() async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isDone = state.withLock { state in
                    if case .done = state { return true }
                    state = .waiting(continuation)
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            finish(.failure(CancellationError()))
        }
    }

    private func finish(_ result: Result<Void, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            defer { state = .done }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(with: result)
    }
}
