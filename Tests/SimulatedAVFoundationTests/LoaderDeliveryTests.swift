import AVFoundation
import Dispatch
import Foundation
import FoundationNetworking
import Testing

/// Facts 3.1 and 3.2: how a request reaches the delegate, and what it carries.
@Suite("The simulated loader: asking")
struct LoaderDeliveryTests {
    let unsupported = SimulatedOutcome.failed(NSError(domain: NSURLErrorDomain, code: NSURLErrorUnsupportedURL))

    @Test func `the next request waits until the delegate's method has returned, also on a concurrent queue`() {
        let entered = DispatchSemaphore(value: 0)
        let leave = DispatchSemaphore(value: 0)
        let answerer = Answerer { _ in
            entered.signal()
            leave.wait()
            return true
        }
        let asset = AVURLAsset(url: URL(string: "own://host/a.mp3")!)
        let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
        asset.resourceLoader.setDelegate(answerer, queue: queue)
        let first = asset.resourceLoader.simulateRequest(length: 2)
        let second = asset.resourceLoader.simulateRequest(length: 2)
        entered.wait()
        #expect(answerer.requests.count == 1)
        #expect(first.record.answer == nil)
        leave.signal()
        entered.wait()
        #expect(answerer.requests.count == 2)
        #expect(first.record.answer == true)
        leave.signal()
        queue.sync(flags: .barrier) {}
        #expect(second.record.answer == true)
    }

    @Test func `a cancel is delivered while the delegate's method is still running`() {
        let entered = DispatchSemaphore(value: 0)
        let leave = DispatchSemaphore(value: 0)
        let answerer = Answerer { _ in
            entered.signal()
            leave.wait()
            return true
        }
        let asset = AVURLAsset(url: URL(string: "own://host/a.mp3")!)
        let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
        asset.resourceLoader.setDelegate(answerer, queue: queue)
        let request = asset.resourceLoader.simulateRequest(length: 2)
        entered.wait()
        request.cancel()
        while answerer.cancels.isEmpty { queue.sync {} }
        #expect(request.record.answer == nil)
        leave.signal()
        queue.sync(flags: .barrier) {}
        #expect(answerer.cancels.count == 1)
    }

    @Test func `a delegate without a queue is a trap and changes nothing, and no delegate without a queue is none`() {
        let stage = Stage()
        stage.loader.setDelegate(Answerer(), queue: nil)
        #expect(stage.record.traps.map(\.name) == ["NSInvalidArgumentException"])
        #expect(stage.loader.delegate === stage.answerer)
        #expect(stage.loader.delegateQueue === stage.queue)
        stage.loader.setDelegate(nil, queue: nil)
        #expect(stage.record.traps.count == 1)
        #expect(stage.loader.delegate == nil)
    }

    @Test func `no delegate, a dead one, and one that refuses all fail the load as an unsupported URL`() async throws {
        let bare = AVURLAsset(url: URL(string: "own://host/a.mp3")!)
        #expect(try await bare.resourceLoader.simulateRequest(length: 2).completion == unsupported)
        do {
            let dying = Answerer()
            bare.resourceLoader.setDelegate(dying, queue: DispatchQueue(label: "q"))
        }
        #expect(bare.resourceLoader.delegate == nil)
        #expect(try await bare.resourceLoader.simulateRequest(length: 2).completion == unsupported)
        let refusing = Stage(Answerer { _ in false })
        #expect(try await refusing.loader.simulateRequest(length: 2).completion == unsupported)
    }

    @Test func `a request that the delegate does not keep dies, hears no cancel and never ends`() {
        let stage = Stage(Answerer(keeps: false))
        let request = stage.loader.simulateRequest(length: 2)
        stage.settle()
        while !request.record.isAbandoned { stage.settle() }
        #expect(request.record.outcome == nil)
        request.cancel()
        stage.settle()
        #expect(stage.answerer.cancels.isEmpty)
    }

