#if Server
    import ArgumentParser
    import RepriseCore
    import RepriseProxy
    import RepriseStorage

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "ls", abstract: "List the entries of the store.")

        @OptionGroup var store: StoreOptions
        @Flag(help: "Print a line of JSON for each entry.")
        var json = false

        func run() async throws {
            try await RepriseTool.run {
                if let server = try await store.memoryServer() { return try await list(.server(server)) }
                let opened = try await store.openForReading()
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
        /// What a server with its store in memory has.
        private func list(_ server: Control) async throws {
            let entries = try await server.send(.entries, as: [EntryReport].self)
            for entry in entries {
                if json { printJSON(entry) } else { print(List.line(entry.key, entry.stored, of: entry.length)) }
            }
            if entries.isEmpty, !json { print("nothing is stored in the server's memory") }
        }

        /// `nil` for a folder that is no entry.
        fileprivate static func line(_ entry: IndexedEntry) -> String? {
            entry.key.map { line($0, entry.stored, of: entry.use.length) }
        }

        private static func line(_ key: String, _ stored: Int64, of length: Int64?) -> String {
            let share = length.map { $0 > 0 ? percent(stored, $0) : "100 %" } ?? "?"
            return "\(padded(Size(stored).description, 10)) \(padded(share, 6))  \(key)"
        }

        fileprivate static func json(_ info: EntryInfo, _ summary: EntrySummary) -> String {
            var info = info
            info.stored = summary.stored
            info.statistics = summary.statistics
            return jsonLine(EntryReport(info))
        }
    }
#endif
