internal import Dispatch
internal import Foundation
internal import FoundationNetworking

/// The way to the delegate: requests one at a time, cancels without waiting.
extension SimulatedLoaderCore {
    private struct Question {
        let identifier: Int
        let loader: AVAssetResourceLoader
        let queue: DispatchQueue
        let loading: AVAssetResourceLoadingRequest
    }

    func enqueue(_ identifier: Int) {
        state.withLock { $0.waiting.append(identifier) }
        askNext()
    }

    /// The handler of the loader is serial: the next request waits until the delegate's method has returned, however long
    /// that takes.
    private func askNext() {
        while let identifier = takeWaiting() {
            guard let question = makeQuestion(identifier) else {
                perform { state in
                    state.isAsking = false
                    return state.end(
                        identifier, .failed(state.isCancelled ? .simulatedLoadingCancelled : .simulatedUnsupportedURL))
                }
                continue
            }
            let start = DispatchTime.now()
            question.queue.async { [self] in
                let answer = ask(question)
                let seconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
                perform { state in
                    state.isAsking = false
                    state.requests[identifier - 1].record.answer = answer
                    state.requests[identifier - 1].record.handlingSeconds = seconds
                    if answer { return [] }
                    let scheme = state.requests[identifier - 1].url.scheme ?? ""
                    if ["http", "https"].contains(scheme) {
                        state.nativeLoads += 1
                        return state.end(identifier, .native)
                    }
                    return state.end(identifier, .failed(.simulatedUnsupportedURL))
                }
                askNext()
            }
            return
        }
    }

    private func takeWaiting() -> Int? {
        state.withLock { state in
            guard !state.isAsking else { return nil }
            while !state.waiting.isEmpty {
                let identifier = state.waiting.removeFirst()
                if state.requests[identifier - 1].record.outcome == nil {
                    state.isAsking = true
                    return identifier
                }
            }
            return nil
        }
    }

    private func makeQuestion(_ identifier: Int) -> Question? {
        // Objects of the adapter leave the lock before they may end.
        let (loader, delegate, queue, isCancelled, request) = state.withLock { state in
            (state.loader, state.delegate, state.delegateQueue, state.isCancelled, state.requests[identifier - 1])
        }
        guard let loader, delegate != nil, let queue, !isCancelled else { return nil }
        var urlRequest = URLRequest(url: request.url)
        let record = request.record
        if record.kind == .media || record.kind == .segment {
            let last =
                record.length == Int.max ? "" : String(record.offset.advanced(by: max(0, record.length - 1)))
            urlRequest.setValue("bytes=\(record.offset)-\(last)", forHTTPHeaderField: "Range")
        }
        let loading =
            record.kind == .renewal
            ? AVAssetResourceRenewalRequest(
                core: self, identifier: identifier, request: urlRequest, asksInformation: true, asksData: false)
            : AVAssetResourceLoadingRequest(
                core: self, identifier: identifier, request: urlRequest, asksInformation: record.asksInformation,
                asksData: true)
        change(identifier) { $0.loading = loading }
        return Question(identifier: identifier, loader: loader, queue: queue, loading: loading)
    }

    private func ask(_ question: Question) -> Bool {
        guard let delegate = question.loader.delegate else { return false }
        if let renewal = question.loading as? AVAssetResourceRenewalRequest {
            return delegate.resourceLoader(question.loader, shouldWaitForRenewalOfRequestedResource: renewal)
        }
        return delegate.resourceLoader(question.loader, shouldWaitForLoadingOfRequestedResource: question.loading)
    }

    func cancel(_ identifier: Int) {
        var heard: (AVAssetResourceLoader, DispatchQueue, AVAssetResourceLoadingRequest)?
        perform { state in
            guard state.requests[identifier - 1].record.outcome == nil else { return [] }
            state.requests[identifier - 1].record.isCancelled = true
            if state.behaviour.deliversCancel, let loader = state.loader, let queue = state.delegateQueue,
                let loading = state.requests[identifier - 1].loading
            {
                heard = (loader, queue, loading)
            }
            return state.end(identifier, .cancelled)
        }
        guard let (loader, queue, loading) = heard else { return }
        queue.async { [self] in
            guard let delegate = loader.delegate else { return }
            delegate.resourceLoader(loader, didCancel: loading)
            change(identifier) { $0.record.cancelWasDelivered = true }
        }
    }

    /// The asset is dead from here on: nothing is told to the delegate, and it is never asked again.
    func cancelEverything() {
        perform { state in
            state.isCancelled = true
            var actions: [() -> Void] = []
            for index in state.requests.indices where state.requests[index].record.outcome == nil {
                state.requests[index].record.isFinished = true
                actions += state.end(index + 1, .failed(.simulatedLoadingCancelled))
            }
            return actions
        }
    }
}
