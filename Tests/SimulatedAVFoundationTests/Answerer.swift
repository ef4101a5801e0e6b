import AVFoundation
import Dispatch
import Foundation

/// A delegate that keeps every request and lets a test script the rest.
// @unchecked: its state is only touched with the lock held.
final class Answerer: NSObject, AVAssetResourceLoaderDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var kept: [AVAssetResourceLoadingRequest] = []
    private var heardCancels: [ObjectIdentifier] = []
    private let answer: @Sendable (AVAssetResourceLoadingRequest) -> Bool
    private let keeps: Bool

    init(keeps: Bool = true, _ answer: @escaping @Sendable (AVAssetResourceLoadingRequest) -> Bool = { _ in true }) {
        self.answer = answer
        self.keeps = keeps
    }

    var requests: [AVAssetResourceLoadingRequest] { lock.withLock { kept } }
    var cancels: [ObjectIdentifier] { lock.withLock { heardCancels } }

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
    ) -> Bool {
        if keeps { lock.withLock { kept.append(loadingRequest) } }
        return answer(loadingRequest)
    }

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForRenewalOfRequestedResource renewalRequest: AVAssetResourceRenewalRequest
    ) -> Bool {
        if keeps { lock.withLock { kept.append(renewalRequest) } }
        return answer(renewalRequest)
    }

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader, didCancel loadingRequest: AVAssetResourceLoadingRequest
    ) {
        lock.withLock { heardCancels.append(ObjectIdentifier(loadingRequest)) }
    }
}

/// An asset with an answerer on a serial queue.
struct Stage {
    let asset = AVURLAsset(url: URL(string: "cache-https://host/film.mp4")!)
    let queue = DispatchQueue(label: "stage")
    let answerer: Answerer

    var loader: AVAssetResourceLoader { asset.resourceLoader }
    var record: SimulatedLoaderRecord { loader.simulationRecord }

    init(_ answerer: Answerer = Answerer(), behaviour: SimulatedBehaviour = SimulatedBehaviour()) {
        self.answerer = answerer
        loader.simulationBehaviour = behaviour
        loader.setDelegate(answerer, queue: queue)
    }

    /// Waits until every callback queued so far has run.
    func settle() { queue.sync {} }

    /// Issues a request, waits until the delegate has it, and gives both sides of it.
    func ask(
        offset: Int64 = 0, length: Int? = nil, kind: SimulatedRequest.Kind = .media
    ) -> (SimulatedRequest, AVAssetResourceLoadingRequest) {
        let request = loader.simulateRequest(offset: offset, length: length, kind: kind)
        settle()
        return (request, answerer.requests.last!)
    }

    /// Answers the probe: from here on the length is known.
    func probe(length: Int64, type: String? = AVFileType.mp4.rawValue) {
        let (_, loading) = ask(length: 2)
        loading.fill(length: length, type: type)
        loading.dataRequest?.respond(with: Data(count: 2))
        loading.finishLoading()
    }
}

extension AVAssetResourceLoadingRequest {
    func fill(length: Int64, type: String? = AVFileType.mp4.rawValue) {
        contentInformationRequest?.contentType = type
        contentInformationRequest?.contentLength = length
        contentInformationRequest?.isByteRangeAccessSupported = true
    }
}
