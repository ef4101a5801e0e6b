import RepriseRanges

/// What the records of an index come to, read in order. No I/O.
struct IndexTable {
    private struct Row {
        var description: IndexRecord.Description?
        var use: IndexRecord.Use?
    }

    private var rows: [EntryName: Row] = [:]
    /// When each folder of entries last changed before its names were compared; `nil` where they never were.
    private(set) var listed: [Int64]?

    /// - Parameter size: Bytes of the file, which tells about how many entries there are.
    init(size: Int64 = 0) { rows.reserveCapacity(Int(clamping: min(size / 300, 1 << 16))) }

    var names: some Collection<EntryName> { rows.keys }

    mutating func apply(_ record: IndexRecord) {
        switch record {
        case .described(let name, let description): rows[name, default: Row()].description = description
        case .used(let name, let use): rows[name, default: Row()].use = use
        case .removed(let name): rows[name] = nil
        case .listed(let changes): listed = changes
        case .closed: break
        }
    }

    /// What is known of an entry; `nil` where its files have to be asked.
    func entry(_ name: EntryName) -> IndexedEntry? {
        guard let row = rows[name], let description = row.description, let use = row.use,
            // What was last noted is of files that were not named, or of those that were before.
            description.identity == use.identity
        else { return nil }
        return IndexedEntry(name, description, use)
    }

    /// The records that come to the same, the fewest there are.
    var records: [IndexRecord] {
        var records: [IndexRecord] = []
        records.reserveCapacity(2 * rows.count + 1)
        for (name, row) in rows {
            if let description = row.description { records.append(.described(name, description)) }
            if let use = row.use { records.append(.used(name, use)) }
        }
        if let listed { records.append(.listed(listed)) }
        return records
    }

    /// Bytes that `records` take, about.
    var size: Int64 {
        rows.values.reduce(2048) { sum, row in
            sum.adding(204).adding(
                Int64((row.description?.key.utf8.count ?? 0) + (row.description?.contentType?.utf8.count ?? 0)))
        }
    }
}
