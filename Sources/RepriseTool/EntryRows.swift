#if Server
    import Foundation
    import RepriseStorage

    /// What commands tell of many entries: most of the time goes into opening small files, so several are read at a time.
    enum EntryRows {
        /// How many entries a thread reads before rows are handed on: enough that waiting for the slowest does not count.
        private static let piece = 512

        /// Hands what `read` finds of each entry to `take`, in the order of `names`; `nil` is left out.
        static func read<Row: Sendable>(
            _ names: [String], _ read: @escaping @Sendable (String) throws(StoreError) -> Row?, take: (Row) -> Void
        ) async throws(StoreError) {
            var rest = names[...]
            while !rest.isEmpty {
                let pieces = (0..<min(4, ProcessInfo.processInfo.activeProcessorCount)).map { _ in
                    defer { rest = rest.dropFirst(piece) }
                    return rest.prefix(piece)
                }
                let found = await withTaskGroup(of: (Int, Result<[Row], StoreError>).self) { group in
                    for (index, names) in pieces.enumerated() where !names.isEmpty {
                        group.addTask { (index, rows(names, read)) }
                    }
                    return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
                }
                for index in pieces.indices { for row in try found[index]?.get() ?? [] { take(row) } }
            }
        }

        /// Hands description and summary of each of a store's entries to `take`, in the order of their names.
        static func descriptions(
            of store: Store, take: ((info: EntryInfo, summary: EntrySummary)) -> Void
        ) async throws(StoreError) {
            let describe = { @Sendable (name: String) throws(StoreError) in try store.describe(name: name) }
            try await read(try store.entryNames().sorted(), describe, take: take)
        }

        private static func rows<Row>(
            _ names: ArraySlice<String>, _ read: (String) throws(StoreError) -> Row?
        ) -> Result<[Row], StoreError> {
            var rows: [Row] = []
            for name in names {
                do throws(StoreError) { if let row = try read(name) { rows.append(row) } } catch {
                    return .failure(error)
                }
            }
            return .success(rows)
        }
    }
#endif
