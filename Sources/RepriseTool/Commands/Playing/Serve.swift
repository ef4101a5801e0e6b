#if Server
    import ArgumentParser
    import Configuration
    import Logging
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import RepriseLoopbackOrigin
    import ReprisePlatform
    import RepriseProxy
    import RepriseStorage
    import ServiceLifecycle
    import UnixSignals

    struct Serve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Serve the cache to any player on this machine.",
            discussion: """
                Prints URLs to paste into players. The player's URL for https://host/path is \
                http://127.0.0.1:PORT/TOKEN/https/host/path. On SIGINT or SIGTERM it finishes responses under way, for at \
                most 5 seconds, and stops. The other commands reach it through a control socket in the store. \
                --admin-port offers the same, and Prometheus metrics, to requests with the secret from the store's file \
                `control`. Each flag can also be set by a variable (REPRISE_PORT for --port) or in the settings file \
                ({"port": 8787}); a flag overrides the variable, the variable overrides the file.
                """)

        @OptionGroup var store: StoreOptions
        @Option(
            help: ArgumentHelp(
                """
                Store in memory, up to this size, for example 2GB, instead of in the directory, which then has no media. \
                Stored media is gone when the server stops. (default: none)
                """,
                valueName: "size"))
        var memory: String?
        @OptionGroup var upstreams: UpstreamOptions
        @OptionGroup(title: "Limits") var bounds: LimitOptions
        @Option(name: .shortAndLong, help: "Port to listen on; 0 lets the system choose. (default: 8787)")
        var port: Int?
        @Option(help: "Address to listen on; other machines can connect unless it is loopback. (default: 127.0.0.1)")
        var host: String?
        @Flag(help: "URLs need no token: every user of this machine has access.")
        var noToken = false
        @Option(
            help: ArgumentHelp(
                "Allow web pages of this origin without a token, for example https://player.example; repeatable.",
                valueName: "origin"))
        var allowOrigin: [String] = []
        @Flag(help: "Serve a built-in library of synthesised music, limited to 1 MB/s.")
        var sample = false
        @Option(
            help: ArgumentHelp(
                """
                Run as a shared cache (RFC 9111) in front of this origin, under the origin's paths. Repeatable: further \
                origins serve the same content and are used when the earlier ones fail.
                """,
                valueName: "url"))
        var origin: [String] = []
        @Option(help: "Name of this node in Via and Cache-Status, with --origin. (default: reprise)")
        var node: String?
        @Option(help: "Number of event loop threads. (default: one for each core)")
        var threads: Int?
        @Option(help: "Port on 127.0.0.1 for administration and metrics, in addition to the control socket.")
        var adminPort: Int?
        @Option(help: "Maximum disk usage of the store, for example 50GB, or none. (default: none)")
        var limit: String?
        @Option(help: "Evict entries not used for this time, for example 90d, or none. (default: none)")
        var maxAge: String?
        @Option(help: "Space to leave free on the store's volume, for example 1GiB, or none. (default: 1GiB)")
        var minFree: String?
        @Option(help: "Log level: trace, debug, info, notice, warning, error or critical. (default: notice)")
        var logLevel: String?
        @Flag(help: "Print each setting with its value and source, and exit.")
        var showSettings = false
        @Flag(help: "With --show-settings: print JSON.")
        var json = false
        @Argument(help: "URLs to print player URLs for.")
        var urls: [String] = []

        /// Requests a shared cache has under way at its origin: all its clients' misses go there, and a film that is played
        /// as it comes keeps its place for as long as it lasts. A request holds at most 1 MiB.
        private static var edgeRequests: Int {
            ConnectionLimit.originCount(wanted: 128, descriptors: SystemCalls.descriptorLimit)
        }

        private func settings() throws -> Settings {
            let flags: [SettingName: ConfigContent?] = [
                .memory: memory.map { .string($0) }, .port: port.map { .int($0) }, .host: host.map { .string($0) },
                .noToken: noToken ? .bool(true) : nil,
                .sample: sample ? .bool(true) : nil, .origin: origin.isEmpty ? nil : .stringArray(origin),
                .node: node.map { .string($0) }, .threads: threads.map { .int($0) },
                .adminPort: adminPort.map { .int($0) }, .logLevel: logLevel.map { .string($0) },
                .limit: limit.map { .string($0) }, .maxAge: maxAge.map { .string($0) },
                .minFree: minFree.map { .string($0) },
                .allowOrigin: allowOrigin.isEmpty ? nil : .stringArray(allowOrigin),
            ]
            return try store.settings(flags.merging(upstreams.flags) { $1 }.merging(bounds.flags) { $1 })
        }

        func run() async throws {
            try await RepriseTool.run {
                let decided = try settings()
                let chosen = try ServeSettings(decided)
                if showSettings { return decided.show(json: json) }
                if chosen.edge != nil, chosen.isSample || !urls.isEmpty {
                    throw Failure(64, "--origin cannot be combined with --sample or URLs")
                }
                if chosen.memory != nil, try store.key() != nil {
                    throw Failure(64, "--memory cannot be combined with a key: a store in memory is not encrypted")
                }
                let sources = try urls.map(parseURL)
                // A thousand clients need more sockets than a shell lets a program have.
                SystemCalls.raiseDescriptorLimit()
                let edge = chosen.edge
                let hold = try store.hold(forServing: chosen.memory)
                let token = chosen.hasToken && edge == nil ? try store.token(isReadOnly: hold.refusal != nil) : nil
                var rules = try decided.cacheConfiguration(isShared: edge != nil)
                if edge != nil {
                    rules.freshness = .http
                    // Whom a redirect is for is its client's to know (RFC 9111 §4: each of its answers is an entry of its own).
                    rules.followsRedirects = false
                    rules.tuning.requestsPerHost = Self.edgeRequests
                }
                let client = try UpstreamOptions.client(decided, requests: rules.tuning.requestsPerHost)
                rules.mirrors = chosen.origins
                let cache =
                    if let memory = chosen.memory {
                        try MediaCache(on: MemoryVolume(capacity: memory), client: client, configuration: rules)
                    } else {
                        MediaCache(
                            store: hold.store, client: client, configuration: rules,
                            trouble: hold.refusal.map(CacheError.init))
                    }
                let library =
                    chosen.isSample ? try await SampleLibrary.start(port: chosen.port == 0 ? 0 : chosen.port + 1) : nil
                var settings = chosen.proxy
                settings.token = token
                let proxy: MediaProxy
                do { proxy = try await MediaProxy.start(cache: cache, configuration: settings) } catch {
                    throw Failure(69, "\(error); choose another port with --port")
                }
                let log = chosen.makeLog()
                let eventLog = EventLog(cache, log)
                // Its secret is in a file of the store, so without one there is nobody who could ask.
                let administration =
                    hold.refusal != nil
                    ? nil
                    : try await Administration.start(
                        cache: cache, proxy: proxy, root: chosen.root, hasToken: token != nil,
                        isInMemory: chosen.memory != nil, port: chosen.adminPort, log: log)
                if let refusal = hold.refusal { warn(of: refusal, chosen) }
                announce(proxy, sources + (library?.urls ?? []), chosen)
                let group = ServiceGroup(
                    configuration: .init(
                        services: [Running(proxy: proxy), FreeMemory()], gracefulShutdownSignals: [.sigint, .sigterm],
                        logger: log))
                try await group.run()
                await administration?.stop()
                await proxy.stop()
                await cache.close()
                await library?.stop()
                try await client.shutdown()
                withExtendedLifetime((eventLog, hold)) {}
                let sums = cache.statistics
                print(
                    "stopped: \(Size(sums.served)) served, \(Size(sums.fromOrigin)) from origins, \(sums.originRequests) requests"
                )
            }
        }

        private func warn(of refusal: StoreError, _ chosen: ServeSettings) {
            let consequence =
                chosen.memory == nil
                ? "Media plays from its origin; nothing is stored, and stored media is not used. " : ""
            printError(
                "reprise: \(refusal.description). \(consequence)Make \(chosen.root) writable for this user or choose another directory, and start again. "
                    + "Administration is not available until then.")
        }

        private func announce(_ proxy: MediaProxy, _ sources: [OriginURL], _ chosen: ServeSettings) {
            let host = chosen.host
            let place = chosen.memory.map { "up to \(Size($0)) of memory" } ?? chosen.root
            print("reprise serves \(place) on \(host):\(proxy.port)")
            let origins = chosen.origins.map(\.base)
            if let first = origins.first {
                let all = origins.joined(separator: ", ")
                print("in front of \(all): \(proxy.base)/… is \(first)/…\n\nready")
                return flushOutput()
            }
            if host != "127.0.0.1", host != "::1", host != "localhost" {
                print("warning: other machines can reach this address")
            }
            for source in sources {
                let address = proxy.address(for: source)
                print(
                    """

                    \(source.redacted)
                      mpv      mpv '\(address)'
                      ffplay   ffplay -autoexit '\(address)'
                      VLC      vlc '\(address)'
                      browser  \(address)
                      curl     curl -o /dev/null '\(address)'
                    """)
            }
            if sources.isEmpty, let example = OriginURL("https://example.com/film.mp4") {
                print("\nreplace the URL:   mpv '\(proxy.address(for: example))'")
                print("or have it made:   reprise url https://example.com/film.mp4")
            }
            print("\nready")
            flushOutput()
        }
    }

    /// Runs until it is told to stop; the stopping itself is done in order by `Serve`.
    private struct Running: Service {
        let proxy: MediaProxy

        func run() async throws { try await gracefulShutdown() }
    }

    /// Has freed memory given back now and then.
    private struct FreeMemory: Service {
        private static let interval = Duration.seconds(20)

        func run() async {
            await cancelWhenGracefulShutdown {
                // Ends where it is cancelled.
                while (try? await Task.sleep(for: Self.interval)) != nil { SystemCalls.returnFreeMemory() }
            }
        }
    }

    struct URLCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "url",
            abstract: "Print the URL under which a player reaches URL through `reprise serve`.")

        @OptionGroup var store: StoreOptions
        @Option(name: .shortAndLong, help: "Port of the server. (default: 8787)")
        var port: Int?
        @Flag(help: "For a server started with --no-token.")
        var noToken = false
        @Argument(help: "URL of the media.")
        var url: String

        func run() async throws {
            try await RepriseTool.run {
                let settings = try store.settings([
                    .port: port.map { .int($0) }, .noToken: noToken ? .bool(true) : nil,
                ])
                let hasToken = !settings.isTrue(.noToken)
                let target = RequestTarget.target(for: try parseURL(url), token: hasToken ? try store.token() : nil)
                let base = ProxyConfiguration.base(
                    host: settings.text(.host) ?? "127.0.0.1", port: try settings.number(.port, in: 0...65_535) ?? 0)
                print(base + target)
            }
        }
    }
#endif
