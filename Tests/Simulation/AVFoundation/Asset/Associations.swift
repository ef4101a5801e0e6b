/// How an associated object is held.
public enum objc_AssociationPolicy: UInt, Sendable {
    /// Held as long as its owner lives; the only policy here.
    case OBJC_ASSOCIATION_RETAIN = 769
}

/// Ties the value's life to the owner's, as the Objective-C runtime does. Here the owner must be an ``AVAsset`` or an
/// ``AVAssetResourceLoader``; copies of an asset do not take associations with them.
public func objc_setAssociatedObject(
    _ object: Any, _ key: UnsafeRawPointer, _ value: Any?, _ policy: objc_AssociationPolicy
) {
    guard let owner = object as? any SimulatedAssociating else {
        preconditionFailure("the simulation associates with assets and loaders only")
    }
    let key = UInt(bitPattern: key)
    // The old value may end on the way out, so it leaves the lock first.
    let old = owner.simulatedAssociations.withLock { associations in
        let old = associations[key]
        associations[key] = value
        return old
    }
    withExtendedLifetime(old) {}
}

/// The value associated under the key, or nil.
public func objc_getAssociatedObject(_ object: Any, _ key: UnsafeRawPointer) -> Any? {
    let key = UInt(bitPattern: key)
    return (object as? any SimulatedAssociating)?.simulatedAssociations.withLock { $0[key] }
}

protocol SimulatedAssociating: AnyObject {
    var simulatedAssociations: Guarded<[UInt: Any]> { get }
}
