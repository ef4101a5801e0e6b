#if Server
    import ArgumentParser
    import RepriseProxy

    struct Pin: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Exempt entries from eviction.")

        @OptionGroup var store: StoreOptions
        @Argument(help: "URLs of the media.")
        var urls: [String]

        func run() async throws {
            try await RepriseTool.run {
                try await store.ask(AdminRequest.pin, of: urls)
            }
        }
    }

    struct Unpin: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Undo `pin`: entries can be evicted again.")

        @OptionGroup var store: StoreOptions
        @Argument(help: "URLs of the media.")
        var urls: [String]

        func run() async throws {
            try await RepriseTool.run {
                try await store.ask(AdminRequest.unpin, of: urls)
            }
        }
    }
#endif
