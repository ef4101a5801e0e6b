/// Where a reader's bytes come from, as events tell it: `hit` or `miss` with its first bytes, and `partial` once where it
/// began with what was stored and something is fetched for it.
package struct HitAccounting {
    /// What is told of its first bytes.
    package enum Result: Hashable { case hit, miss }

    /// How it began; `nil` before its first bytes.
    package private(set) var beginning: Result?
    private var lacksFirst = false
    private var isFetchedFor = false
    private var isPartialTold = false

    package init() {}

    /// The byte it is to begin with is not there: the origin has to send it.
    package mutating func lacksFirstByte() { if beginning == nil { lacksFirst = true } }

    /// Something is fetched for it.
    package mutating func fetches() { isFetchedFor = true }

    /// Its first bytes are handed out; `nil` where it has had some.
    /// - Parameter isStored: Whether they come from the store, and not from what is only in memory yet.
    package mutating func begins(isStored: Bool) -> Result? {
        guard beginning == nil else { return nil }
        let result: Result = isStored && !lacksFirst ? .hit : .miss
        beginning = result
        return result
    }

    /// Whether it is to be told now that what was stored is not all it needs.
    package mutating func takePartial() -> Bool {
        guard beginning == .hit, isFetchedFor, !isPartialTold else { return false }
        isPartialTold = true
        return true
    }
}
