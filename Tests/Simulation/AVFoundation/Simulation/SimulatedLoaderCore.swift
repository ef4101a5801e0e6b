internal import Dispatch
internal import Foundation

/// The loader machine: one loader's requests and their state, under one lock that is released before anything is called.
///
///     issue → waiting → (delegate asked, one at a time) → open → ended
final class SimulatedLoaderCore: Sendable {
    struct State {
        weak var loader: AVAssetResourceLoader?
        weak var delegate: (any AVAssetResourceLoaderDelegate)?
        var delegateQueue: DispatchQueue?
        var behaviour = SimulatedBehaviour()
        var onRespond: (@Sendable (Int64, Data) -> Void)?
        var isCancelled = false
        var isAsking = false
        var waiting: [SimulatedRequest] = []
        var requests: [SimulatedRequest] = []
        var cached: [URL: SimulatedInformation] = [:]
        var lengths: [URL: Int64] = [:]
        var traps: [SimulatedTrap] = []
        var nativeLoads = 0
    }

    typealias Action = () -> Void

    let state = Guarded(State())

    /// Changes the state, then does what the change asks for with the lock released.
    func perform(_ body: (inout State) -> Action) { state.withLock(body)() }

    /// The asset is dead from here on: nothing is told to the delegate, and it is never asked again.
    func cancelEverything() {
        perform { state in
            state.isCancelled = true
            let open = state.requests.filter { $0.seen.outcome == nil }
            let ends = open.map { request in
                request.seen.isFinished = true
                return request.end(.failed(.simulatedLoadingCancelled))
            }
            return { for end in ends { end() } }
        }
    }
}
