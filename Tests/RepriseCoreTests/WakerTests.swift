import Testing

@testable import RepriseCore

@Suite struct WakerTests {
    @Test func `a task that is cancelled before it begins to wait hears of it, inv26`() async {
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await Waker().wait()
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a call before the wait ends it at once`() async throws {
        let waker = Waker()
        waker.wake()
        try await waker.wait()
    }
}
