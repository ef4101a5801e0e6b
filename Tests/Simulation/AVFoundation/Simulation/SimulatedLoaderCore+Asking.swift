internal import Dispatch
internal import Foundation
internal import FoundationNetworking

/// The way to the delegate: requests one at a time.
extension SimulatedLoaderCore {
    private typealias Question = (AVAssetResourceLoader, DispatchQueue, AVAssetResourceLoadingRequest)

    func enqueue(_ request: SimulatedRequest) {
        state.withLock { $0.waiting.append(request) }
        askNext()
    }

    /// The handler of the loader is serial: the next request waits until the delegate's method has returned, however long
    /// that takes.
    private func askNext() {
        while let request = takeWaiting() {
            guard let question = makeQuestion(request) else {
                perform { state in
                    state.isAsking = false
                    return request.end(
                        .failed(state.isCancelled ? .simulatedLoadingCancelled : .simulatedUnsupportedURL))
                }
                continue
            }
            question.1.async { [self] in
                let answer = ask(question)
                perform { state in
                    state.isAsking = false
                    request.seen.answer = answer
                    if answer { return {} }
                    guard request.url.simulatedIsNetwork else { return request.end(.failed(.simulatedUnsupportedURL)) }
                    state.nativeLoads += 1
                    return request.end(.native)
                }
                askNext()
            }
            return
        }
    }

    private func takeWaiting() -> SimulatedRequest? {
        state.withLock { state in
            guard !state.isAsking else { return nil }
            state.waiting.removeAll { $0.seen.outcome != nil }
            guard !state.waiting.isEmpty else { return nil }
            state.isAsking = true
            return state.waiting.removeFirst()
        }
    }

    private func makeQuestion(_ request: SimulatedRequest) -> Question? {
        // Objects of the adapter leave the lock before they may end.
        let (loader, delegate, queue, isCancelled, record) = state.withLock { state in
            (state.loader, state.delegate, state.delegateQueue, state.isCancelled, request.seen)
        }
        guard let loader, delegate != nil, let queue, !isCancelled else { return nil }
        var urlRequest = URLRequest(url: request.url)
        if record.kind == .media || record.kind == .segment {
            let last = record.length == .max ? "" : String(record.offset + max(0, Int64(record.length) - 1))
            urlRequest.setValue("bytes=\(record.offset)-\(last)", forHTTPHeaderField: "Range")
        }
        let loading =
            record.kind == .renewal
            ? AVAssetResourceRenewalRequest(request, urlRequest, record)
            : AVAssetResourceLoadingRequest(request, urlRequest, record)
        state.withLock { _ in request.loading = loading }
        return (loader, queue, loading)
    }

    private func ask(_ question: Question) -> Bool {
        let (loader, _, loading) = question
        guard let delegate = loader.delegate else { return false }
        if let renewal = loading as? AVAssetResourceRenewalRequest {
            return delegate.resourceLoader(loader, shouldWaitForRenewalOfRequestedResource: renewal)
        }
        return delegate.resourceLoader(loader, shouldWaitForLoadingOfRequestedResource: loading)
    }
}
