/// What a store holds, as far as its index tells, and which entries have to be asked. No I/O.
package struct StoreSurvey: Sendable {
    /// What the index has of entries that are there, in the order of their names.
    package var known: [IndexedEntry] = []
    /// Folders of the others, by name: of those the index does not know, and of all where what it says has to be compared.
    package var unknown: [String] = []
    /// What the index has and the store has not.
    var gone: [EntryName] = []
    /// When the folders of entries last changed, before their names were compared.
    var changes = [Int64](repeating: 0, count: IndexRecord.prefixes)
    /// Whether that differs from what the index has.
    var hasChanges = false
    /// When it was made.
    let session: Int
}
