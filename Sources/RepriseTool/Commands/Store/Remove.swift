#if Server
    import ArgumentParser
    import RepriseHTTP
    import RepriseProxy

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rm", abstract: "Remove entries; playback is not disturbed.")

        @OptionGroup var store: StoreOptions
        @Flag(help: "Remove all entries, including pinned ones.")
        var all = false
        @Argument(help: "URLs of the media.")
        var urls: [String] = []

        func validate() throws {
            if all == !urls.isEmpty { throw ValidationError("expected either URLs or --all") }
        }

        func run() async throws {
            try await RepriseTool.run {
                if all { return try await store.withControl { _ = try await $0.send(.removeAll) } }
                try await store.ask(AdminRequest.remove, of: urls)
            }
        }
    }

    extension StoreOptions {
        /// Sends a request for each URL; none if one of them is malformed.
        func ask(_ request: (OriginURL) -> AdminRequest, of urls: [String]) async throws {
            let requests = try urls.map { request(try parseURL($0)) }
            try await withControl { control in
                for request in requests { _ = try await control.send(request) }
            }
        }
    }
#endif
