#if Server
    import ArgumentParser
    import RepriseHTTP
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
                if all { return try await store.withControl { _ = try await $0.send(.removeAll) } }
                try await store.ask(AdminRequest.remove, of: urls)
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
                try await store.ask(AdminRequest.pin, of: urls)
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
                try await store.ask(AdminRequest.unpin, of: urls)
            }
        }
    }

    extension StoreOptions {
        /// Asks one thing of each URL; none of them where one cannot be read.
        fileprivate func ask(_ request: (OriginURL) -> AdminRequest, of urls: [String]) async throws {
            let requests = try urls.map { request(try parseURL($0)) }
            try await withControl { control in
                for request in requests { _ = try await control.send(request) }
            }
        }
    }
#endif
