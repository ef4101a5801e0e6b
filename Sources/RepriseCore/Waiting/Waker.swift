import ReprisePlatform

/// Lets one task wait for one call, whichever comes first.
final class Waker: Sendable {
    private enum State {
        case idle
        case waiting(CheckedContinuation<Void, any Error>)
        case done(Result<Void, any Error>)
    }

    private let state = Lock(State.idle)

    func wake() { finish(.success(())) }

    func wait() async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if case .done(let result) = state { return result }
                    state = .waiting(continuation)
                    return nil
                }
                // A task that was cancelled before it began to wait must hear of it: who only waits again would spin.
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            finish(.failure(CancellationError()))
        }
    }

    private func finish(_ result: Result<Void, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            switch state {
            case .done: return nil
            case .idle:
                state = .done(result)
                return nil
            case .waiting(let continuation):
                state = .done(result)
                return continuation
            }
        }
        continuation?.resume(with: result)
    }
}
