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
}
