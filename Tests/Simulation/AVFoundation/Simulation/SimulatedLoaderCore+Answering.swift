internal import Foundation
internal import FoundationNetworking

/// What the delegate gives, and what the player gets of it.
extension SimulatedLoaderCore {
    func respond(_ identifier: Int, _ data: Data) {
        perform { state in
            let index = identifier - 1
            guard !data.isEmpty else {
                state.requests[index].record.emptyResponds += 1
                return []
            }
            let offset = state.requests[index].record.currentOffset
            state.requests[index].record.currentOffset += Int64(data.count)
            guard state.requests[index].record.outcome == nil else {
                state.requests[index].record.lateResponds += 1
                return []
            }
            state.sendInformation(identifier)
            state.requests[index].record.received += Int64(data.count)
            state.requests[index].record.responds += 1
            state.requests[index].record.largestRespond = max(
                state.requests[index].record.largestRespond, data.count)
            if state.requests[index].keepsBytes { state.requests[index].kept.append(data) }
            let received = state.requests[index].record.received
            var actions: [() -> Void] = []
            if let onRespond = state.onRespond { actions.append { onRespond(offset, data) } }
            if let onBytes = state.requests[index].onBytes { actions.append { onBytes(offset, data) } }
            return actions + state.requests[index].takeWaiters { $0.count <= received }
        }
    }

    func finish(_ identifier: Int, error: NSError?) {
        perform { state in
            let index = identifier - 1
            state.requests[index].record.finishes += 1
            guard !state.requests[index].record.isFinished else { return [] }
            let request = state.requests[index]
            if error == nil, let allowed = request.allowedContentTypes, let type = request.filled.contentType,
                !allowed.contains(type)
            {
                state.trap("NSInternalInconsistencyException", "\(type) is not one of \(allowed)")
                return []
            }
            state.requests[index].record.isFinished = true
            // After a cancel the flag flips, and nothing else happens.
            guard request.record.outcome == nil else { return [] }
            state.sendInformation(identifier)
            state.cacheInformation(identifier)
            return state.end(identifier, outcome(of: request, error))
        }
    }

    private func outcome(of request: RequestState, _ error: NSError?) -> SimulatedOutcome {
        if let error { return .failed(error.simulatedInnermost) }
        if let target = request.redirect?.url {
            let isNetwork = ["http", "https"].contains(target.scheme?.lowercased() ?? "")
            return isNetwork ? .redirected(target) : .failed(.simulatedUnsupportedURL)
        }
        if request.record.kind == .segment {
            // Segments of a stream are accepted by redirect only: "custom url not redirect".
            return .failed(NSError(domain: "CoreMediaErrorDomain", code: -12881))
        }
        return .finished
    }
}
