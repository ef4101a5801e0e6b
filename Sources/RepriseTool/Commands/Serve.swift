#if Server
    import ArgumentParser
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
                Prints URLs to paste into players. A player's URL is \
                http://127.0.0.1:PORT/TOKEN/https/host/path for https://host/path. \
                Stops on SIGINT or SIGTERM after answers under way, within 5 seconds. Other commands of this program \
                talk to it through a control socket in the store; what that answers, and Prometheus' text, is also \
                on --admin-port, for requests that carry the secret in the store's file `control`.
                """)

        @OptionGroup var store: StoreOptions
        @OptionGroup var upstreams: UpstreamOptions
        @Option(name: .shortAndLong, help: "Port to listen on; 0 lets the system choose.")
        var port = 8787
        @Option(help: "Address to listen on. Anything but loopback lets other machines in.")
        var host = "127.0.0.1"
        @Flag(help: "Let every user of this machine in: URLs carry no token.")
        var noToken = false
        @Flag(help: "Put a built-in library of synthesised music behind it, throttled to 1 MB/s.")
        var sample = false
        @Option(
            help: ArgumentHelp(
                "Be a shared cache in front of this origin: paths are its own, RFC 9111 decides what is kept.",
                valueName: "url"))
        var origin: String?
        @Option(help: "Name of this node in Via and Cache-Status, with --origin.")
        var node = "reprise"
        @Option(help: "Threads for sockets; one a core where not given.")
        var threads: Int?
        @Option(help: "Port of 127.0.0.1 for administration and metrics, besides the control socket.")
        var adminPort: Int?
        @Option(
            help: "How much to log: trace, debug, info, notice, warning, error or critical.",
            transform: { text in
                guard let level = Logger.Level(rawValue: text) else { throw ValidationError("no such level") }
                return level
            })
        var logLevel = Logger.Level.notice
        @Argument(help: "URLs to print ready-made addresses for.")
        var urls: [String] = []

        func validate() throws {
            if origin != nil, sample || !urls.isEmpty {
                throw ValidationError("--origin has paths of its own: neither --sample nor URLs go with it")
            }
            let isToken = node.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
            }
            if node.isEmpty || !isToken { throw ValidationError("--node is a name without spaces and separators") }
        }

        func run() async throws {
            try await RepriseTool.run {
                let sources = try urls.map(parseURL)
                // A thousand clients need more sockets than a shell lets a program have.
                SystemCalls.raiseDescriptorLimit()
                let edge = try origin.map { EdgeRole(origin: try parseURL($0), name: node) }
                let opened = try store.open()
                let token = noToken || edge != nil ? nil : try store.token()
                let client = try upstreams.makeClient()
                var rules = MediaCache.Configuration()
                if edge != nil {
                    rules.freshness = .http
                    rules.keys = .exact
                }
                let cache = MediaCache(store: opened, client: client, configuration: rules)
                let library = sample ? try await SampleLibrary.start(port: port == 0 ? 0 : port + 1) : nil
                var settings = ProxyConfiguration()
                settings.host = host
                settings.port = port
                settings.token = token
                settings.threads = threads
                settings.edge = edge
                let proxy: MediaProxy
                do { proxy = try await MediaProxy.start(cache: cache, configuration: settings) } catch {
                    throw Failure(70, "cannot listen on \(host):\(port): \(error); choose another with --port")
                }
                let log = makeLog()
                let eventLog = EventLog(cache, log)
                let administration = try await Administration.start(
                    cache: cache, proxy: proxy, root: store.root, hasToken: token != nil, port: adminPort, log: log)
                announce(proxy, sources + (library?.urls ?? []))
                let group = ServiceGroup(
                    configuration: .init(
                        services: [Running(proxy: proxy)], gracefulShutdownSignals: [.sigint, .sigterm], logger: log))
                try await group.run()
                await administration.stop()
                await proxy.stop()
                await cache.close()
                await library?.stop()
                try await client.shutdown()
                withExtendedLifetime(eventLog) {}
                let sums = cache.statistics
                print(
                    "stopped: \(Size(sums.served)) served, \(Size(sums.fromOrigin)) from origins, \(sums.originRequests) requests"
                )
            }
        }

        private func makeLog() -> Logger {
            var log = Logger(label: "reprise") { StreamLogHandler.standardError(label: $0) }
            log.logLevel = logLevel
            return log
        }

        private func announce(_ proxy: MediaProxy, _ sources: [OriginURL]) {
            print("reprise serves \(store.root) on \(host):\(proxy.port)")
            if let origin {
                print("in front of \(origin): http://\(host):\(proxy.port)/… is \(origin)/…\n\nready")
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
                print("\nput your own URL in:  mpv '\(proxy.address(for: example))'")
                print("or let it be made:    reprise url https://example.com/film.mp4")
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

    struct URLCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "url",
            abstract: "Print the address under which a player reaches a URL through `reprise serve`.")

        @OptionGroup var store: StoreOptions
        @Option(name: .shortAndLong, help: "Port of the server.")
        var port = 8787
        @Flag(help: "For a server that was started with --no-token.")
        var noToken = false
        @Argument(help: "URL of the media.")
        var url: String

        func run() async throws {
            try await RepriseTool.run {
                let target = RequestTarget.target(for: try parseURL(url), token: noToken ? nil : try store.token())
                print("http://127.0.0.1:\(port)\(target)")
            }
        }
    }
#endif
