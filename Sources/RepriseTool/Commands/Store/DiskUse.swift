#if Server
    import ArgumentParser
    import RepriseStorage

    struct DiskUse: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "du",
            abstract: "Show the disk usage of each entry and the total, largest last.",
            discussion:
                "Counts the space the volume allocates, metadata files included. Can run while a server holds the store."
        )

        @OptionGroup var store: StoreOptions
        @Flag(help: "Print a line of JSON for each entry.")
        var json = false

        private struct Row: Encodable {
            var allocated: Int64
            var lastUse: Int64
            var isPinned: Bool
            var key: String
        }

        func run() async throws {
            try await RepriseTool.run {
                let opened = try await store.openForReading()
                do throws(StoreError) {
                    var rows: [Row] = []
                    let row = { @Sendable (entry: IndexedEntry) -> Row? in
                        Row(
                            allocated: entry.use.allocated, lastUse: entry.use.lastUse, isPinned: entry.use.isPinned,
                            key: entry.key ?? entry.name)
                    }
                    try await EntryRows.index(of: opened, row) { rows.append($0) }
                    rows.sort { ($0.allocated, $0.key) < ($1.allocated, $1.key) }
                    for row in rows {
                        if json { printJSON(row) } else { print("\(padded("\(Size(row.allocated))", 10))  \(row.key)") }
                    }
                    let total = rows.reduce(0) { $0 + $1.allocated }
                    if !json { print("\(padded("\(Size(total))", 10))  in \(rows.count) entries") }
                } catch {
                    throw Failure(error)
                }
            }
        }
    }
#endif
