#if Server
    import ArgumentParser
    import RepriseCore
    import ReprisePlatform
    import RepriseProxy

    struct Repair: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Read the store, drop damaged blocks, and remove entries that cannot be read.",
            discussion: """
                Dropped blocks are fetched again when they are needed. Damaged blocks are never served, with or without \
                `repair`. If a server holds the store, the server does it, and playback goes on. Entries that cannot be \
                accessed now are left unchanged; then the exit code is 74.
                """)

        @OptionGroup var store: StoreOptions
        @Flag(help: "Print JSON.")
        var json = false
        @Argument(help: "URLs of the media. (default: all entries)")
        var urls: [String] = []

        func run() async throws {
            try await RepriseTool.run {
                let requests = try urls.isEmpty ? [AdminRequest.repair(nil)] : urls.map { .repair(try parseURL($0)) }
                try await store.withControl { control in
                    var isReached = true
                    for request in requests {
                        let report = try await control.send(request, as: RepairReport.self)
                        if json { printJSON(report) } else { tell(report) }
                        for entry in report.unavailable {
                            printError("reprise: \(entry.name) was left unchanged: \(entry.reason)")
                            isReached = false
                        }
                    }
                    if !isReached { throw ExitCode(74) }
                }
            }
        }

        private func tell(_ report: RepairReport) {
            for entry in report.repaired {
                print("dropped \(entry.droppedBlocks) block\(entry.droppedBlocks == 1 ? "" : "s") of \(entry.key)")
            }
            for name in report.removed { print("removed \(name), which could not be read") }
            print(
                "\(Size(report.verifiedBytes)) good in \(report.entries) entr\(report.entries == 1 ? "y" : "ies")"
                    + (report.isSound ? ", nothing to repair" : ""))
        }
    }
#endif
