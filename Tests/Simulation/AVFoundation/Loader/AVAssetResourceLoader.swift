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
        core.setDelegate(delegate, queue: delegateQueue)
    }

    /// Who answers.
    open var delegate: (any AVAssetResourceLoaderDelegate)? { core.state.withLock { $0.delegate } }
    /// The queue of every callback.
    open var delegateQueue: DispatchQueue? { core.state.withLock { $0.delegateQueue } }
    /// Whether content keys are loaded ahead; without effect here.
    open var preloadsEligibleContentKeys: Bool {
        get { core.state.withLock { $0.preloadsKeys } }
        set { core.state.withLock { $0.preloadsKeys = newValue } }
    }
}
