import ReprisePlatform
import RepriseStorage

/// Goes through the entries of a store: by its index, and in small steps through the files of those that the index does not tell of,
/// so that what waits behind a step on the janitor waits for little.
final class EntryRound: Sendable {
    private struct Progress {
        var names: ArraySlice<String>
        var found: [IndexedEntry]
        var failed: [String] = []
    }

    /// Entries looked at in a step.
    private static let stride = 64

    private let store: Store
    private let survey: StoreSurvey
    private let progress: Lock<Progress>
    private let tell: @Sendable (StoreError, _ name: String) -> Void

    /// - Parameters:
    ///   - open: Names of entries that are open: what the index says of them may be of before.
    ///   - tell: Called with what went wrong, and the name of the entry with which.
    init(
        _ store: Store, open: Set<String>, tell: @escaping @Sendable (StoreError, _ name: String) -> Void
    ) throws(StoreError) {
        self.store = store
        self.tell = tell
        survey = try store.survey(isCompared: true)
        let open = open.union(store.stagedNames)
        let behind = open.isEmpty ? [] : survey.known.map(\.name).filter(open.contains)
        let known = behind.isEmpty ? survey.known : survey.known.filter { !open.contains($0.name) }
        progress = Lock(Progress(names: (survey.unknown + behind).sorted()[...], found: known))
    }

    /// Looks at the next entries; all that was found where none is left, `nil` while some are. I/O, by one caller at a time.
    func step() -> [IndexedEntry]? {
        let names = progress.withLock { progress in
            defer { progress.names = progress.names.dropFirst(EntryRound.stride) }
            return progress.names.prefix(EntryRound.stride)
        }
        var found: [IndexedEntry] = []
        var failed: [String] = []
        for name in names {
            do throws(StoreError) { if let entry = try store.look(name: name) { found.append(entry) } } catch {
                failed.append(name)
                tell(error, name)
            }
        }
        let (all, allFailed) = progress.withLock { progress -> ([IndexedEntry]?, [String]) in
            progress.found += found
            progress.failed += failed
            return (progress.names.isEmpty ? progress.found : nil, progress.failed)
        }
        guard let all else { return nil }
        do throws(StoreError) { try store.settle(survey, failed: allFailed) } catch {
            // It stays noted, and is told where the index is tried again.
        }
        return all
    }
}
