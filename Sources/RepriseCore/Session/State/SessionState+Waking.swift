import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// What readers are told: to ask again, that it failed, that bytes were taken back.
extension SessionState {
    mutating func fail(_ id: Int, _ error: CacheError) {
        guard readers[id]?.failure == nil else { return }
        readers[id]?.failure = error
        wake(id)
        storedChanged()
    }

    /// Has a reader go on with a representation, whatever word on another it waited for.
    mutating func give(_ id: Int, _ number: Int) {
        readers[id]?.representation = number
        readers[id]?.awaitsFreshness = false
        readers[id]?.awaitsSlots = false
        wake(id)
    }

    mutating func wake(_ id: Int) {
        guard let wake = readers[id]?.wake else { return }
        let now = now
        readers[id]?.wake = nil
        readers[id]?.lastStep = now
        effects.append(.wake(wake))
    }

    /// Bytes that were withdrawn from under a reader: it is put back, so that they are proved again or fetched.
    mutating func unread(_ id: Int, to position: Int64) {
        guard let reader = readers[id] else { return }
        readers[id]?.position = position
        guard let number = reader.representation, let generation = representations[number]?.generation else { return }
        effects.append(.withdraw(representation: number, generation))
    }
}