    @Test func `a range has a Range header, and a playlist has none and runs to the end`() {
        let stage = Stage()
        let (_, range) = stage.ask(offset: 10, length: 5)
        #expect(range.request.value(forHTTPHeaderField: "Range") == "bytes=10-14")
        #expect(range.request.url == stage.asset.url)
        let (_, playlist) = stage.ask(kind: .playlist)
        #expect(playlist.request.value(forHTTPHeaderField: "Range") == nil)
        #expect(playlist.dataRequest?.requestedOffset == 0)
        #expect(playlist.dataRequest?.requestedLength == .max)
        #expect(playlist.dataRequest?.requestsAllDataToEndOfResource == true)
    }

    @Test func `a request to the end of an unknown length has the largest length there is`() {
        let (_, loading) = Stage().ask(offset: 5)
        #expect(loading.dataRequest?.requestedLength == .max)
        #expect(loading.dataRequest?.requestsAllDataToEndOfResource == true)
        #expect(loading.request.value(forHTTPHeaderField: "Range") == "bytes=5-")
    }

    @Test func `to-end is computed from the length once it is known`() {
        let stage = Stage()
        let (_, early) = stage.ask(offset: 900, length: 100)
        #expect(early.dataRequest?.requestsAllDataToEndOfResource == false)
        stage.probe(length: 1000)
        let (_, tail) = stage.ask(offset: 900, length: 100)
        #expect(tail.dataRequest?.requestsAllDataToEndOfResource == true)
        let (_, middle) = stage.ask(offset: 899, length: 100)
        #expect(middle.dataRequest?.requestsAllDataToEndOfResource == false)
        let (_, rest) = stage.ask(offset: 300)
        #expect(rest.dataRequest?.requestedLength == 700)
    }

    @Test func `content information is asked until a finished request has given a type without a date`() {
        let stage = Stage()
        func asks() -> Bool { stage.ask(length: 2).1.contentInformationRequest != nil }
        let (_, open) = stage.ask(length: 2)
        open.fill(length: 100)
        open.dataRequest?.respond(with: Data(count: 2))
        #expect(asks(), "the first one is still open")
        stage.probe(length: 100, type: nil)
        #expect(asks(), "no type, nothing kept")
        let (_, dated) = stage.ask(length: 2)
        dated.fill(length: 100)
        dated.contentInformationRequest?.renewalDate = Date(timeIntervalSince1970: 0)
        dated.finishLoading()
        #expect(asks(), "a date, nothing kept")
        open.finishLoading()
        #expect(!asks())
    }

    @Test func `information filled in before an error is kept too`() {
        let stage = Stage()
        let (_, failing) = stage.ask(length: 2)
        failing.fill(length: 100)
        failing.finishLoading(with: URLError(.timedOut))
        #expect(stage.ask(length: 2).1.contentInformationRequest == nil)
    }

    @Test func `information filled in after the first bytes is lost`() {
        let stage = Stage()
        let (request, loading) = stage.ask(length: 2)
        loading.dataRequest?.respond(with: Data(count: 1))
        loading.fill(length: 100)
        loading.finishLoading()
        #expect(request.record.information?.contentType == nil)
        #expect(request.record.information?.contentLength == 0)
        #expect(stage.ask(length: 2).1.contentInformationRequest != nil)
    }

    @Test func `a file is never mediated, https only where the system does so, and a refusal loads natively`()
        async throws
    {
        let answerer = Answerer { _ in false }
        for (address, isMediated, calls) in [
            ("file:///a.mp3", false, 0), ("https://host/a.mp3", false, 0), ("https://host/a.mp3", true, 1),
        ] {
            let asset = AVURLAsset(url: URL(string: address)!)
            asset.resourceLoader.simulationBehaviour.httpReachesDelegate = isMediated
            asset.resourceLoader.setDelegate(answerer, queue: DispatchQueue(label: "q"))
            #expect(try await asset.resourceLoader.simulateRequest(length: 2).completion == .native)
            #expect(asset.resourceLoader.simulationRecord.nativeLoads == 1)
            #expect(answerer.requests.count == calls)
        }
    }

    @Test func `a renewal asks for information and no bytes`() {
        let stage = Stage()
        stage.probe(length: 100)
        let (request, loading) = stage.ask(kind: .renewal)
        #expect(loading is AVAssetResourceRenewalRequest)
        #expect(loading.contentInformationRequest != nil)
        #expect(loading.dataRequest == nil)
        loading.finishLoading()
        #expect(request.record.outcome == .finished)
    }
}
