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
                    let json = json
                    let line = { @Sendable in json ? List.json($0, $1) : List.line($0, $1) }
                    try await EntryRows.read(of: opened, line) { line in
                        count += 1
                        print(line)
                    }
                    if count == 0, !json { print("nothing is stored in \(opened.root)") }
                } catch {
                    throw Failure(error)
                }
            }
        }
    }

    extension List {
        fileprivate static func line(_ info: EntryInfo, _ summary: EntrySummary) -> String {
            let length = summary.length ?? info.length
            let share = length.map { $0 > 0 ? percent(summary.stored, $0) : "100 %" } ?? "?"
            return "\(padded(Size(summary.stored).description, 10)) \(padded(share, 6))  \(info.key)"
        }

        fileprivate static func json(_ info: EntryInfo, _ summary: EntrySummary) -> String {
            var info = info
            info.stored = summary.stored
            info.statistics = summary.statistics
            return jsonLine(EntryReport(info))
        }
    }
#endif
