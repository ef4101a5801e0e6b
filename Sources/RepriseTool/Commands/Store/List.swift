#if Server
    import ArgumentParser
    import RepriseCore
    import RepriseStorage

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "ls", abstract: "List the entries of the store.")

        @OptionGroup var store: StoreOptions
        @Flag(help: "Print a line of JSON for each entry.")
        var json = false

        func run() async throws {
            try await RepriseTool.run {
                let opened = try store.openForReading()
                do throws(StoreError) {
                    var count = 0
                    func tell(_ line: String) {
                        count += 1
                        print(line)
                    }
                    if json {
                        // Its validators, for one, only the entry's own description has.
                        try await EntryRows.read(of: opened, { List.json($0, $1) }, take: tell)
                    } else {
                        try await EntryRows.index(of: opened, { List.line($0) }, take: tell)
                    }
                    if count == 0, !json { print("nothing is stored in \(opened.root)") }
                } catch {
                    throw Failure(error)
                }
            }
        }
    }

    extension List {
        /// `nil` for a folder that is no entry.
        fileprivate static func line(_ entry: IndexedEntry) -> String? {
            guard let key = entry.key else { return nil }
            let share = entry.use.length.map { $0 > 0 ? percent(entry.stored, $0) : "100 %" } ?? "?"
            return "\(padded(Size(entry.stored).description, 10)) \(padded(share, 6))  \(key)"
        }

        fileprivate static func json(_ info: EntryInfo, _ summary: EntrySummary) -> String {
            var info = info
            info.stored = summary.stored
            info.statistics = summary.statistics
            return jsonLine(EntryReport(info))
        }
    }
#endif
