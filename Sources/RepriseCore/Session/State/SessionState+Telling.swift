import ReprisePlatform
import RepriseStorage

/// What is told of readers: where their bytes came from.
extension SessionState {
    /// A reader was handed bytes. What is only fetched ahead was not served to anybody.
    mutating func noteServed(_ reader: Reader, _ count: Int64, isStored: Bool) {
        guard reader.priority != .prefetch else { return }
        sums.served += count
        let result = reader.provenance.begins(isStored: isStored)
        environment.hub.count { sums in
            sums.served += count
            switch result {
            case .hit: sums.hits += 1
            case .miss: sums.misses += 1
            case nil: break
            }
        }
        switch result {
        case .hit: effects.append(.event(.hit(key: key.text)))
        case .miss: effects.append(.event(.miss(key: key.text)))
        case nil: return
        }
        tellPartial(reader)
    }

    /// Something is fetched for a reader.
    mutating func noteFetching(_ id: Int) {
        guard let reader = readers[id], reader.priority != .prefetch else { return }
        reader.provenance.fetches()
        tellPartial(reader)
    }

    private mutating func tellPartial(_ reader: Reader) {
        guard reader.provenance.takePartial() else { return }
        environment.hub.count { $0.partials += 1 }
        effects.append(.event(.partial(key: key.text)))
    }
}
