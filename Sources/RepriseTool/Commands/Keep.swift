#if Server
    import ArgumentParser
    import RepriseProxy

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rm", abstract: "Remove what is stored of URLs; what plays goes on undisturbed.")

        @OptionGroup var store: StoreOptions
        @Flag(help: "Remove everything that is stored, pinned entries too.")
        var all = false
        @Argument(help: "URLs of the media.")
        var urls: [String] = []

        func validate() throws {
            if all == !urls.isEmpty { throw ValidationError("name URLs, or say --all") }
        }

        func run() async throws {
            try await RepriseTool.run {
                let sources = try urls.map(parseURL)
                try await store.withControl { control in
                    if all { _ = try await control.send(.removeAll) }
                    for source in sources { _ = try await control.send(.remove(source)) }
                }
            }
        }
    }

    struct Pin: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Keep what is stored of URLs, whatever the limits say.")

        @OptionGroup var store: StoreOptions
        @Argument(help: "URLs of the media.")
        var urls: [String]

        func run() async throws {
            try await RepriseTool.run {
                let sources = try urls.map(parseURL)
                try await store.withControl { control in
                    for source in sources { _ = try await control.send(.pin(source)) }
                }
            }
        }
    }

    struct Unpin: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Let what is stored of URLs be evicted again.")

        @OptionGroup var store: StoreOptions
        @Argument(help: "URLs of the media.")
        var urls: [String]

        func run() async throws {
            try await RepriseTool.run {
                let sources = try urls.map(parseURL)
                try await store.withControl { control in
                    for source in sources { _ = try await control.send(.unpin(source)) }
                }
            }
        }
    }
#endif
