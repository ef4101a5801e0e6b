public import Dispatch
public import Foundation

/// Mediates the loading of an asset: copies of the asset share it.
// @unchecked: its state lives in the core, behind a lock.
open class AVAssetResourceLoader: NSObject, SimulatedAssociating, @unchecked Sendable {
    let core = SimulatedLoaderCore()
    let url: URL
    let simulatedAssociations = Guarded<[UInt: Any]>([:])

    init(url: URL) { self.url = url }

    /// Who answers, on which queue; the delegate is held weakly. A delegate without a queue is a recorded trap where
    /// Apple throws, and changes nothing.
    open func setDelegate(_ delegate: (any AVAssetResourceLoaderDelegate)?, queue delegateQueue: DispatchQueue?) {
        core.state.withLock { state in
            guard delegate == nil || delegateQueue != nil else {
                let reason = "setDelegate(_:queue:) with a delegate and no queue"
                return state.traps.append(SimulatedTrap(name: "NSInvalidArgumentException", reason: reason))
            }
            (state.delegate, state.delegateQueue) = (delegate, delegateQueue)
        }
    }

    /// Who answers.
    open var delegate: (any AVAssetResourceLoaderDelegate)? { core.state.withLock { $0.delegate } }
    /// The queue of every callback.
    open var delegateQueue: DispatchQueue? { core.state.withLock { $0.delegateQueue } }
}
