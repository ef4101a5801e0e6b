import RepriseHTTP
import RepriseRanges

/// An entry's description together with the open generation it names.
package struct StoredEntry: Sendable {
    package var info: EntryInfo
    package let generation: Generation
    /// What the header of its `blocks` file says of it: how often it was used, what it has brought. A hint.
    package let summary: EntrySummary

    package init(info: EntryInfo, generation: Generation, summary: EntrySummary = EntrySummary()) {
        self.summary = summary
        self.info = info
        self.generation = generation
    }

    /// Whether nothing was ever stored of it, nor would show whose bytes are: what an earlier owner of its files is still
    /// writing, on a disk that hung, may be of another version than what is fetched now.
    package var mayGetOthersBytes: Bool {
        guard !info.isPinned, info.length != 0, info.validator.entityTag?.isWeak != false else { return false }
        return generation.firstUnloaded == nil && generation.askClaimed { $0.isEmpty }
    }
}
