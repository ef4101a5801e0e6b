import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// What others do to the entry while it is read: pin it, remove it.
extension SessionState {
    /// The entry was removed by its owner: who reads goes on with what is open, who comes gets a new session.
    mutating func retire() {
        isRetired = true
        for number in representations.keys.sorted() {
            if case .undecided = representations[number]?.storing { representations[number]?.storing = .off(nil) }
        }
        if !isForgotten {
            isForgotten = true
            effects.append(.forget)
        }
    }

    mutating func notePinned(_ isPinned: Bool) {
        for number in representations.keys.sorted() where representations[number]?.isCommitted == true {
            representations[number]?.info.isPinned = isPinned
        }
    }

    /// Has `tell` called once no entry's files are being made any more.
    mutating func whenSettled(_ tell: @escaping @Sendable () -> Void) {
        settlers.append(tell)
        let isStaging = representations.values.contains { if case .staging = $0.storing { true } else { false } }
        if !isStaging { settle() }
    }

    mutating func settle() {
        effects += settlers.map { .wake($0) }
        settlers = []
    }
}
