import RepriseHTTP
import RepriseRanges
import RepriseStorage

/// The representations of an entry, and which of them its files are named for.
///
/// Guarantees: at most one is committed; a complete or pinned one is replaced on the disk only by a complete one (INV-28); one
/// at a time has its files named.
struct RepresentationTable: Sequence {
    private var table = IDTable<Representation>()
    /// The one that `info.json` names, or named last.
    private(set) var current: RepresentationID?
    /// The request that was sent last of those whose answers showed what the origin has.
    private var shownBy: RequestID?
    /// What the entry was set to last while it was open; also what files that are just being made are.
    private var pinnedLast: Bool?

    var isEmpty: Bool { table.isEmpty }
    var ids: [RepresentationID] { table.ids }

    subscript(id: RepresentationID) -> Representation? { table[id] }
    subscript(id: RepresentationID?) -> Representation? { id.flatMap { table[$0] } }

    func makeIterator() -> IndexingIterator<[Representation]> { table.makeIterator() }

    /// The representation bytes are filled for: the newest that is not superseded, nor one reader's answer beside it.
    var newest: Representation? { table.filter { !$0.isSuperseded && !$0.isHandedOn }.max { $0.id < $1.id } }

    /// Whether what is held was shown by a request that was sent after this one: answers to two need not come in their order.
    func isOutdated(_ request: RequestID) -> Bool { shownBy.map { $0 > request } ?? false }

    /// The representation that readers who have none are given, if they may have it; also the one that is confirmed for them.
    var offered: Representation? {
        let current = self[current]
        if let current, !current.isSuperseded { return current }
        // What could not be stored, or not yet, is shared; what is never stored is not: a later request is answered anew.
        if let newest, newest.isShareable { return newest }
        // A superseded representation is used only if it is complete.
        return current.flatMap { $0.isComplete ? $0 : nil }
    }

    /// Whether the files of a representation may be named as soon as they are made: no others are, or will be then. One
    /// description at a time: of two that are written at the same moment either could be the last.
    func isFirstToCommit(_ id: RepresentationID) -> Bool {
        !table.contains { $0.id != id && ($0.isCommitted || $0.storage.awaitsFiles) }
    }

    // MARK: Inputs

    mutating func insert(_ representation: Representation) { table[representation.id] = representation }

    /// The answer to a request showed that the origin has one of them.
    mutating func noteShown(by request: RequestID) { shownBy = shownBy.map { Swift.max($0, request) } ?? request }

    /// The stored one was opened.
    mutating func open(_ representation: Representation) {
        insert(representation)
        current = representation.id
    }

    mutating func remove(_ id: RepresentationID) {
        table[id] = nil
        if current == id { current = nil }
    }

    mutating func removeAll() {
        table.removeAll()
        current = nil
    }

    /// It cannot be continued, and no answer has shown its successor.
    mutating func giveUp(_ id: RepresentationID) {
        table[id]?.supersede()
        if current == id { current = nil }
    }

    /// Others deleted the description that named it. The entry stays pinned, or not.
    mutating func loseName(_ id: RepresentationID) {
        guard let lost = table[id] else { return }
        pinnedLast = lost.info.isPinned
        lost.loseFiles()
    }

    /// The entry was pinned or unpinned.
    mutating func pin(_ isPinned: Bool) {
        pinnedLast = isPinned
        for representation in table where representation.isCommitted { representation.pin(isPinned) }
    }

    /// Files were made and named at once. Answers whether the description is to be written again.
    mutating func named(_ representation: Representation, as made: EntryInfo) -> Bool {
        representation.filesMade(as: made)
        // It was pinned once its files had a name and before that was told.
        if let pinnedLast { representation.pin(pinnedLast) }
        representation.commit()
        representation.named()
        current = representation.id
        return representation.info != made
    }

    /// Names the files of a representation where it is time to: a new one takes the old one's place once its first block is
    /// stored and its type agrees; a pinned or complete one is replaced only by a complete one. Where there is none it has
    /// nothing to wait for; one that is superseded takes no other's. Answers whether its description is to be written.
    mutating func commitIfDue(_ id: RepresentationID) -> Bool {
        guard let new = table[id], let generation = new.filesToName else { return false }
        if let old = table.first(where: { $0.id != id && $0.isCommitted }) {
            guard RepresentationTable.mayReplace(old, new, generation) else { return false }
            new.pin(old.info.isPinned)
            old.uncommit()
            old.supersede()
        } else if !isFirstToCommit(id) {
            return false
        } else if let pinnedLast {
            new.pin(pinnedLast)
        }
        new.commit()
        current = id
        return true
    }

    private static func mayReplace(_ old: Representation, _ new: Representation, _ generation: Generation) -> Bool {
        // Also one without bytes, which has no first block.
        if new.isComplete { return true }
        let agrees =
            MediaType(old.info.fields["Content-Type"])?.type.octets
            == MediaType(new.info.fields["Content-Type"])?.type.octets
        // Of one whose description is still that of the one before, that one may be complete.
        if old.info.isPinned || old.mayBeComplete || old.isDescriptionDue || !agrees { return false }
        let block = Swift.min(generation.layout.blockSize, new.info.length ?? .max)
        return generation.askClaimed { $0.ranges.contains { $0.count >= block } }
    }
}
