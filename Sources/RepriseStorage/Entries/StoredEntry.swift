/// An entry's description together with the open generation it names.
package struct StoredEntry: Sendable {
    package var info: EntryInfo
    package let generation: Generation
    /// The logarithm to base 2 of how often it was used.
    package let logUseCount: UInt8

    package init(info: EntryInfo, generation: Generation, logUseCount: UInt8 = 0) {
        self.logUseCount = logUseCount
        self.info = info
        self.generation = generation
    }
}
