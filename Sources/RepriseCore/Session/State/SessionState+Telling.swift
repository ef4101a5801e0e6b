import ReprisePlatform
import RepriseStorage

/// What is told of readers: where their bytes came from.
extension SessionState {
    /// A reader was handed bytes. What is only fetched ahead was not served to anybody.
    mutating func noteServed(_ reader: inout Reader, _ count: Int64, _ step: Step) {
        guard reader.priority != .prefetch else { return }
        var isStored = false
        if case .lease = step { isStored = true }
        sums.served += count
        let word = reader.provenance.begins(isStored: isStored)
        environment.hub.count { sums in
            sums.served += count
            switch word {
            case .hit: sums.hits += 1
            case .miss: sums.misses += 1
            case nil: break
            }
        }
        switch word {
        case .hit: effects.append(.event(.hit(key: key.text)))
        case .miss: effects.append(.event(.miss(key: key.text)))
        case nil: return
        }
        tellPartial(&reader)
    }

    /// Something is fetched for a reader.
    mutating func noteFetching(_ id: Int) {
        guard var reader = readers[id], reader.priority != .prefetch else { return }
        reader.provenance.fetches()
        tellPartial(&reader)
        readers[id]?.provenance = reader.provenance
    }

    private mutating func tellPartial(_ reader: inout Reader) {
        guard reader.provenance.takePartial() else { return }
        environment.hub.count { $0.partials += 1 }
        effects.append(.event(.partial(key: key.text)))
    }
}
