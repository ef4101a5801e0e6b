import AVFoundation
import Foundation
import FoundationNetworking
import Testing

/// Facts 3.3: what becomes of the answers.
@Suite("The simulated loader: answers")
struct LoaderAnsweringTests {
    @Test func `bytes move the current offset, are not clamped, and an empty respond does nothing`() {
        let stage = Stage()
        let (request, loading) = stage.ask(offset: 10, length: 4)
        let data = loading.dataRequest!
        data.respond(with: Data())
        #expect(request.record.emptyResponds == 1)
        #expect(request.record.information == nil)
        data.respond(with: Data([1, 2, 3]))
        #expect(data.currentOffset == 13)
        data.respond(with: Data([4, 5]))
        #expect(data.currentOffset == 15)
        #expect(request.record.excess == 1)
        #expect(request.record.largestRespond == 3)
        #expect(request.consume() == Data([1, 2, 3, 4, 5]))
    }

    @Test func `bytes are kept until they are consumed`() {
        let stage = Stage()
        let (request, loading) = stage.ask(length: 1000)
        loading.dataRequest?.respond(with: Data(count: 600))
        loading.dataRequest?.respond(with: Data(count: 400))
        #expect(stage.record.retainedBytes == 1000)
        #expect(request.consume().count == 1000)
        #expect(request.retainedBytes == 0)
    }

    @Test func `a watcher sees every respond with its place`() {
        let stage = Stage()
        let seen = Seen()
        stage.loader.simulationOnRespond { offset, data in seen.add(offset, data.count) }
        let (_, loading) = stage.ask(offset: 100, length: 10)
        loading.dataRequest?.respond(with: Data(count: 4))
        loading.dataRequest?.respond(with: Data(count: 6))
        #expect(seen.places == [[100, 4], [104, 6]])
    }

    @Test func `fewer bytes than asked for and a finish are all there is`() async throws {
        let stage = Stage()
        let (request, loading) = stage.ask(length: 1000)
        loading.dataRequest?.respond(with: Data(count: 10))
        loading.finishLoading()
        #expect(try await request.completion == .finished)
        #expect(request.record.received == 10)
    }

    @Test func `a second finish is counted and ignored`() {
        let stage = Stage()
        let (request, loading) = stage.ask(length: 2)
        loading.finishLoading()
        loading.finishLoading(with: URLError(.timedOut))
        #expect(request.record.finishes == 2)
        #expect(request.record.outcome == .finished)
    }

    @Test func `after a cancel answers are silent, yet the offset moves and the finish shows`() {
        let stage = Stage()
        let (request, loading) = stage.ask(length: 10)
        request.cancel()
        #expect(loading.isCancelled)
        #expect(!loading.isFinished)
        loading.dataRequest?.respond(with: Data(count: 3))
        #expect(loading.dataRequest?.currentOffset == 3)
        loading.finishLoading()
        #expect(loading.isFinished)
        #expect(request.record.received == 0)
        #expect(request.record.lateResponds == 1)
        #expect(request.record.outcome == .cancelled)
    }

    @Test func `a type outside the allowed ones is a trap at the finish, also after a cancel; no type passes`() {
        var behaviour = SimulatedBehaviour()
        behaviour.allowedContentTypes = ["public.mp3"]
        let stage = Stage(behaviour: behaviour)
        let (open, wrong) = stage.ask(length: 2)
        #expect(wrong.contentInformationRequest?.allowedContentTypes == ["public.mp3"])
        wrong.fill(length: 10)
        wrong.finishLoading()
        #expect(open.record.outcome == nil)
        open.cancel()
        wrong.finishLoading()
        #expect(stage.record.traps.map(\.name) == Array(repeating: "NSInternalInconsistencyException", count: 2))
        let (nameless, right) = stage.ask(length: 2)
        right.finishLoading()
        #expect(nameless.record.outcome == .finished)
    }

    @Test func `the player sees the innermost error, and an unknown one for none`() {
        let stage = Stage()
        let inner = NSError(domain: NSURLErrorDomain, code: NSURLErrorTimedOut)
        let middle = NSError(domain: "middle", code: 2, userInfo: [NSUnderlyingErrorKey: inner])
        let outer = NSError(domain: "outer", code: 1, userInfo: [NSUnderlyingErrorKey: middle])
        let (wrapped, first) = stage.ask(length: 2)
        first.finishLoading(with: outer)
        #expect(wrapped.record.error == inner)
        let (nothing, second) = stage.ask(length: 2)
        second.finishLoading(with: nil)
        #expect(nothing.record.error?.domain == AVFoundationErrorDomain)
        #expect(nothing.record.error?.code == AVError.Code.unknown.rawValue)
    }

    @Test func `a redirect goes to http and https only, and a segment is accepted by redirect only`() {
        let stage = Stage()
        func end(_ kind: SimulatedRequest.Kind, redirect: String?) -> SimulatedOutcome? {
            let (request, loading) = stage.ask(length: 10, kind: kind)
            if let redirect {
                let url = URL(string: redirect)!
                loading.redirect = URLRequest(url: url)
                loading.response = HTTPURLResponse(
                    url: url, statusCode: 302, httpVersion: nil, headerFields: nil)
            } else {
                loading.dataRequest?.respond(with: Data(count: 10))
            }
            loading.finishLoading()
            return request.record.outcome
        }
        #expect(end(.media, redirect: "https://host/x") == .redirected(URL(string: "https://host/x")!))
        #expect(end(.media, redirect: "file:///x").map { $0 != .finished } == true)
        #expect(end(.segment, redirect: "https://host/x") == .redirected(URL(string: "https://host/x")!))
        #expect(end(.segment, redirect: nil) == .failed(NSError(domain: "CoreMediaErrorDomain", code: -12881)))
        #expect(end(.playlist, redirect: nil) == .finished)
    }

    @Test func `a waiter gets on with enough bytes, at the end, and when its task is cancelled`() async throws {
        let stage = Stage()
        let (request, loading) = stage.ask(length: 10)
        async let enough = request.received(atLeast: 4)
        loading.dataRequest?.respond(with: Data(count: 5))
        #expect(try await enough == 5)
        let waiting = Task { try await request.completion }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        async let end = request.received(atLeast: 100)
        loading.finishLoading()
        #expect(try await end == 5)
    }
}

// @unchecked: its state is only touched with the lock held.
private final class Seen: @unchecked Sendable {
    private let lock = NSLock()
    private var seen: [[Int]] = []
    var places: [[Int]] { lock.withLock { seen } }
    func add(_ offset: Int64, _ count: Int) { lock.withLock { seen.append([Int(offset), count]) } }
}
