/// An entry's description together with the open generation it names.
package struct StoredEntry: Sendable {
    package var info: EntryInfo
    package let generation: Generation

    package init(info: EntryInfo, generation: Generation) {
        self.info = info
        self.generation = generation
    }
}
