#if Server
    import ArgumentParser
    import RepriseProxy
    import RepriseStorage

    struct CollectGarbage: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "gc",
            abstract: "Count what is stored, remove what is too old, and make room where a limit is reached.",
            discussion: """
                A server does so by itself. Its limits hold where one has the store, else those that are set: limit, \
                max-age and min-free in the settings file or as REPRISE_LIMIT, REPRISE_MAX_AGE and REPRISE_MIN_FREE.
                """)

        @OptionGroup var store: StoreOptions
        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            try await RepriseTool.run {
                try await store.withControl { control in
                    let report = try await control.send(.sweep, as: RoomReport.self)
                    if json { return printJSON(report) }
                    print("\(Size(report.allocated)) taken, limit \(report.limit.map { "\(Size($0))" } ?? "none")")
                }
            }
        }
    }

    struct DiskUse: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "du",
            abstract: "Tell what each entry takes on the disk, the largest last, and all together.",
            discussion: "Counts what the volume sets aside, the small files included. May run beside a server.")

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
                let opened = try store.openForReading()
                do throws(StoreError) {
                    var rows: [Row] = []
                    let look = { @Sendable (name: String) throws(StoreError) -> Row? in
                        guard let use = try opened.use(name: name) else { return nil }
                        let info = try opened.describe(name: name)?.info
                        return Row(
                            allocated: use.allocated, lastUse: use.lastUse, isPinned: info?.isPinned ?? false,
                            key: info?.key ?? name)
                    }
                    try await EntryRows.read(try opened.entryNames(), look) { rows.append($0) }
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
