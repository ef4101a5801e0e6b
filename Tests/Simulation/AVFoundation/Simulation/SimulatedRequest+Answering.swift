internal import Foundation
internal import FoundationNetworking

/// What the delegate gives, and what the player gets of it.
extension SimulatedRequest {
    func respond(_ data: Data) {
        core.perform { state in
            guard !data.isEmpty else {
                seen.emptyResponds += 1
                return {}
            }
            let offset = seen.currentOffset
            seen.currentOffset += Int64(data.count)
            guard seen.outcome == nil else {
                seen.lateResponds += 1
                return {}
            }
            sendInformation(&state)
            seen.received += Int64(data.count)
            seen.largestRespond = max(seen.largestRespond, data.count)
            if keepsBytes { kept.append(data) }
            let (onRespond, onBytes) = (state.onRespond, onBytes)
            return {
                onRespond?(offset, data)
                onBytes?(offset, data)
            }
        }
    }

    func finish(_ error: NSError?) {
        core.perform { state in
            seen.finishes += 1
            guard !seen.isFinished else { return {} }
            if error == nil, let allowedContentTypes, let type = filled.contentType, !allowedContentTypes.contains(type)
            {
                let reason = "\(type) is not one of \(allowedContentTypes)"
                state.traps.append(SimulatedTrap(name: "NSInternalInconsistencyException", reason: reason))
                return {}
            }
            seen.isFinished = true
            // After a cancel the flag flips, and nothing else happens.
            guard seen.outcome == nil else { return {} }
            sendInformation(&state)
            // Kept for the URL, if it has a type and no date, also after an error.
            if let information = seen.information, information.contentType != nil, information.renewalDate == nil,
                (allowedContentTypes?.count ?? 0) <= 1
            {
                state.cached[url] = information
            }
            return end(outcome(error))
        }
    }

    /// The player wants no more of it: `isCancelled` is true at once, the delegate hears later, if it hears.
    public func cancel() {
        core.perform { state in
            guard seen.outcome == nil else { return {} }
            seen.isCancelled = true
            let end = end(.cancelled)
            guard state.behaviour.deliversCancel, let queue = state.delegateQueue else { return end }
            let (loader, loading) = (state.loader, loading)
            return { [self] in
                end()
                guard let loader, let loading else { return }
                // Without waiting: on a concurrent queue it can overlap.
                queue.async {
                    guard let delegate = loader.delegate else { return }
                    delegate.resourceLoader(loader, didCancel: loading)
                    self.locked { $0.seen.cancelWasDelivered = true }
                }
            }
        }
    }

    /// Ends it once, with the lock held; what is left to do comes back.
    func end(_ outcome: SimulatedOutcome) -> SimulatedLoaderCore.Action {
        guard seen.outcome == nil else { return {} }
        seen.outcome = outcome
        // What the handlers hold may end with them, so they leave the lock first.
        let (oldBytes, oldEnd) = (onBytes, onEnd)
        (onBytes, onEnd) = (nil, nil)
        return { withExtendedLifetime(oldBytes) { oldEnd?(outcome) } }
    }

    /// Content information travels once: with the first bytes, or at the finish.
    private func sendInformation(_ state: inout SimulatedLoaderCore.State) {
        guard seen.asksInformation, seen.information == nil else { return }
        seen.information = filled
        if filled.contentLength > 0 { state.lengths[url] = filled.contentLength }
    }

    private func outcome(_ error: NSError?) -> SimulatedOutcome {
        if let error { return .failed(error.simulatedInnermost) }
        if let target = redirect?.url {
            return target.simulatedIsNetwork ? .redirected(target) : .failed(.simulatedUnsupportedURL)
        }
        // Segments of a stream are accepted by redirect only: "custom url not redirect".
        return seen.kind == .segment ? .failed(NSError(domain: "CoreMediaErrorDomain", code: -12881)) : .finished
    }
}
