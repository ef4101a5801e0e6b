import AVFoundation
import Dispatch
import Foundation
import Testing

/// Facts 3.4: how loading ends from the player's side.
@Suite("The simulated loader: ends")
struct LoaderCancelTests {
    let userCancelled = SimulatedOutcome.failed(NSError(domain: NSCocoaErrorDomain, code: 3072))

    @Test func `the delegate hears of a cancelled request by its identity`() {
        let stage = Stage()
        let (first, _) = stage.ask(length: 10)
        let (second, loading) = stage.ask(length: 10)
        second.cancel()
        stage.settle()
        #expect(stage.answerer.cancels == [ObjectIdentifier(loading)])
        #expect(second.record.cancelWasDelivered)
        #expect(first.record.outcome == nil)
    }

    @Test
    func `nothing is heard of a finished request, of one that was never delivered, or where a system leaves it out`() {
        let stage = Stage()
        let (finished, loading) = stage.ask(length: 10)
        loading.finishLoading()
        finished.cancel()
        stage.queue.suspend()
        _ = stage.loader.simulateRequest(length: 10)
        let behind = stage.loader.simulateRequest(length: 10)
        behind.cancel()
        stage.queue.resume()
        stage.settle()
        #expect(behind.record.answer == nil)
        stage.loader.simulationBehaviour = .iOS(10)
        let (silent, _) = stage.ask(length: 10)
        silent.cancel()
        stage.settle()
        #expect(stage.answerer.cancels.isEmpty)
        #expect(silent.record.isCancelled)
    }

    @Test func `cancelLoading finishes what is open without a word, and the asset is dead`() async throws {
        let stage = Stage()
        let (first, loading) = stage.ask(length: 10)
        let (second, _) = stage.ask(length: 10)
        stage.asset.cancelLoading()
        stage.settle()
        #expect(first.record.outcome == userCancelled)
        #expect(second.record.outcome == userCancelled)
        #expect(loading.isFinished)
        #expect(!loading.isCancelled)
        #expect(stage.answerer.cancels.isEmpty)
        #expect(try await stage.loader.simulateRequest(length: 10).completion == userCancelled)
        #expect(stage.answerer.requests.count == 2)
    }

    @Test func `the last copy of an asset takes its loading with it`() {
        let answerer = Answerer()
        let queue = DispatchQueue(label: "q")
        var asset: AVURLAsset? = AVURLAsset(url: URL(string: "own://host/a.mp3")!)
        var copy = asset?.copy() as? AVURLAsset
        #expect(copy !== asset)
        #expect(copy?.resourceLoader === asset?.resourceLoader)
        asset?.resourceLoader.setDelegate(answerer, queue: queue)
        let request = asset?.resourceLoader.simulateRequest(length: 10)
        queue.sync {}
        asset = nil
        #expect(request?.record.outcome == nil)
        withExtendedLifetime(copy) {}
        copy = nil
        #expect(request?.record.outcome == userCancelled)
        #expect(answerer.cancels.isEmpty)
    }
}
