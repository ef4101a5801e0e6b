#if Server
    import Foundation
    import RepriseStorage

    /// What commands tell of many entries: by the store's index, and of what that does not have by opening small files and reading
    /// what they say; several are read at a time, and rows are taken meanwhile.
    enum EntryRows {
        /// How many entries a thread reads before rows are handed on.
        private static let stride = 256

        /// Hands what `read` makes of each entry to `take`, in the order of `entries`; `nil` is left out. What a row costs is
        /// better spent in `read`, which runs on several threads, than in `take`.
        static func read<Entry: Sendable, Row: Sendable>(
            _ entries: [Entry], _ read: @escaping @Sendable (Entry) throws(StoreError) -> Row?, take: (Row) -> Void
        ) async throws(StoreError) {
            // Twice as many pieces as threads: nobody waits for the one whose turn it is.
            let ahead = 2 * min(4, ProcessInfo.processInfo.activeProcessorCount)
            let failure = await withTaskGroup(of: (start: Int, rows: Result<[Row], StoreError>).self) { group in
                var (begun, taken) = (0, 0)
                var found: [Int: [Row]] = [:]
                func begin() {
                    guard begun < entries.count else { return }
                    let start = begun
                    begun = min(start + stride, entries.count)
                    let piece = entries[start..<begun]
                    group.addTask { (start, rows(piece, read)) }
                }
                for _ in 0..<ahead { begin() }
                while let next = await group.next() {
                    switch next.rows {
                    case .success(let rows): found[next.start] = rows
                    case .failure(let error): return StoreError?.some(error)
                    }
                    while let rows = found.removeValue(forKey: taken) {
                        taken += stride
                        begin()
                        for row in rows { take(row) }
                    }
                }
                return nil
            }
            if let failure { throw failure }
        }

        /// As `read`, of description and summary of each of a store's entries, in the order of their names.
        static func read<Row: Sendable>(
            of store: Store, _ row: @escaping @Sendable (EntryInfo, EntrySummary) -> Row, take: (Row) -> Void
        ) async throws(StoreError) {
            let describe = { @Sendable (name: String) throws(StoreError) -> Row? in
                try store.describe(name: name).map { row($0.info, $0.summary) }
            }
            try await read(try store.entryNames().sorted(), describe, take: take)
        }

        /// Hands what `row` makes of each of a store's entries to `take`, in the order of their names: what the index has of it.
        static func index<Row: Sendable>(
            of store: Store, _ row: @escaping @Sendable (IndexedEntry) -> Row?, take: (Row) -> Void
        ) async throws(StoreError) {
            let survey = try store.survey()
            var entries = survey.known.map { (name: $0.name, known: IndexedEntry?.some($0)) }
            if !survey.unknown.isEmpty {
                entries += survey.unknown.map { ($0, nil) }
                entries.sort { $0.name < $1.name }
            }
            let look = { @Sendable (entry: (name: String, known: IndexedEntry?)) throws(StoreError) -> Row? in
                if let known = entry.known { return row(known) }
                return try store.look(name: entry.name).flatMap(row)
            }
            try await read(entries, look, take: take)
        }

        private static func rows<Entry, Row>(
            _ entries: ArraySlice<Entry>, _ read: (Entry) throws(StoreError) -> Row?
        ) -> Result<[Row], StoreError> {
            var rows: [Row] = []
            for entry in entries {
                do throws(StoreError) { if let row = try read(entry) { rows.append(row) } } catch {
                    return .failure(error)
                }
            }
            return .success(rows)
        }
    }
#endif
