#if Server
    import ArgumentParser
    import RepriseCore
    import ReprisePlatform
    import RepriseProxy

    struct Repair: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Read what is stored, drop the blocks that fail their proof, and remove what cannot be read any more.",
            discussion: """
                What was dropped is fetched again when it is wanted. Nobody is served damaged bytes without it, too: it only \
                finds them sooner. Where a server holds the store, the server does it, and who plays goes on. What \
                cannot be reached now is left alone; then it exits with 74.
                """)

        @OptionGroup var store: StoreOptions
        @Flag(help: "Print JSON.")
        var json = false
        @Argument(help: "URLs of the media; everything where none is named.")
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
                            printError("reprise: \(entry.name) was left alone: \(entry.reason)")
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
                "\(Size(report.provedBytes)) good in \(report.entries) entr\(report.entries == 1 ? "y" : "ies")"
                    + (report.isSound ? ", nothing to repair" : ""))
        }
    }
#endif
