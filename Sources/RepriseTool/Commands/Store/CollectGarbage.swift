#if Server
    import ArgumentParser
    import RepriseProxy

    struct CollectGarbage: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "gc",
            abstract: "Evict now what the limits ask for.",
            discussion: """
                A running server evicts by itself, and its limits count. Without one, the limits are the settings limit, \
                max-age and min-free (REPRISE_LIMIT, REPRISE_MAX_AGE, REPRISE_MIN_FREE).
                """)

        @OptionGroup var store: StoreOptions
        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            try await RepriseTool.run {
                try await store.withControl { control in
                    let report = try await control.send(.sweep, as: SpaceReport.self)
                    if json { return printJSON(report) }
                    print("\(Size(report.allocated)) used, limit \(report.limit.map { "\(Size($0))" } ?? "none")")
                }
            }
        }
    }
#endif
