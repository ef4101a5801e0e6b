#if Server
    import ArgumentParser
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform
    import RepriseRanges
    import RepriseStorage

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Read a URL, or a range of it, through the cache.",
            discussion: "Writes to standard output unless -o is given. Ranges are written as in HTTP: 0-99, 100-, -50.")

        @OptionGroup var store: StoreOptions
        @OptionGroup var upstreams: UpstreamOptions
        @Option(name: .shortAndLong, help: "Bytes to read: FIRST-LAST, FIRST- or -COUNT.")
        var range: String?
        @Option(name: .shortAndLong, help: "File to write; complete if the command succeeds.")
        var output: String?
        @Argument(help: "URL of the media.")
        var url: String

        func run() async throws {
            try await RepriseTool.run {
                let source = try parseURL(url)
                let wanted = try range.map { text in
                    guard let parts = RangeSpecifier.parse("bytes=" + text), parts.count == 1 else {
                        throw Failure(64, "--range \(text) is not of the form FIRST-LAST, FIRST- or -COUNT")
                    }
                    return parts[0]
                }
                let rules = try store.configuration()
                let client = try upstreams.makeClient(store)
                let cache =
                    if let memory = try store.settings().memory() {
                        try MediaCache(on: MemoryVolume(capacity: memory), client: client, configuration: rules)
                    } else {
                        MediaCache(store: try store.open(), client: client, configuration: rules)
                    }
                let result = await Result { try await copy(cache.resource(for: source), wanted) }
                await cache.close()
                try await client.shutdown()
                try result.get()
            }
        }

        private func copy(_ resource: MediaResource, _ wanted: RangeSpecifier?) async throws {
            var range = wanted?.resolvedWithoutLength ?? .from(0)
            if case .suffix? = wanted {
                let length = try await resource.info().length
                guard let resolved = length.flatMap({ wanted?.resolved(length: $0) }) else {
                    throw Failure(
                        69, "the origin does not tell the length, so the last bytes cannot be requested; use FIRST-LAST"
                    )
                }
                range = resolved
            }
            let sink = try Sink(path: output)
            var reader = resource.reader(in: range)
            while let chunk = try await reader.next() { try sink.write(chunk.bytes) }
            try sink.finish()
        }
    }

    extension Result where Failure == any Error {
        fileprivate init(_ work: () async throws -> Success) async {
            do { self = .success(try await work()) } catch { self = .failure(error) }
        }
    }
#endif
